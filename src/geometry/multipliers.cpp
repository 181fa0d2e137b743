#include "geometry/multipliers.hpp"

namespace certicone {

Multipliers zero_multipliers(const Network& network) {
    Multipliers xi;
    for (const Layer& layer : network.layers)
        xi.nu.push_back(Vector::Zero(layer.units()));
    for (const Quadratic& module : network.quadratic)
        xi.p.push_back(Vector::Zero(module.B.rows()));
    for (const Conic& module : network.conic)
        xi.r.push_back(Vector::Zero(module.A.rows()));
    return xi;
}

double squared_norm(const Multipliers& xi) {
    double sum = 0.0;
    for (const auto* block : {&xi.nu, &xi.p, &xi.r})
        for (const Vector& part : *block)
            sum += part.squaredNorm();
    return sum;
}

bool is_finite(const Multipliers& xi) {
    for (const auto* block : {&xi.nu, &xi.p, &xi.r})
        for (const Vector& part : *block)
            if (!part.allFinite()) return false;
    return true;
}

Vector upper_bound(const Network& network, const std::vector<Vector>& nu, std::size_t layer) {
    if (layer + 1 == network.layers.size()) return network.c;
    return network.layers[layer + 1].U.transpose() * nu[layer + 1];
}

Vector readout(const Network& network, const Multipliers& xi) {
    Vector slope = network.v;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        slope.noalias() += network.layers[l].W.transpose() * xi.nu[l];
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        slope.noalias() += network.quadratic[h].B.transpose() * xi.p[h];
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        slope.noalias() += network.conic[g].A.transpose() * xi.r[g];
    return slope;
}

double support_offset(const Network& network, const Multipliers& xi) {
    double sum = network.b0;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        sum += xi.nu[l].dot(network.layers[l].b);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        sum += xi.p[h].dot(network.quadratic[h].e) - xi.p[h].squaredNorm() / (2.0 * network.quadratic[h].alpha);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += xi.r[g].dot(network.conic[g].d);
    return sum;
}

double psi(const Network& network, const Vector& x, const Multipliers& xi) {
    double sum = network.v.dot(x) + network.b0;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        sum += xi.nu[l].dot(network.layers[l].W * x + network.layers[l].b);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        sum += xi.p[h].dot(module.B * x + module.e) - xi.p[h].squaredNorm() / (2.0 * module.alpha);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += xi.r[g].dot(network.conic[g].A * x + network.conic[g].d);
    return sum;
}

Multipliers canonical_selector(const Network& network, const LocalState& state) {
    Multipliers xi;
    xi.nu = select_backward(network,
                            [&](std::size_t l, Index i, double ub) { return state.pattern.sign[l](i) > 0 ? ub : 0.0; });
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        xi.p.push_back(network.quadratic[h].alpha * state.trace.q[h]);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Vector& u = state.trace.u[g];
        if (state.pattern.conic_zero[g])
            xi.r.push_back(Vector::Zero(u.size()));
        else
            xi.r.push_back(network.conic[g].lambda * (u / state.conic_norm(static_cast<Index>(g))));
    }
    return xi;
}

AffineSupport affine_support(const Network& network, const Multipliers& xi) {
    return {readout(network, xi), support_offset(network, xi)};
}

}  // namespace certicone
