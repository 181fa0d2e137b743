// The forward pass, written once as a template on its scalar: doubles, automatic differentiation and exact dyadic
// numbers all run through this code.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "network/network.hpp"

namespace certicone {

template <class Scalar>
using VectorOf = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// All intermediate quantities of one forward pass: preactivations a_ℓ, activations z_ℓ, residuals q_h and u_g.
template <class Scalar>
struct Trace {
    std::vector<VectorOf<Scalar>> a;
    std::vector<VectorOf<Scalar>> z;
    std::vector<VectorOf<Scalar>> q;
    std::vector<VectorOf<Scalar>> u;
};

/// y += M x.
template <class Scalar>
void add_product(const Matrix& M, const VectorOf<Scalar>& x, VectorOf<Scalar>& y) {
    if constexpr (std::is_same_v<Scalar, double>) {
        y.noalias() += M * x;
    } else {
        for (Index j = 0; j < M.cols(); ++j)
            for (Index i = 0; i < M.rows(); ++i)
                if constexpr (requires { y(i).add_product(M(i, j), x(j)); }) {
                    if (M(i, j) != 0.0) y(i).add_product(M(i, j), x(j));
                } else {
                    if (M(i, j) != 0.0) y(i) += M(i, j) * x(j);
                }
    }
}

/// M x + b.
template <class Scalar>
VectorOf<Scalar> affine(const Matrix& M, const VectorOf<Scalar>& x, const Vector& b) {
    VectorOf<Scalar> y = b.template cast<Scalar>();
    add_product(M, x, y);
    return y;
}

/// wᵀx and xᵀy of numbers that are not doubles: exact ones, balls.
template <class Scalar>
Scalar dot(const Vector& weights, const VectorOf<Scalar>& x) {
    Scalar sum;
    for (Index i = 0; i < x.size(); ++i)
        sum.add_product(weights(i), x(i));
    return sum;
}

template <class Scalar>
Scalar dot(const VectorOf<Scalar>& x, const VectorOf<Scalar>& y) {
    Scalar sum;
    for (Index i = 0; i < x.size(); ++i)
        sum += x(i) * y(i);
    return sum;
}

template <class Scalar>
Scalar relu(const Scalar& a) {
    return a > 0.0 ? a : Scalar(0.0);
}

/// z_{ℓ,i} = activate(ℓ, i, a_{ℓ,i}), which may also correct a.
template <class Scalar, class Activate>
Trace<Scalar> forward(const Network& network, const VectorOf<Scalar>& x, Activate activate) {
    Trace<Scalar> trace;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        trace.a.push_back(affine(layer.W, x, layer.b));
        VectorOf<Scalar>& a = trace.a.back();
        if (l > 0) add_product(layer.U, trace.z.back(), a);
        VectorOf<Scalar> z(a.size());
        for (Index i = 0; i < a.size(); ++i)
            z(i) = activate(l, i, a(i));
        trace.z.push_back(std::move(z));
    }
    for (const Quadratic& module : network.quadratic)
        trace.q.push_back(affine(module.B, x, module.e));
    for (const Conic& module : network.conic)
        trace.u.push_back(affine(module.A, x, module.d));
    return trace;
}

template <class Scalar>
Trace<Scalar> forward(const Network& network, const VectorOf<Scalar>& x) {
    return forward(network, x, [](std::size_t, Index, const Scalar& a) { return relu(a); });
}

/// A double of the size of `value`; overloads for other scalars are found by argument-dependent look-up.
template <std::floating_point Float>
double magnitude(Float value) {
    return static_cast<double>(std::abs(value));
}

/// ‖u‖₂, scaled by a power of two so that no square overflows or underflows; 0 (with zero derivatives) at u = 0.
template <class Scalar>
Scalar norm(const VectorOf<Scalar>& u) {
    double largest = 0.0;
    for (Index i = 0; i < u.size(); ++i)
        largest = std::max(largest, magnitude(u(i)));
    if (largest == 0.0) return Scalar(0.0);
    int exponent = 0;
    std::frexp(largest, &exponent);
    const double down = std::ldexp(1.0, std::clamp(-exponent, -1000, 1000)), up = 1.0 / down;
    Scalar sum(0.0);
    for (Index i = 0; i < u.size(); ++i) {
        const Scalar scaled = u(i) * down;
        sum += scaled * scaled;
    }
    using std::sqrt;
    return Scalar(sqrt(sum) * up);
}

/// The polyhedral and quadratic parts of f, which are rational in the data: cᵀz_L + vᵀx + b0 + Σ α/2 ‖q‖².
template <class Scalar>
Scalar rational_value(const Network& network, const VectorOf<Scalar>& x, const Trace<Scalar>& trace) {
    Scalar sum(network.b0);
    for (Index i = 0; i < x.size(); ++i)
        sum += network.v(i) * x(i);
    for (Index i = 0; i < network.c.size(); ++i)
        sum += network.c(i) * trace.z.back()(i);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        Scalar squares(0.0);
        for (Index i = 0; i < trace.q[h].size(); ++i)
            squares += trace.q[h](i) * trace.q[h](i);
        sum += (0.5 * network.quadratic[h].alpha) * squares;
    }
    return sum;
}

/// f(x).
template <class Scalar>
Scalar value(const Network& network, const VectorOf<Scalar>& x, const Trace<Scalar>& trace) {
    Scalar sum = rational_value(network, x, trace);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += network.conic[g].lambda * norm(trace.u[g]);
    return sum;
}

template <class Scalar>
Scalar value(const Network& network, const VectorOf<Scalar>& x) {
    return value(network, x, forward(network, x));
}

}  // namespace certicone
