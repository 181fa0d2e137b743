#include "geometry/max_readout.hpp"

namespace certicone {

namespace {

struct Sweep {
    std::vector<Vector> a_dot;
    double value = 0.0;
};

Sweep sweep_forward(const Network& network, const LocalState& state, const Vector& direction) {
    Sweep sweep;
    Vector z_dot;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Vector a_dot = network.layers[l].W * direction;
        if (l > 0) a_dot.noalias() += network.layers[l].U * z_dot;
        z_dot.resize(a_dot.size());
        for (Index i = 0; i < a_dot.size(); ++i) {
            const int sign = state.pattern.sign[l](i);
            z_dot(i) = sign > 0 ? a_dot(i) : sign == 0 ? std::max(a_dot(i), 0.0) : 0.0;
        }
        sweep.a_dot.push_back(std::move(a_dot));
    }
    sweep.value = network.c.dot(z_dot) + network.v.dot(direction);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        sweep.value += network.quadratic[h].alpha * state.trace.q[h].dot(network.quadratic[h].B * direction);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        const Vector u_dot = module.A * direction;
        sweep.value += state.pattern.conic_zero[g]
                           ? module.lambda * norm<double>(u_dot)
                           : module.lambda * (state.trace.u[g] / state.conic_norm(static_cast<Index>(g))).dot(u_dot);
    }
    return sweep;
}

}  // namespace

double directional_derivative(const Network& network, const LocalState& state, const Vector& direction) {
    return sweep_forward(network, state, direction).value;
}

MaxReadout max_readout(const Network& network, const LocalState& state, const Vector& direction) {
    const Sweep sweep = sweep_forward(network, state, direction);
    MaxReadout result{sweep.value, canonical_selector(network, state)};
    result.xi.nu = select_backward(network, [&](std::size_t l, Index i, double ub) {
        const int sign = state.pattern.sign[l](i);
        return sign > 0 || (sign == 0 && sweep.a_dot[l](i) > 0.0) ? ub : 0.0;
    });
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (!state.pattern.conic_zero[g]) continue;
        const Vector u_dot = network.conic[g].A * direction;
        const double length = norm<double>(u_dot);
        if (length > 0.0) result.xi.r[g] = network.conic[g].lambda * (u_dot / length);
    }
    return result;
}

}  // namespace certicone
