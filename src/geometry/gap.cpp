#include "geometry/gap.hpp"

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
    bound.nu.resize(network.layers.size());
    for (std::size_t l = network.layers.size(); l-- > 0;) {
        const bool last = l + 1 == network.layers.size();
        // How far ub(ν) can be from ub(ν̂): 0 at the top, Uᵀ times the bound of the layer above below it.
        const Vector inherited = last ? Vector(Vector::Zero(network.layers[l].units()))
                                      : Vector(network.layers[l + 1].U.transpose() * bound.nu[l + 1]);
        bound.nu[l].resize(inherited.size());
        for (Index i = 0; i < inherited.size(); ++i) {
            const double a = state.trace.a[l](i);
            const double own = std::max(gap.relu[l](i), 0.0);
            switch (state.pattern.sign[l](i)) {
                case 1: bound.nu[l](i) = own / a + inherited(i); break;
                case -1: bound.nu[l](i) = own / -a; break;
                default: bound.nu[l](i) = inherited(i);
            }
        }
    }
    bound.p.resize(gap.quadratic.size());
    for (Index h = 0; h < bound.p.size(); ++h)
        bound.p(h) = std::sqrt(2.0 * network.quadratic[static_cast<std::size_t>(h)].alpha * gap.quadratic(h));
    bound.r.resize(gap.conic.size());
    for (Index g = 0; g < bound.r.size(); ++g) {
        const auto k = static_cast<std::size_t>(g);
        bound.r(g) = state.pattern.conic_zero[k]
                         ? 0.0
                         : std::sqrt(2.0 * network.conic[k].lambda * std::max(gap.conic(g), 0.0) / state.conic_norm(g));
    }
    return bound;
}

}  // namespace certicone
