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
        std::vector<Index> places(static_cast<std::size_t>(n));
        std::iota(places.begin(), places.end(), Index{0});
        for (Index i = n - 1; i > 0; --i)
            std::swap(places[static_cast<std::size_t>(i)], places[static_cast<std::size_t>(below(i + 1))]);
        return places;
    };
    InferenceVariant variant{*original.network, original};
    Network& network = variant.network;
    InferenceProblem& problem = variant.problem;
    // One entry a row and column, so that every product with it is exact.
    const auto monomial = [&](const Vector& entries) {
        Matrix result = Matrix::Zero(entries.size(), entries.size());
        const auto columns = order(entries.size());
        for (Index i = 0; i < entries.size(); ++i)
            result(i, columns[static_cast<std::size_t>(i)]) = entries(i);
        return result;
    };
    // x = T x', T with powers of two and signs.
    const Index d0 = network.input_dim;
    const Vector scale = Vector::NullaryExpr(d0, [&] { return below(2) == 0 ? power(3) : -power(3); });
    const Matrix T = monomial(scale), T_inverse = (T.array() != 0.0).select(T.cwiseInverse(), 0.0).transpose();
    const auto of_x = [&](Matrix& M) { M = Matrix(M * T); };
    for (Layer& layer : network.layers)
        of_x(layer.W);
    for (Quadratic& module : network.quadratic)
        of_x(module.B);
    for (Conic& module : network.conic)
        of_x(module.A);
    network.v = Vector(T.transpose() * network.v);
    problem.y = Vector(T_inverse * problem.y);
    problem.q = Vector(T.transpose() * problem.q);
    problem.Q = Matrix(T.transpose() * problem.Q * T);
    // Units: z_l = D z_l', a_l = D a_l'.
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Layer& layer = network.layers[l];
        const Matrix D = monomial(Vector::NullaryExpr(layer.units(), [&] { return power(3); }));
        const Matrix D_inverse = (D.array() != 0.0).select(D.cwiseInverse(), 0.0).transpose();
        layer.W = Matrix(D_inverse * layer.W);
        layer.b = Vector(D_inverse * layer.b);
        if (layer.U.size() > 0) layer.U = Matrix(D_inverse * layer.U);
        if (l + 1 < network.layers.size())
            network.layers[l + 1].U = Matrix(network.layers[l + 1].U * D);
        else
            network.c = Vector(D.transpose() * network.c);
    }
    // Rows of the residuals, with signs.
    const auto of_rows = [&](Matrix& M, Vector& offset) {
        const Matrix P = monomial(Vector::NullaryExpr(M.rows(), [&] { return below(2) == 0 ? 1.0 : -1.0; }));
        M = Matrix(P * M);
        offset = Vector(P * offset);
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
