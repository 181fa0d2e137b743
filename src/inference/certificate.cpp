#include "inference/certificate.hpp"

#include <Eigen/Cholesky>
#include <limits>

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"

namespace certicone {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

/// The box within which the constraints with one entry a row hold x.
std::pair<Vector, Vector> box(const InferenceProblem& problem) {
    const Index d0 = problem.y.size();
    Vector lower = Vector::Constant(d0, -kInfinity), upper = Vector::Constant(d0, kInfinity);
    for (Index i = 0; i < problem.C.rows(); ++i) {
        Index column = 0;
        const double entry = problem.C.row(i).cwiseAbs().maxCoeff(&column), limit = problem.h(i);
        if (entry == 0.0 || problem.C.row(i).cwiseAbs().sum() != entry) continue;
        const double signed_entry = problem.C(i, column);
        if (signed_entry > 0.0)
            upper(column) = std::min(upper(column), limit / signed_entry);
        else
            lower(column) = std::max(lower(column), limit / signed_entry);
    }
    return {lower, upper};
}

/// max over x' of −ρᵀ(x' − x) − ½ (x' − x)ᵀH(x' − x), or what bounds it: H = Q, or with the quadratic modules' curvature
/// where that is what makes it definite, or 0 within the box.
double residual_gap(const InferenceProblem& problem, const Vector& x, const Vector& rho) {
    if (rho.isZero(0.0)) return 0.0;
    Matrix curvature = problem.Q;
    for (const bool modules : {false, true}) {
        if (modules)
            for (const Quadratic& module : problem.network->quadratic)
                curvature += module.alpha * module.B.transpose() * module.B;
        const Eigen::LLT<Matrix> factor(curvature);
        if (factor.info() == Eigen::Success && factor.rcond() > 1e-14)
            return 0.5 * factor.matrixL().solve(rho).squaredNorm();
    }
    if (problem.C.rows() == 0) return kInfinity;
    const auto [lower, upper] = box(problem);
    double sum = 0.0;
    for (Index j = 0; j < rho.size(); ++j)
        if (rho(j) != 0.0) sum += std::max(-rho(j) * (lower(j) - x(j)), -rho(j) * (upper(j) - x(j)));
    return sum;
}

}  // namespace

InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi,
                                       const Vector& mu) {
    const Network& network = *problem.network;
    const LocalState state = plain_state(network, x);
    InferenceCertificate result;
    result.x = x;
    result.xi = repair_to_feasible(network, xi);
    result.mu = mu.size() > 0 ? Vector(mu.cwiseMax(0.0)) : Vector(Vector::Zero(problem.C.rows()));
    result.value = inference_value(problem, state);
    result.violation = constraint_violation(problem, x);
    Vector slack(0), rho = readout(network, result.xi) + problem.gradient(x);
    if (problem.C.rows() > 0) {
        slack = problem.h - problem.C * x;
        rho += problem.C.transpose() * result.mu;
    }
    const double residual = residual_gap(problem, x, rho);
    const Vector step = x - problem.y;
    result.lower_bound = psi(network, x, result.xi) + 0.5 * step.dot(problem.Q * step) + problem.q.dot(x) -
                         result.mu.dot(slack) - residual;
    result.gap = duality_gap(network, state, result.xi).total + result.mu.dot(slack) + residual;
    return result;
}

}  // namespace certicone
