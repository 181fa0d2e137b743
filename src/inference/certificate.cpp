#include "inference/certificate.hpp"

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"

namespace certicone {

namespace {

/// The forward pass alone: the gap's terms need no exact signs, and at a kink those are slow to get.
LocalState plain_state(const Network& network, const Vector& x) {
    LocalState state;
    state.x = x;
    state.trace = forward<double>(network, x);
    state.conic_norm.resize(static_cast<Index>(network.conic.size()));
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        state.conic_norm(static_cast<Index>(g)) = norm<double>(state.trace.u[g]);
    for (const Vector& a : state.trace.a)
        state.pattern.sign.emplace_back(a.unaryExpr([](double entry) {
                                             return static_cast<double>((entry > 0.0) - (entry < 0.0));
                                         }).cast<std::int8_t>());
    for (const double length : state.conic_norm)
        state.pattern.conic_zero.push_back(length == 0.0);
    state.value = value<double>(network, x, state.trace);
    return state;
}

}  // namespace

double inference_value(const InferenceProblem& problem, const LocalState& state) {
    return state.value + 0.5 * problem.beta * (state.x - problem.y).squaredNorm();
}

InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi) {
    const Network& network = *problem.network;
    InferenceCertificate result;
    const LocalState state = plain_state(network, x);
    result.x = x;
    result.xi = repair_to_feasible(network, xi);
    result.value = inference_value(problem, state);
    const Vector slope = readout(network, result.xi);
    result.lower_bound = psi(network, problem.y, result.xi) - slope.squaredNorm() / (2.0 * problem.beta);
    result.gap = duality_gap(network, state, result.xi).total +
                 0.5 * problem.beta * (x - problem.y + slope / problem.beta).squaredNorm();
    return result;
}

}  // namespace certicone
