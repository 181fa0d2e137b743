#include <doctest/doctest.h>

#include "geometry/ball_bounds.hpp"
#include "geometry/branch.hpp"
#include "geometry/exact_multipliers.hpp"
#include "geometry/exact_point.hpp"
#include "geometry/max_readout.hpp"
#include "hand_networks.hpp"
#include "paper_data.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

bool is(const Enclosure& enclosure, double value) {
    return enclosure.lower == Dyadic(value) && enclosure.upper == Dyadic(value);
}

}  // namespace

TEST_CASE("everything at a point of the hand network, exactly") {
    const Network network = hand_network();
    const ExactPoint point = exact_point(network, vector({1.0}));
    CHECK(is(enclose_value(point, 64), 30.0));
    CHECK(canonical_relu_gap(point).sign() == 0);
    CHECK(is(enclose_subgradient(point, 64)[0], 7.0 + 5.0 * 2.0 + 8.0 * 3.0 + 0.5 * 2.0));
    CHECK(is(enclose_directional(point, vector({1.0}), 64), 42.0));
    CHECK(is(enclose_directional(point, vector({-2.0}), 64), -84.0));
    CHECK(is(ExactCurvature(network).enclose_hessian(point, 64)[0][0], 36.0));
    const ExactBranch branch = enclose_branch(point, 64);
    CHECK(branch.unit == std::pair<Index, Index>{0, 0});
    CHECK(is(branch.relu, 1.5));  // a = 3, J = 2
    CHECK(branch.module == 0);
    CHECK(is(branch.conic, 1.0));  // u = 2, A = 2
    CHECK(free_choices(point).units.empty());
    CHECK(free_choices(point).modules.empty());

    // ξ̂ is optimal at x = 1; y = x + G/β makes x the minimiser of f + β/2‖·−y‖²: F = 30 + 21² = 471 and no gap.
    const Multipliers xi{{vector({5.0})}, {vector({8.0})}, {vector({0.5})}};
    CHECK(exactly_feasible(network, xi));
    CHECK(is(enclose_psi(network, vector({1.0}), xi, 64), 30.0));
    CHECK(is(enclose_psi(network, vector({3.0}), xi, 64), 30.0 + 84.0));
    const InferenceBound bound = enclose_inference(point, vector({22.0}), 2.0, xi, 64);
    CHECK(bound.lower == Dyadic(471.0));
    CHECK(bound.upper == Dyadic(471.0));
}

TEST_CASE("a kink of the hand network") {
    // At x = −1/2 the unit vanishes: f'(x; ±1) = 7 + 4·(−5/2)·3·… = v + αqB ∓ λA, and 5·2 more upwards.
    const Network network = hand_network();
    const ExactPoint point = exact_point(network, vector({-0.5}));
    const double smooth = 7.0 + 4.0 * -2.5 * 3.0 - 0.5 * 2.0;
    CHECK(is(enclose_directional(point, vector({1.0}), 64), smooth + 10.0));
    CHECK(is(enclose_directional(point, vector({-1.0}), 64), -smooth));
    CHECK(free_choices(point).units == std::vector<std::pair<Index, Index>>{{0, 0}});
    // At x = 0 the conic residual vanishes: λ‖Ad‖ both ways.
    const ExactPoint cone = exact_point(network, vector({0.0}));
    const double slope = 7.0 + 10.0 - 12.0;
    CHECK(is(enclose_directional(cone, vector({1.0}), 64), slope + 1.0));
    CHECK(is(enclose_directional(cone, vector({-1.0}), 64), -slope + 1.0));
    CHECK(free_choices(cone).modules == std::vector<Index>{0});
}

TEST_CASE("a square root in the value: lambda |(1, 1)|") {
    Network network = hand_network();
    network.conic = {{3.0, Matrix::Ones(2, 1), vector({0.0, 0.0})}};
    const ExactPoint point = exact_point(network, vector({1.0}));
    const Enclosure value = enclose_value(point, 4);
    CHECK(value.lower == Dyadic(29.0 + 3.0 * 1.375));
    CHECK(value.upper == Dyadic(29.0 + 3.0 * 1.5));
    CHECK(!(enclose_value(point, 200).width() > Dyadic(0x1p-196)));
}

TEST_CASE("thousands of random networks: balls hold the exact values, repaired multipliers are feasible and prove") {
    Random random(7);
    constexpr slong fine = 400;
    for (int round = 0; round < 3000; ++round) {
        const bool degenerate = round % 3 == 0;
        PointedNetwork drawn;
        if (degenerate) {
            Shape shape = random_shape(random);
            if (shape.conic.empty()) shape.conic = {2};
            drawn = degenerate_network(shape, random);
        } else {
            drawn.network = random_network(random_shape(random), random);
            drawn.x = random_vector(drawn.network.input_dim, random);
        }
        const Network& network = drawn.network;
        const ExactPoint point = exact_point(network, drawn.x);
        const LocalState state = evaluate(network, drawn.x);
        REQUIRE(point.pattern == state.pattern);
        REQUIRE(canonical_relu_gap(point).sign() == 0);
        const Enclosure exact = enclose_value(point, fine), coarse = enclose_value(point, 24);
        REQUIRE(!(coarse.lower > exact.lower));
        REQUIRE(!(coarse.upper < exact.upper));
        const Ball ball = value_ball(network, drawn.x);
        REQUIRE(ball.contains(exact.lower));
        REQUIRE(ball.contains(exact.upper));

        // A ξ that is wrong by 1e-3 becomes feasible, and proves f(x) to be in [Ψ, Ψ + gap].
        Multipliers xi = canonical_selector(network, state);
        for (auto* blocks : {&xi.nu, &xi.p, &xi.r})
            for (Vector& block : *blocks)
                block += random_vector(block.size(), random, round % 2 == 0 ? 1e-3 : 1e-17);
        const Multipliers repaired = repair_exactly(network, xi);
        REQUIRE(exactly_feasible(network, repaired));
        const Enclosure psi = enclose_psi(network, drawn.x, repaired, 64);
        REQUIRE(!(psi.lower > exact.upper));
        const Ball gap = ball - psi_ball(network, drawn.x, repaired);
        REQUIRE(gap.contains(exact.upper - enclose_psi(network, drawn.x, repaired, fine).lower));
        const Multipliers again = repair_exactly(network, repaired);
        for (std::size_t l = 0; l < again.nu.size(); ++l)
            REQUIRE(again.nu[l] == repaired.nu[l]);
    }
}

TEST_CASE("exact closed forms agree with those in doubles on the paper's second network") {
    const auto [network, points] = paper_data(2);
    const Curvature curvature(network);
    const ExactCurvature exact_curvature(network);
    for (Index j = 0; j < 10; ++j) {
        const LocalState state = evaluate(network, points.col(j));
        const ExactPoint point = exact_point(network, points.col(j));
        const Vector gradient = readout(network, canonical_selector(network, state));
        const auto slope = enclose_subgradient(point, 64);
        for (Index k = 0; k < gradient.size(); ++k)
            CHECK(slope[static_cast<std::size_t>(k)].lower.to_double() == doctest::Approx(gradient(k)).epsilon(1e-12));
        const BranchRadius radius = curvature.branch_radius(state);
        const ExactBranch branch = enclose_branch(point, 64);
        REQUIRE(branch.unit.has_value());
        CHECK(*branch.unit == std::pair{radius.layer, radius.unit});
        CHECK(branch.relu.lower.to_double() == doctest::Approx(radius.relu).epsilon(1e-12));
        CHECK(branch.conic.upper.to_double() <= radius.conic * (1 + 1e-12));  // ‖A‖_F ≥ ‖A‖₂
        const Matrix hessian = curvature.hessian(state);
        const auto triangle = exact_curvature.enclose_hessian(point, 64);
        for (Index i = 0; i < hessian.rows(); ++i)
            for (Index k = i; k < hessian.cols(); ++k)
                CHECK(triangle[static_cast<std::size_t>(i)][static_cast<std::size_t>(k - i)].lower.to_double() ==
                      doctest::Approx(hessian(i, k)).epsilon(1e-10));
    }
}
