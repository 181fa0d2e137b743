#include "geometry/ball_bounds.hpp"

namespace certicone {

namespace {

using Balls = VectorOf<Ball>;

/// Mx + b, exact: a residual that nearly vanishes must not be lost in the radius of its sum.
Balls residual(const Matrix& M, const Vector& x, const Vector& b) {
    const VectorOf<Dyadic> exact = affine<Dyadic>(M, x.cast<Dyadic>(), b);
    return exact.unaryExpr([](const Dyadic& entry) { return Ball(entry); });
}

}  // namespace

Ball norm(const VectorOf<Ball>& x) { return sqrt(dot(x, x)); }

Ball value_ball(const Network& network, const Vector& x) { return value<Ball>(network, x.cast<Ball>()); }

Ball psi_ball(const Network& network, const Vector& x, const Multipliers& xi) {
    const Balls point = x.cast<Ball>();
    Ball sum = dot(network.v, point) + network.b0;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        sum += dot(xi.nu[l], affine(network.layers[l].W, point, network.layers[l].b));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        sum += dot(xi.p[h], affine(module.B, point, module.e));
        const Balls p = xi.p[h].cast<Ball>();
        sum -= dot(p, p) / (Ball(2.0) * module.alpha);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += dot(xi.r[g], affine(network.conic[g].A, point, network.conic[g].d));
    return sum;
}

DistanceBalls distance_balls(const Network& network, const LocalState& state, const Multipliers& xi, const Ball& gap) {
    DistanceBalls result;
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        Balls difference = residual(module.B, state.x, module.e);
        for (Index i = 0; i < difference.size(); ++i)
            difference(i) = Ball(xi.p[h](i)) - difference(i) * module.alpha;
        result.p.push_back(norm(difference));
        result.p_allowed.push_back(sqrt(Ball(2.0) * module.alpha * gap));
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        result.r.emplace_back();
        result.r_allowed.emplace_back();
        if (state.pattern.conic_zero[g] || module.lambda == 0.0) continue;
        Balls difference = residual(module.A, state.x, module.d);
        const Ball length = norm(difference);
        for (Index i = 0; i < difference.size(); ++i)
            difference(i) = Ball(xi.r[g](i)) - difference(i) * module.lambda / length;
        result.r.back() = norm(difference);
        result.r_allowed.back() = sqrt(Ball(2.0) * module.lambda * gap / length);
    }
    return result;
}

}  // namespace certicone
