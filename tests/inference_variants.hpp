// The same inference problem in other words: what is mathematically the same and rounds differently. Units and inputs in
// another order, in other units (powers of two), with another sign; the value in other units.
#pragma once

#include <cfenv>
#include <cmath>
#include <numeric>
#include <random>

#include "inference/problem.hpp"

namespace certicone::test {

struct InferenceVariant {
    Network network;
    InferenceProblem problem;  ///< of a network elsewhere: at() binds it
    double factor = 1.0;       ///< F is that times the original's
    int rounding = FE_TONEAREST;

    InferenceProblem at() const {
        InferenceProblem bound = problem;
        bound.network = &network;
        return bound;
    }
};

inline InferenceVariant inference_variant(const InferenceProblem& original, std::mt19937_64& random) {
    const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<std::uint64_t>(n)); };
    const auto power = [&](int range) { return std::ldexp(1.0, static_cast<int>(below(2 * range + 1)) - range); };
    const auto order = [&](Index n) {
        Eigen::PermutationMatrix<Eigen::Dynamic> permutation(n);
        std::iota(permutation.indices().data(), permutation.indices().data() + n, 0);
        for (Index i = n - 1; i > 0; --i)
            std::swap(permutation.indices()(i), permutation.indices()(below(i + 1)));
        return permutation;
    };
    InferenceVariant variant{*original.network, original};
    Network& network = variant.network;
    InferenceProblem& problem = variant.problem;
    // x = S P x', S diagonal with powers of two and signs.
    const Index d0 = network.input_dim;
    const auto inputs = order(d0);
    const Vector scale = Vector::NullaryExpr(d0, [&] { return below(2) == 0 ? power(3) : -power(3); });
    const auto of_x = [&](Matrix& M) { M = M * scale.asDiagonal() * inputs; };
    for (Layer& layer : network.layers)
        of_x(layer.W);
    for (Quadratic& module : network.quadratic)
        of_x(module.B);
    for (Conic& module : network.conic)
        of_x(module.A);
    network.v = inputs.transpose() * scale.asDiagonal() * network.v;
    problem.y = inputs.transpose() * problem.y.cwiseQuotient(scale);
    problem.q = inputs.transpose() * scale.asDiagonal() * problem.q;
    problem.Q = inputs.transpose() * scale.asDiagonal() * problem.Q * scale.asDiagonal() * inputs;
    // Units: z_l = D P z_l'.
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Layer& layer = network.layers[l];
        const auto units = order(layer.units());
        const Vector unit = Vector::NullaryExpr(layer.units(), [&] { return power(3); });
        const Vector inverse = unit.cwiseInverse();
        layer.W = Matrix(units.transpose() * inverse.asDiagonal() * layer.W);
        layer.b = Vector(units.transpose() * inverse.asDiagonal() * layer.b);
        if (layer.U.size() > 0) layer.U = Matrix(units.transpose() * inverse.asDiagonal() * layer.U);
        if (l + 1 < network.layers.size())
            network.layers[l + 1].U = Matrix(network.layers[l + 1].U * unit.asDiagonal() * units);
        else
            network.c = Vector(units.transpose() * unit.asDiagonal() * network.c);
    }
    // Rows of the residuals, with signs.
    const auto of_rows = [&](Matrix& M, Vector& offset) {
        const auto rows = order(M.rows());
        const Vector sign = Vector::NullaryExpr(M.rows(), [&] { return below(2) == 0 ? 1.0 : -1.0; });
        M = Matrix(rows * sign.asDiagonal() * M);
        offset = Vector(rows * sign.asDiagonal() * offset);
    };
    for (Quadratic& module : network.quadratic)
        of_rows(module.B, module.e);
    for (Conic& module : network.conic)
        of_rows(module.A, module.d);
    // The value.
    variant.factor = power(6);
    network.b0 *= variant.factor;
    network.c *= variant.factor;
    network.v *= variant.factor;
    problem.Q *= variant.factor;
    problem.q *= variant.factor;
    for (Quadratic& module : network.quadratic)
        module.alpha *= variant.factor;
    for (Conic& module : network.conic)
        module.lambda *= variant.factor;
    constexpr int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    variant.rounding = modes[below(4)];
    return variant;
}

}  // namespace certicone::test
