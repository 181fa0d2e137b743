// Random inference problems of many sizes, for the test of white-box inference and its benchmark: d0 up to 50, up to four
// layers of up to 128 units, up to two modules of each kind, β from 1e-3 to 1e3.
#pragma once

#include <cmath>
#include <random>

#include "inference/problem.hpp"

namespace certicone::test {

struct FamilyMember {
    Network network;
    double beta = 1.0;
    Vector y;
};

inline FamilyMember family_member(unsigned seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const auto between = [&](Index first, Index last) {
        return std::uniform_int_distribution<Index>(first, last)(random);
    };
    const auto matrix = [&](Index rows, Index columns, double scale) {
        return Matrix(Matrix::NullaryExpr(rows, columns, [&] { return scale * normal(random); }));
    };
    const auto positive = [&](Index rows, Index columns) {
        return Matrix(Matrix::NullaryExpr(rows, columns, [&] { return uniform(random); }));
    };
    FamilyMember member;
    Network& network = member.network;
    network.name = "family " + std::to_string(seed);
    const Index d0 = network.input_dim = between(1, 50);
    const double scale = 1.0 / std::sqrt(static_cast<double>(d0));
    const Index depth = between(1, 4);
    for (Index l = 0; l < depth; ++l) {
        const Index width = between(1, 128);
        Layer layer{matrix(width, d0, scale), Matrix(), matrix(width, 1, scale)};
        if (l > 0) {
            const Index below = network.layers.back().units();
            layer.U = scale * positive(width, below);
        }
        network.layers.push_back(std::move(layer));
    }
    network.c = positive(network.layers.back().units(), 1);
    network.v = matrix(d0, 1, scale);
    network.b0 = normal(random);
    for (Index k = between(0, 2); k > 0; --k) {
        const Index rows = between(1, d0);
        network.quadratic.push_back({0.1 + uniform(random), matrix(rows, d0, scale), matrix(rows, 1, scale)});
    }
    for (Index k = between(0, 2); k > 0; --k) {
        const Index rows = between(1, d0);
        network.conic.push_back({0.1 + uniform(random), matrix(rows, d0, scale), matrix(rows, 1, scale)});
    }
    member.beta = std::pow(10.0, 6.0 * uniform(random) - 3.0);
    member.y = 2.0 * matrix(d0, 1, 1.0);
    return member;
}

}  // namespace certicone::test
