#include "geometry/gap.hpp"

#include "geometry/rounding.hpp"

namespace certicone {

namespace {

// λ‖u‖ − rᵀu = ‖u‖/(2λ) · (‖r − λû‖² + λ² − ‖r‖²): both summands are ≥ 0 when ‖r‖ ≤ λ, and neither cancels.
double conic_gap(double lambda, const Vector& u, double size, bool zero, const Vector& r) {
    if (zero) return 0.0;
    if (lambda == 0.0) return -r.dot(u);
    const double length = norm<double>(r);
    const double distance = (r - lambda * (u / size)).squaredNorm();
    return size / (2.0 * lambda) * (distance + (lambda - length) * (lambda + length));
}

}  // namespace

Gap duality_gap(const Network& network, const LocalState& state, const Multipliers& xi) {
    Gap gap;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Vector& a = state.trace.a[l];
        const Vector& z = state.trace.z[l];
        const Vector ub = upper_bound(network, xi.nu, l);
        gap.relu.push_back(xi.nu[l].cwiseProduct(z - a) + (ub - xi.nu[l]).cwiseProduct(z));
        gap.total += gap.relu.back().sum();
    }
    gap.quadratic.resize(static_cast<Index>(network.quadratic.size()));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const double alpha = network.quadratic[h].alpha;
        const double term = (xi.p[h] - alpha * state.trace.q[h]).squaredNorm() / (2.0 * alpha);
        gap.quadratic(static_cast<Index>(h)) = term;
        gap.total += term;
    }
    gap.conic.resize(static_cast<Index>(network.conic.size()));
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Index k = static_cast<Index>(g);
        gap.conic(k) = conic_gap(network.conic[g].lambda, state.trace.u[g], state.conic_norm(k),
                                 state.pattern.conic_zero[g], xi.r[g]);
        gap.total += gap.conic(k);
    }
    return gap;
}

DistanceBound distance_bound(const Network& network, const LocalState& state, const Gap& gap) {
    DistanceBound bound;
    const std::vector<Vector> errors = preactivation_errors(network, state.x, state.trace);
    const std::vector<Vector> box = select_backward(network, [](std::size_t, Index, double ub) { return ub; });
    bound.nu.resize(network.layers.size());
    for (std::size_t l = network.layers.size(); l-- > 0;) {
        const bool last = l + 1 == network.layers.size();
        // How far ub(ν) can be from ub(ν̂): 0 at the top, Uᵀ times the bound of the layer above below it.
        const Vector inherited = last ? Vector(Vector::Zero(network.layers[l].units()))
                                      : Vector(network.layers[l + 1].U.transpose() * bound.nu[l + 1]);
        bound.nu[l].resize(inherited.size());
        for (Index i = 0; i < inherited.size(); ++i) {
            const double size = std::abs(state.trace.a[l](i)), error = errors[l](i);
            const double a = size > error ? size - 0.5 * error : size;  // decided exactly where it is not
            const double own = std::max(gap.relu[l](i), 0.0);
            switch (state.pattern.sign[l](i)) {
                case 1: bound.nu[l](i) = own / a + inherited(i); break;
                case -1: bound.nu[l](i) = own / a; break;
                default: bound.nu[l](i) = inherited(i);
            }
            if (!(bound.nu[l](i) <= box[l](i))) bound.nu[l](i) = box[l](i);
        }
    }
    bound.p.resize(gap.quadratic.size());
    // An equality in exact arithmetic: the rounding of both sides, of the gap and of a norm compared with it.
    for (Index h = 0; h < bound.p.size(); ++h) {
        const Quadratic& module = network.quadratic[static_cast<std::size_t>(h)];
        bound.p(h) = (1.0 + relative_rounding(module.B.rows() + 4)) * std::sqrt(2.0 * module.alpha * gap.quadratic(h));
    }
    bound.r.resize(gap.conic.size());
    for (Index g = 0; g < bound.r.size(); ++g) {
        const auto k = static_cast<std::size_t>(g);
        const double lambda = network.conic[k].lambda;
        const double length =
            state.conic_norm(g) * std::max(0.0, 1.0 - relative_rounding_of_residual(network, state, k));
        bound.r(g) = state.pattern.conic_zero[k] || lambda == 0.0 ? 0.0
                     : length > 0.0
                         ? std::min(2.0 * lambda, std::sqrt(2.0 * lambda * std::max(gap.conic(g), 0.0) / length))
                         : 2.0 * lambda;
        bound.r(g) *= 1.0 + relative_rounding(network.conic[k].A.rows() + 4);
    }
    return bound;
}

}  // namespace certicone
