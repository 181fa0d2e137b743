#include <doctest/doctest.h>

#include <limits>

#include "geometry/autodiff.hpp"
#include "network/forward.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"
#include "support/dyadic.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double huge = std::numeric_limits<double>::max();

Network experiment3() { return read_network(CERTICONE_DATA_DIR "/paper/exp3.network.json"); }

}  // namespace

TEST_CASE("forward: Experiment 3's network at (1, 2), by hand") {
    const Network network = experiment3();
    const Vector x = vector({1.0, 2.0});
    const Trace<double> trace = forward<double>(network, x);
    // Every intermediate number is below 4, so a few roundings stay below 4 eps.
    CHECK((trace.a[0] - vector({1.6, 2.1, -0.1})).lpNorm<Eigen::Infinity>() < 4 * eps);
    CHECK((trace.z[0] - vector({1.6, 2.1, 0.0})).lpNorm<Eigen::Infinity>() < 4 * eps);
    CHECK((trace.q[0] - vector({0.5, 1.0})).lpNorm<Eigen::Infinity>() < 4 * eps);
    CHECK(trace.u[0] == x);
    // 1.2·1.6 + 0.8·2.1 + (0.1 − 0.4) + 0.35·(0.25 + 1) + 1.3·√5; the sum is below 8.
    CHECK(std::abs(value<double>(network, x) - (3.6 - 0.3 + 0.4375 + 1.3 * std::sqrt(5.0))) < 16 * eps);
    CHECK(std::abs(rational_value(network, x, trace) - (3.6 - 0.3 + 0.4375)) < 16 * eps);

    // ∇f = v + Wᵀ(1.2, 0.8, 0) + Bᵀ(0.35, 0.7) + 1.3·x/√5; the Hessian is 0.7·BᵀB + (1.3/√5)(I − xxᵀ/5).
    const Vector gradient = vector({0.1 + 0.88 + 0.28, -0.2 + 1.16 + 0.28}) + 1.3 / std::sqrt(5.0) * x;
    CHECK((autodiff_gradient(network, x) - gradient).lpNorm<Eigen::Infinity>() < 16 * eps);
    Matrix hessian(2, 2);
    hessian << 0.37 * 0.7, -0.07 * 0.7, -0.07 * 0.7, 0.29 * 0.7;
    hessian += 1.3 / std::sqrt(5.0) * (Matrix::Identity(2, 2) - x * x.transpose() / 5.0);
    CHECK((autodiff_hessian(network, x) - hessian).lpNorm<Eigen::Infinity>() < 16 * eps);
}

TEST_CASE("forward: U carries the layer below, by hand, in doubles and exactly") {
    Network network;
    network.input_dim = 1;
    network.layers = {{vector({2.0, -1.0}), {}, vector({1.0, 0.5})},
                      {vector({-3.0, 1.0}), (Matrix(2, 2) << 0.5, 4.0, 2.0, 0.25).finished(), vector({-0.25, -8.0})}};
    network.c = vector({2.0, 5.0});
    network.v = vector({-0.5});
    network.b0 = 10.0;
    network.quadratic = {{4.0, vector({1.0, -2.0}), vector({0.0, 1.0})}};
    network.conic = {{0.5, vector({3.0, 4.0}), vector({0.0, 0.0})}};
    validate(network);
    // x = 1: a₀ = (3, −½); a₁ = (−3 + 1.5 − 0.25, 1 + 6 − 8) < 0. x = −1: a₀ = (−1, 1.5), a₁ = (3 + 6 − 0.25, <0).
    const Trace<double> right = forward<double>(network, vector({1.0}));
    CHECK(right.a[1] == vector({-1.75, -1.0}));
    CHECK(value<double>(network, vector({1.0})) == -0.5 + 10.0 + 2.0 * (1.0 + 1.0) + 0.5 * 5.0);
    const Trace<double> left = forward<double>(network, vector({-1.0}));
    CHECK(left.a[0] == vector({-1.0, 1.5}));
    CHECK(left.z[0] == vector({0.0, 1.5}));
    CHECK(left.a[1] == vector({8.75, -8.625}));
    CHECK(value<double>(network, vector({-1.0})) == 2.0 * 8.75 + 0.5 + 10.0 + 2.0 * (1.0 + 9.0) + 0.5 * 5.0);

    const VectorOf<Dyadic> x = vector({-1.0}).cast<Dyadic>();
    CHECK(rational_value(network, x, forward(network, x)) == Dyadic(2.0 * 8.75 + 0.5 + 10.0 + 2.0 * (1.0 + 9.0)));
}

TEST_CASE("forward: doubles stay within rounding of the exact value") {
    Random random(11);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 50; ++round)
        networks.push_back(random_network(random_shape(random, 8), random));
    for (Network& network : networks) {
        network.conic.clear();  // the rest is rational
        const Vector x = random_vector(network.input_dim, random);
        const VectorOf<Dyadic> exact_x = x.cast<Dyadic>();
        const Dyadic exact = rational_value(network, exact_x, forward(network, exact_x));
        const double error = std::abs((exact - Dyadic(value<double>(network, x))).to_double());
        INFO(network.name);
        CHECK(error <= chain_error(network) * value_size(network, x));
    }
}

TEST_CASE("forward: norm neither overflows nor underflows") {
    CHECK(norm<double>(vector({0.0, -0.0, 0.0})) == 0.0);
    CHECK(norm<double>(vector({3.0, -4.0})) == 5.0);
    CHECK(norm<double>(vector({-7.0})) == 7.0);
    CHECK(norm<double>(vector({3.0 * tiny, 4.0 * tiny})) == 5.0 * tiny);
    CHECK(norm<double>(vector({tiny, 0.0})) == tiny);
    for (const int exponent : {-1074, -1022, -600, -538, 0, 511, 600, 996, 1021})
        CHECK(norm<double>(vector({std::ldexp(3.0, exponent), std::ldexp(-4.0, exponent)})) ==
              std::ldexp(5.0, exponent));
    CHECK(norm<double>(vector({huge, tiny})) == huge);
    CHECK(std::abs(norm<double>(vector({3e300, 4e300})) / 5e300 - 1.0) <= 2 * eps);
    CHECK(std::isinf(norm<double>(vector({huge, huge}))));
    CHECK(norm<double>(Vector::Constant(4096, 0.25)) == 16.0);
}
