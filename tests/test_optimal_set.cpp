// Lemma 1 and Proposition 1: membership in D*(x), repair, random elements.
#include <doctest/doctest.h>

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// x = 1: a₀ = (1, −1, 0), z₀ = (1, 0, 0); a₁ = 0.5·1 − 0.25 > 0; ub₁ = 2, ub₀ = 2·U = (1, 2, 4). q = 3, u₀ = 5û, u₁ = 0
struct Example {
    Network network;
    LocalState state;

    Example() {
        network.input_dim = 1;
        network.layers = {{vector({1.0, -1.0, 0.0}), {}, vector({0.0, 0.0, 0.0})},
                          {vector({0.0}), (Matrix(1, 3) << 0.5, 1.0, 2.0).finished(), vector({-0.25})}};
        network.c = vector({2.0});
        network.v = vector({0.0});
        network.quadratic = {{0.5, vector({1.0}), vector({2.0})}};
        network.conic = {{1.0, vector({3.0, 4.0}), vector({0.0, 0.0})},
                         {2.0, vector({1.0, -1.0}), vector({-1.0, 1.0})}};
        state = evaluate(network, vector({1.0}));
    }
    Multipliers member() const {
        return {{vector({1.0, 0.0, 3.0}), vector({2.0})}, {vector({1.5})}, {vector({0.6, 0.8}), vector({0.0, -2.0})}};
    }
};

bool identical(const Multipliers& left, const Multipliers& right) {
    return left.nu == right.nu && left.p == right.p && left.r == right.r;
}

/// ξ with every part moved by noise of relative size `noise`: what a solver returns.
Multipliers disturbed(const Multipliers& xi, double noise, Random& random) {
    Multipliers result = xi;
    for (auto* block : {&result.nu, &result.p, &result.r})
        for (Vector& part : *block)
            part += random_vector(part.size(), random, noise * (1.0 + part.norm()));
    return result;
}

/// ‖r‖ ≤ λ holds for r = λû up to the rounding of k squares and a quotient.
double ball_slack(const Network& network) {
    double slack = 0.0;
    for (const Conic& module : network.conic)
        slack = std::max(
            slack, static_cast<double>(module.d.size() + 4) * std::numeric_limits<double>::epsilon() * module.lambda);
    return slack;
}

}  // namespace

TEST_CASE("optimal set: membership names the worst unit or module and the condition it breaks") {
    const Example example;
    REQUIRE(example.state.pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{0, 2}});
    REQUIRE(example.state.pattern.degenerate_modules() == std::vector<Index>{1});
    const auto violation = [&](auto change) {
        Multipliers xi = example.member();
        change(xi);
        return membership_violation(example.network, example.state, xi);
    };
    const auto check = [](const Violation& found, double amount, const char* where, const char* condition) {
        CHECK(found.amount == doctest::Approx(amount).epsilon(1e-14));
        CHECK(found.where == where);
        CHECK(found.condition == condition);
    };
    CHECK(violation([](Multipliers&) {}).amount <= 4 * std::numeric_limits<double>::epsilon());  // r = û up to rounding
    check(violation([](Multipliers& xi) { xi.nu[0](1) = 0.5; }), 0.5, "nu[0][1]", "nu = 0 as a < 0");
    check(violation([](Multipliers& xi) { xi.nu[0](0) = 0.75; }), 0.25, "nu[0][0]", "nu = ub(nu) as a > 0");
    check(violation([](Multipliers& xi) { xi.nu[0](2) = 4.5; }), 0.5, "nu[0][2]", "nu <= ub(nu)");
    check(violation([](Multipliers& xi) { xi.nu[0](2) = -0.5; }), 0.5, "nu[0][2]", "nu >= 0");
    // The top layer below c moves ub of the layer below: ub₀ = (0.75, 1.5, 3), so ν₀₀ = 1 is 0.25 too large.
    check(violation([](Multipliers& xi) { xi.nu[1](0) = 1.5; }), 0.5, "nu[1][0]", "nu = ub(nu) as a > 0");
    check(violation([](Multipliers& xi) { xi.p[0](0) = 1.0; }), 0.5, "p[0]", "p = alpha q");
    check(violation([](Multipliers& xi) { xi.r[0] = vector({0.6, 0.3}); }), 0.5, "r[0]", "r = lambda u/|u|");
    check(violation([](Multipliers& xi) { xi.r[1] = vector({3.0, -4.0}); }), 3.0, "r[1]", "|r| <= lambda");
    check(violation([](Multipliers& xi) {
              xi.nu[0](1) = 0.5;
              xi.p[0](0) = 1.25;
          }),
          0.5, "nu[0][1]", "nu = 0 as a < 0");
    const Violation nan = violation([](Multipliers& xi) { xi.nu[0](2) = std::nan(""); });
    CHECK(nan.where == "nu[0][2]");
    CHECK(nan.amount == std::numeric_limits<double>::infinity());
    CHECK(feasibility_violation(example.network, zero_multipliers(example.network)).amount == 0.0);
}

TEST_CASE("optimal set: repair by hand") {
    const Example example;
    Multipliers xi{
        {vector({3.0, 0.5, 5.0}), vector({-1.0})}, {vector({7.0})}, {vector({0.0, 0.5}), vector({3.0, -4.0})}};
    const Multipliers feasible = repair_to_feasible(example.network, xi);
    CHECK(feasible.nu[1] == vector({0.0}));
    CHECK(feasible.nu[0] == vector({0.0, 0.0, 0.0}));  // ub₀ = 0
    CHECK(feasible.p[0] == vector({7.0}));
    CHECK(feasible.r[0] == vector({0.0, 0.5}));
    CHECK((feasible.r[1] - vector({1.2, -1.6})).norm() <= 4 * std::numeric_limits<double>::epsilon());
    CHECK(norm<double>(feasible.r[1]) <= 2.0);
    const Multipliers optimal = repair_to_optimal(example.network, example.state, xi);
    CHECK(optimal.nu[1] == vector({2.0}));
    CHECK(optimal.nu[0] == vector({1.0, 0.0, 4.0}));  // 5 is clipped to ub = 4
    CHECK(optimal.p[0] == vector({1.5}));
    CHECK((optimal.r[0] - vector({0.6, 0.8})).norm() <= 4 * std::numeric_limits<double>::epsilon());
    CHECK(norm<double>(optimal.r[1]) <= 2.0);
}

TEST_CASE("optimal set: random elements are members, and repair leaves members alone") {
    Random random(50);
    int free_units = 0, free_modules = 0;
    const auto check = [&](const Network& network, const LocalState& state) {
        const Multipliers canonical = canonical_selector(network, state);
        REQUIRE(membership_violation(network, state, canonical).amount <= ball_slack(network));
        for (int draw = 0; draw < 5; ++draw) {
            const Multipliers xi = random_optimal(network, state, random);
            const Violation violation = membership_violation(network, state, xi);
            INFO(network.name, ": ", violation.where, ", ", violation.condition);
            REQUIRE(violation.amount <= ball_slack(network));
            REQUIRE(identical(repair_to_optimal(network, state, xi), xi));
            free_units += xi.nu != canonical.nu;
            free_modules += xi.r != canonical.r;
        }
    };
    for (int round = 0; round < 300; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        check(network, evaluate(network, x));
    }
    CHECK(free_units > 500);
    CHECK(free_modules > 500);
    for (const Network& network : ugly_networks(random))
        check(network, evaluate(network, random_vector(network.input_dim, random)));
}

TEST_CASE("optimal set: free multipliers reach both ends of their range and the inside") {
    const Example example;
    Random random(51);
    int at_zero = 0, at_bound = 0, inside = 0, on_sphere = 0;
    for (int draw = 0; draw < 400; ++draw) {
        const Multipliers xi = random_optimal(example.network, example.state, random);
        at_zero += xi.nu[0](2) == 0.0;
        at_bound += xi.nu[0](2) == 4.0;
        inside += xi.nu[0](2) > 0.0 && xi.nu[0](2) < 4.0;
        on_sphere += norm<double>(xi.r[1]) > 2.0 - 1e-12;
    }
    // Expected 50, 50, 300 and 100 of 400, with standard deviations below 10: five of them.
    CHECK(std::abs(at_zero - 50) < 50);
    CHECK(std::abs(at_bound - 50) < 50);
    CHECK(std::abs(inside - 300) < 50);
    CHECK(std::abs(on_sphere - 100) < 50);
}

TEST_CASE("optimal set: repair makes feasible and optimal what is neither, and changes nothing feasible") {
    Random random(52);
    const auto check = [&](const Network& network, const LocalState& state) {
        INFO(network.name);
        const Multipliers feasible = random_feasible(network, state, random);
        REQUIRE(identical(repair_to_feasible(network, feasible), feasible));
        for (const double noise : {1e-9, 1e-1, 1e3}) {
            const Multipliers xi = disturbed(feasible, noise, random);
            const Multipliers repaired = repair_to_feasible(network, xi);
            REQUIRE(feasibility_violation(network, repaired).amount == 0.0);
            REQUIRE(repaired.p == xi.p);
            REQUIRE(membership_violation(network, state, repair_to_optimal(network, state, xi)).amount <=
                    ball_slack(network));
            for (const Vector& terms : duality_gap(network, state, repaired).relu)
                REQUIRE((terms.array() >= 0.0).all());
        }
    };
    for (const Network& network : ugly_networks(random))
        check(network, evaluate(network, random_vector(network.input_dim, random)));
    for (int round = 0; round < 200; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        check(network, evaluate(network, x));
    }
}

TEST_CASE("random elements are the same on every platform: from the generator's bits, worked out elsewhere") {
    // Seed 7 of mt19937_64, uniform numbers of 53 bits, Box–Muller: computed by an independent program.
    Random random(7);
    const Example example;
    const Multipliers xi = random_optimal(example.network, example.state, random);
    CHECK(xi.nu[0](2) == doctest::Approx(4 * 0.9493012028926442).epsilon(1e-14));
    CHECK(xi.r[1](0) == doctest::Approx(1.2420914423268976).epsilon(1e-13));
    CHECK(xi.r[1](1) == doctest::Approx(1.4352876905823164).epsilon(1e-13));
}
