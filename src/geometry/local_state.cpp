#include "geometry/local_state.hpp"

#include <fmt/format.h>

#include <limits>

#include "support/dyadic.hpp"
#include "support/error.hpp"

namespace certicone {

std::vector<std::pair<Index, Index>> Pattern::degenerate_units() const {
    std::vector<std::pair<Index, Index>> units;
    for (std::size_t l = 0; l < sign.size(); ++l)
        for (Index i = 0; i < sign[l].size(); ++i)
            if (sign[l](i) == 0) units.emplace_back(static_cast<Index>(l), i);
    return units;
}

std::vector<Index> Pattern::degenerate_modules() const {
    std::vector<Index> modules;
    for (std::size_t g = 0; g < conic_zero.size(); ++g)
        if (conic_zero[g]) modules.push_back(static_cast<Index>(g));
    return modules;
}

bool structurally_zero(const Layer& layer, Index unit) {
    return layer.b(unit) == 0.0 && (layer.W.row(unit).array() == 0.0).all() &&
           (layer.U.size() == 0 || (layer.U.row(unit).array() == 0.0).all());
}

bool Pattern::nondegenerate() const { return degenerate_units().empty() && degenerate_modules().empty(); }

std::vector<Vector> preactivation_errors(const Network& network, const Vector& x, const Trace<double>& trace) {
    std::vector<Vector> errors;
    const Vector size_of_x = x.cwiseAbs();
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const RoundingBound bound(layer.W.cols() + layer.U.cols() + 1);
        Vector size = layer.W.cwiseAbs() * size_of_x + layer.b.cwiseAbs();
        Vector inherited = Vector::Zero(layer.units());
        if (l > 0) {
            size.noalias() += layer.U * trace.z[l - 1];
            inherited.noalias() += layer.U * errors[l - 1];
        }
        errors.push_back((bound.relative * size + (1.0 + bound.relative) * inherited).array() + bound.absolute);
    }
    return errors;
}

bool sure_of_residual(const Conic& module, const Vector& x, const Vector& u) {
    const RoundingBound bound(module.A.cols() + 1);
    const Vector size = module.A.cwiseAbs() * x.cwiseAbs() + module.d.cwiseAbs();
    return norm<double>(u) > 16.0 * norm<double>((bound.relative * size).array() + bound.absolute);
}

namespace {

void require_finite(const LocalState& state) {
    for (std::size_t l = 0; l < state.trace.a.size(); ++l)
        for (Index i = 0; i < state.trace.a[l].size(); ++i)
            if (!std::isfinite(state.trace.a[l](i)))
                throw InputError(fmt::format("the forward pass overflows at layers[{}], unit {}", l, i));
    for (std::size_t h = 0; h < state.trace.q.size(); ++h)
        if (!state.trace.q[h].allFinite()) throw InputError(fmt::format("the residual of quadratic[{}] overflows", h));
    for (std::size_t g = 0; g < state.trace.u.size(); ++g)
        if (!std::isfinite(state.conic_norm(static_cast<Index>(g))))
            throw InputError(fmt::format("the residual of conic[{}] overflows", g));
    if (!std::isfinite(state.value)) throw InputError("the value of the network overflows");
}

std::int8_t sign_of(double a) { return static_cast<std::int8_t>((a > 0.0) - (a < 0.0)); }

/// The signs that neither the error bound proves nor the tolerance makes 0: they are left to exact arithmetic.
struct Filter {
    std::vector<std::pair<std::size_t, Index>> units;
    std::vector<std::size_t> modules;
};

Filter undecided(const Network& network, const LocalState& state, double tolerance) {
    const auto by_tolerance = [&](double size) { return tolerance > 0.0 && size <= tolerance; };
    Filter filter;
    const std::vector<Vector> errors = preactivation_errors(network, state.x, state.trace);
    for (std::size_t l = 0; l < errors.size(); ++l)
        for (Index i = 0; i < errors[l].size(); ++i)
            if (!(std::abs(state.trace.a[l](i)) > errors[l](i)) && !structurally_zero(network.layers[l], i) &&
                !by_tolerance(std::abs(state.trace.a[l](i))))
                filter.units.emplace_back(l, i);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        if (by_tolerance(state.conic_norm(static_cast<Index>(g)))) continue;
        if (!sure_of_residual(module, state.x, state.trace.u[g])) filter.modules.push_back(g);
    }
    return filter;
}

void decide_exactly(const Network& network, const Filter& filter, LocalState& state) {
    const VectorOf<Dyadic> x = state.x.cast<Dyadic>();
    if (!filter.units.empty()) {
        const Trace<Dyadic> exact = forward(network, x);
        // Once more with the exact values: a residue with a wrong sign must not be handed on. The units come in order, and the
        // signs of the others stand: their |a| exceeds twice its error, and is computed again with no larger one.
        auto next = filter.units.begin();
        state.trace = forward(network, state.x, [&](std::size_t l, Index i, double& a) {
            if (next != filter.units.end() && *next == std::pair{l, i}) {
                a = exact.a[l](i).to_double();
                state.pattern.sign[l](i) = sign_of(a);
                ++next;
            }
            return relu(a);
        });
    }
    for (const std::size_t g : filter.modules) {
        const VectorOf<Dyadic> u = affine(network.conic[g].A, x, network.conic[g].d);
        for (Index i = 0; i < u.size(); ++i)
            state.trace.u[g](i) = u(i).to_double();
        state.conic_norm(static_cast<Index>(g)) = norm(state.trace.u[g]);
        state.pattern.conic_zero[g] = (state.trace.u[g].array() == 0.0).all();
    }
}

}  // namespace

LocalState evaluate(const Network& network, const Vector& x, double tolerance) {
    LocalState state;
    state.x = x;
    state.trace = forward<double>(network, x);
    state.conic_norm.resize(static_cast<Index>(network.conic.size()));
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        state.conic_norm(static_cast<Index>(g)) = norm(state.trace.u[g]);
    state.value = value(network, x, state.trace);
    require_finite(state);

    for (const Vector& a : state.trace.a)
        state.pattern.sign.push_back(a.unaryExpr(&sign_of));
    for (const double size : state.conic_norm)
        state.pattern.conic_zero.push_back(size == 0.0);
    const Filter filter = undecided(network, state, tolerance);
    state.decided_exactly = static_cast<Index>(filter.units.size() + filter.modules.size());
    if (state.decided_exactly > 0) {
        decide_exactly(network, filter, state);
        state.value = value(network, x, state.trace);
    }
    if (tolerance == 0.0) return state;
    for (std::size_t l = 0; l < state.trace.a.size(); ++l)
        state.pattern.sign[l] =
            (state.trace.a[l].array().abs() <= tolerance).select(std::int8_t{0}, state.pattern.sign[l]);
    for (std::size_t g = 0; g < state.trace.u.size(); ++g)
        state.pattern.conic_zero[g] = state.conic_norm(static_cast<Index>(g)) <= tolerance;
    return state;
}

}  // namespace certicone
