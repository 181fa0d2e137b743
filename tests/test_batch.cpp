// The batched forms against the single-point ones: value, gradient, selector, and the points that need exact signs.
#include <doctest/doctest.h>

#include <algorithm>

#include "file_helpers.hpp"
#include "geometry/batch.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// Compares every column with `evaluate` and `canonical_selector`. Both sides round, so twice the bounds; a multiplier
/// of an inactive unit is exactly 0, and so must it be here.
void check(const Network& network, const Matrix& points, const BatchResult& result, bool selector) {
    INFO(network.name, ", ", points.cols(), " points");
    REQUIRE(result.value.size() == points.cols());
    REQUIRE(result.gradient.rows() == points.rows());
    REQUIRE(result.gradient.cols() == points.cols());
    REQUIRE(result.nu.size() == (selector ? network.layers.size() : 0));
    REQUIRE(result.p.size() == (selector ? network.quadratic.size() : 0));
    REQUIRE(result.r.size() == (selector ? network.conic.size() : 0));
    REQUIRE(std::is_sorted(result.exact.begin(), result.exact.end()));
    const double unit = 2.0 * chain_error(network);
    const std::vector<Vector> box = select_backward(network, [](std::size_t, Index, double ub) { return ub; });
    for (Index j = 0; j < points.cols(); ++j) {
        const LocalState state = evaluate(network, points.col(j));
        const Multipliers xi = canonical_selector(network, state);
        const bool exact = std::binary_search(result.exact.begin(), result.exact.end(), j);
        // What single evaluation could not decide by its finer bound, the batch cannot either.
        if (state.decided_exactly > 0) REQUIRE(exact);
        if (exact) {
            REQUIRE(result.value(j) == state.value);
            REQUIRE(result.gradient.col(j) == readout(network, xi));
        }
        REQUIRE(std::abs(result.value(j) - state.value) <= unit * value_size(network, state.x));
        const Vector error = (result.gradient.col(j) - readout(network, xi)).cwiseAbs();
        REQUIRE((error.array() <= 2.0 * gradient_bound(network, state).array()).all());
        if (!selector) continue;
        for (std::size_t l = 0; l < xi.nu.size(); ++l) {
            const auto nu = result.nu[l].col(j).array();
            REQUIRE(((nu == 0.0) == (xi.nu[l].array() == 0.0)).all());
            REQUIRE(((nu - xi.nu[l].array()).abs() <= unit * box[l].array()).all());
        }
        for (std::size_t h = 0; h < xi.p.size(); ++h) {
            const Quadratic& module = network.quadratic[h];
            const Vector size = module.B.cwiseAbs() * state.x.cwiseAbs() + module.e.cwiseAbs();
            REQUIRE(((result.p[h].col(j) - xi.p[h]).array().abs() <= unit * module.alpha * size.array()).all());
        }
        for (std::size_t g = 0; g < xi.r.size(); ++g) {
            const Conic& module = network.conic[g];
            const double spread = (module.A.cwiseAbs() * state.x.cwiseAbs() + module.d.cwiseAbs()).norm();
            const double size = state.conic_norm(static_cast<Index>(g));
            const double bound = state.pattern.conic_zero[g] ? 0.0 : unit * module.lambda * (1.0 + spread / size);
            REQUIRE((result.r[g].col(j) - xi.r[g]).norm() <= bound);
        }
    }
}

}  // namespace

TEST_CASE("batch: equals single evaluation on random and ugly networks, for counts around the block size") {
    Random random(80);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 4; ++round)
        networks.push_back(random_network(random_shape(random, 30), random));
    const std::vector<Index> counts{1, 2, 7, 255, 256, 257, 511, 512, 513, 600};
    std::size_t which = 0;
    for (const Network& network : networks) {
        BatchEvaluator batch(network);
        BatchResult result;
        for (int repeat = 0; repeat < 3; ++repeat) {  // the same objects serve several shapes
            const Index count = counts[which++ % counts.size()];
            const Matrix points = random_matrix(network.input_dim, count, random);
            batch.evaluate(points, result, repeat != 1);
            check(network, points, result, repeat != 1);
            // A unit without weights is 0 everywhere, and no reason for exact arithmetic.
            if (network.name == "units without weights") CHECK(result.exact.empty());
        }
    }
    CHECK(which > counts.size());
}

TEST_CASE("batch: generic points take the fast path") {
    Random random(81);
    const Network network =
        random_network({.input_dim = 10, .widths = {32, 32, 32}, .quadratic = {8}, .conic = {8}}, random);
    BatchEvaluator batch(network);
    BatchResult result;
    batch.evaluate(random_matrix(10, 600, random), result);
    // 57 600 signs, each open within about 10⁻¹¹ of zero (eps times the a-priori sizes of three layers of 32).
    CHECK(result.exact.empty());
}

TEST_CASE("batch: degenerate columns are found, evaluated exactly, and leave their neighbours alone") {
    Random random(82);
    for (int round = 0; round < 40; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        const Index count = random_index(1, 600, random);
        Matrix points = random_matrix(network.input_dim, count, random);
        std::vector<Index> planted{0, count / 2, count - 1};
        if (count > 256) planted.insert(planted.end(), {255, 256});
        for (const Index j : planted)
            points.col(j) = x;
        BatchEvaluator batch(network);
        BatchResult result;
        batch.evaluate(points, result, true);
        check(network, points, result, true);
        for (const Index j : planted)
            REQUIRE(std::binary_search(result.exact.begin(), result.exact.end(), j));
    }
}

TEST_CASE("batch: signs that doubles get wrong") {
    // a₀ = 3x₀ − x₁ − x₂ and u are exactly 0 at (0.1, 0.1, 0.2), a₁ = x₁ + x₂ − 0.30000000000000004 is −2⁻⁵⁵.
    Network network;
    network.input_dim = 3;
    network.layers = {{(Matrix(2, 3) << 3.0, -1.0, -1.0, 0.0, 1.0, 1.0).finished(), {}, vector({0.0, -(0.1 + 0.2)})}};
    network.c = vector({1.0, 1.0});
    network.v = Vector::Zero(3);
    network.conic = {{1.0, network.layers[0].W.topRows(1), vector({0.0})}};
    Matrix points(3, 3);
    points << 0.1, 1.0, 0.1,  //
        0.1, 0.0, 0.1,        //
        0.2, 0.0, 0.2;
    BatchEvaluator batch(network);
    BatchResult result;
    batch.evaluate(points, result, true);
    CHECK(result.exact == std::vector<Index>{0, 2});
    CHECK(result.value == vector({0.0, 6.0, 0.0}));
    CHECK(result.gradient.col(0) == vector({0.0, 0.0, 0.0}));
    CHECK(result.gradient.col(1) == vector({6.0, -2.0, -2.0}));
    CHECK(result.nu[0].col(0) == vector({0.0, 0.0}));
    CHECK(result.r[0] == (Matrix(1, 3) << 0.0, 1.0, 0.0).finished());
}

TEST_CASE("batch: results of one shape are written in place") {
    Random random(83);
    const Network network = random_network({.input_dim = 4, .widths = {8, 8}, .quadratic = {3}, .conic = {3}}, random);
    BatchEvaluator batch(network);
    BatchResult result;
    batch.evaluate(random_matrix(4, 300, random), result, true);
    const double *gradient = result.gradient.data(), *nu = result.nu[1].data(), *r = result.r[0].data();
    const Matrix points = random_matrix(4, 300, random);
    batch.evaluate(points, result, true);
    CHECK(gradient == result.gradient.data());
    CHECK(nu == result.nu[1].data());
    CHECK(r == result.r[0].data());
    check(network, points, result, true);
    batch.evaluate(Matrix(4, 0), result, true);
    CHECK(result.value.size() == 0);
    CHECK(result.exact.empty());
}

TEST_CASE("batch: overflow and numbers that are not finite are input errors here too") {
    Random random(84);
    Network network = random_network({.input_dim = 2, .widths = {3, 3}, .quadratic = {2}, .conic = {2}}, random);
    const auto message = [&](double entry) {
        BatchEvaluator batch(network);
        BatchResult result;
        Matrix points = random_matrix(2, 20, random);
        points(1, 13) = entry;
        return input_error([&] { batch.evaluate(points, result); });
    };
    CHECK_FALSE(message(std::nan("")).empty());
    CHECK_FALSE(message(std::numeric_limits<double>::infinity()).empty());
    CHECK(contains(message(1e200), "value"));  // the square of a residual
    network.layers[1].W(2, 1) = 1e10;
    CHECK(contains(message(1e300), "layers[1], unit 2"));
}
