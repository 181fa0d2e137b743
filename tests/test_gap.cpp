// The gap identity (design §2): f(x) − Ψ(x; ξ) is a sum of nonnegative terms, one a unit and module, and each bounds
// how far its multiplier is from D*(x).
#include <doctest/doctest.h>

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// Ψ(x; ξ) without its conic part, in exact arithmetic; α must be a power of two.
Dyadic exact_rational_psi(const Network& network, const Vector& x, const Multipliers& xi) {
    const VectorOf<Dyadic> exact_x = x.cast<Dyadic>();
    Dyadic sum(network.b0);
    for (Index i = 0; i < x.size(); ++i)
        sum += Dyadic(network.v(i)) * exact_x(i);
    for (std::size_t l = 0; l < xi.nu.size(); ++l) {
        const VectorOf<Dyadic> affine_part = affine(network.layers[l].W, exact_x, network.layers[l].b);
        for (Index i = 0; i < affine_part.size(); ++i)
            sum += Dyadic(xi.nu[l](i)) * affine_part(i);
    }
    for (std::size_t h = 0; h < xi.p.size(); ++h) {
        const VectorOf<Dyadic> q = affine(network.quadratic[h].B, exact_x, network.quadratic[h].e);
        const Dyadic half_inverse(0.5 / network.quadratic[h].alpha);
        for (Index i = 0; i < q.size(); ++i) {
            const Dyadic p(xi.p[h](i));
            sum += p * q(i) - p * p * half_inverse;
        }
    }
    return sum;
}

std::vector<Network> test_networks(Random& random) {
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 100; ++round)
        networks.push_back(random_network(random_shape(random, 8), random));
    return networks;
}

}  // namespace

TEST_CASE("gap: one unit and one module of each kind, by hand") {
    Network network;
    network.input_dim = 1;
    network.layers = {{vector({1.0, -1.0}), {}, vector({0.0, 0.0})}};
    network.c = vector({2.0, 4.0});
    network.v = vector({0.0});
    network.quadratic = {{2.0, vector({1.0}), vector({0.0})}};
    network.conic = {{0.5, vector({3.0, 4.0}), vector({0.0, 0.0})}};
    const LocalState state = evaluate(network, vector({1.0}));  // a = (1, −1), q = 1, u = (3, 4)
    Multipliers xi{{vector({0.5, 1.0})}, {vector({3.0})}, {vector({0.25, 0.0})}};
    const Gap gap = duality_gap(network, state, xi);
    CHECK(gap.relu[0] == vector({1.5, 1.0}));                     // (2 − 0.5)·1 and 1·|−1|
    CHECK(gap.quadratic == vector({0.25}));                       // (3 − 2)²/4
    CHECK(gap.conic(0) == doctest::Approx(1.75).epsilon(1e-15));  // 0.5·5 − 0.25·3
    CHECK(gap.total == doctest::Approx(4.5).epsilon(1e-15));
    CHECK(psi(network, state.x, xi) == 0.5 - 1.0 + 3.0 - 2.25 + 0.75);
    CHECK(state.value - psi(network, state.x, xi) == 4.5);  // f = 2 + 1 + 2.5

    const DistanceBound bound = distance_bound(network, state, gap);
    CHECK((bound.nu[0] - vector({1.5, 1.0})).norm() <= 1e-14);
    CHECK(bound.p(0) == doctest::Approx(1.0).epsilon(1e-14));  // √(2·2·0.25) = |3 − 2|
    CHECK(bound.r(0) == doctest::Approx(std::sqrt(2.0 * 0.5 * 1.75 / 5.0)).epsilon(1e-14));
    CHECK((xi.r[0] - vector({0.3, 0.4})).norm() <= bound.r(0));

    xi.nu[0] = vector({3.0, -1.0});  // infeasible: the terms say so by their sign
    CHECK(duality_gap(network, state, xi).relu[0] == vector({-1.0, -1.0}));
}

TEST_CASE("gap: the identity holds exactly on dyadic networks") {
    Random random(40);
    int positive = 0;
    for (int round = 0; round < 400; ++round) {
        auto [network, x] = degenerate_network(random_shape(random), random);
        network.conic.clear();
        const Vector point = round % 2 == 0 ? x : Vector(x + random_quarters(x.size(), -1.0, 1.0, random));
        const LocalState state = evaluate(network, point);
        const Multipliers xi = random_feasible(network, state, random, true);
        const Gap gap = duality_gap(network, state, xi);
        // All of these doubles are exact, so the sum of the terms is f − Ψ to the last bit.
        Dyadic sum;
        for (const Vector& terms : gap.relu)
            for (const double term : terms) {
                REQUIRE(term >= 0.0);
                sum += Dyadic(term);
                positive += term > 0.0;
            }
        for (const double term : gap.quadratic) {
            REQUIRE(term >= 0.0);
            sum += Dyadic(term);
        }
        const VectorOf<Dyadic> exact_x = point.cast<Dyadic>();
        const Dyadic f = rational_value(network, exact_x, forward(network, exact_x));
        REQUIRE(sum == f - exact_rational_psi(network, point, xi));
        REQUIRE(gap.total == sum.to_double());
    }
    CHECK(positive > 1000);
}

TEST_CASE("gap: the terms sum to f − Ψ, are nonnegative, and vanish on D*(x)") {
    Random random(41);
    for (const Network& network : test_networks(random))
        for (int draw = 0; draw < 5; ++draw) {
            const LocalState state = evaluate(network, random_vector(network.input_dim, random));
            INFO(network.name);
            const double unit = chain_error(network);
            const Multipliers xi = random_feasible(network, state, random);
            const Gap gap = duality_gap(network, state, xi);
            const double sizes = value_size(network, state.x) + psi_size(network, state.x, xi);
            REQUIRE(std::abs(gap.total - (state.value - psi(network, state.x, xi))) <= 2.0 * unit * sizes);
            double total = gap.quadratic.sum() + gap.conic.sum();
            for (const Vector& terms : gap.relu) {
                REQUIRE((terms.array() >= 0.0).all());
                total += terms.sum();
            }
            REQUIRE((gap.quadratic.array() >= 0.0).all());
            REQUIRE((gap.conic.array() >= 0.0).all());
            REQUIRE(std::abs(total - gap.total) <= unit * gap.total);

            // On D*(x) no term is left, but for a conic one where ‖r‖ = λ only up to rounding.
            const Gap optimal = duality_gap(network, state, random_optimal(network, state, random));
            for (const Vector& terms : optimal.relu)
                REQUIRE(terms.isZero(0.0));
            REQUIRE(optimal.quadratic.isZero(0.0));
            for (Index g = 0; g < optimal.conic.size(); ++g)
                REQUIRE(std::abs(optimal.conic(g)) <=
                        unit * network.conic[static_cast<std::size_t>(g)].lambda * state.conic_norm(g));
        }
}

TEST_CASE("gap: conic terms do not cancel near the optimum, where λ‖u‖ − rᵀu does") {
    // r at an angle φ on the sphere: the term is λ‖u‖(1 − cos φ) ≈ λ‖u‖φ²/2, far below eps·λ‖u‖ for φ = 1e-9.
    Network network;
    network.input_dim = 1;
    network.layers = {{vector({0.0}), {}, vector({1.0})}};
    network.c = vector({0.0});
    network.v = vector({0.0});
    network.conic = {{1.0, vector({1.0, 0.0}), vector({0.0, 0.0})}};
    const LocalState state = evaluate(network, vector({4.0}));
    for (const double angle : {1e-3, 1e-5, 1e-7}) {
        const Multipliers xi{{vector({0.0})}, {}, {vector({std::cos(angle), std::sin(angle)})}};
        const Gap gap = duality_gap(network, state, xi);
        // ‖r‖ = 1 up to eps, which the term λ² − ‖r‖² sees as it should.
        CHECK(std::abs(gap.conic(0) - 4.0 * 2.0 * std::pow(std::sin(angle / 2.0), 2)) <= 8.0 * 2.3e-16);
        CHECK((xi.r[0] - vector({1.0, 0.0})).norm() <= distance_bound(network, state, gap).r(0) + std::sqrt(4.5e-16));
    }
    const Multipliers inside{{vector({0.0})}, {}, {vector({1.0, 0.0}) * (1.0 - std::ldexp(1.0, -50))}};
    CHECK(duality_gap(network, state, inside).conic(0) == doctest::Approx(4.0 * std::ldexp(1.0, -50)).epsilon(1e-14));
}

TEST_CASE("gap: the distance bound holds against repair_to_optimal, with equality in p") {
    Random random(42);
    const auto check = [&](const Network& network, const LocalState& state) {
        const Multipliers xi = random_feasible(network, state, random);
        const Gap gap = duality_gap(network, state, xi);
        const DistanceBound bound = distance_bound(network, state, gap);
        const Multipliers repaired = repair_to_optimal(network, state, xi);
        // Both sides are sums of at most a chain of nonnegative terms: relative slack of one chain, and the size of ν.
        const double unit = chain_error(network);
        const std::vector<Vector> box = select_backward(network, [](std::size_t, Index, double ub) { return ub; });
        for (std::size_t l = 0; l < xi.nu.size(); ++l) {
            const Vector moved = (xi.nu[l] - repaired.nu[l]).cwiseAbs();
            REQUIRE((moved.array() <= (1.0 + unit) * bound.nu[l].array() + unit * box[l].array()).all());
        }
        for (std::size_t h = 0; h < xi.p.size(); ++h) {
            const double moved = (xi.p[h] - repaired.p[h]).norm();
            REQUIRE(std::abs(moved - bound.p(static_cast<Index>(h))) <= unit * moved);
        }
        for (std::size_t g = 0; g < xi.r.size(); ++g) {
            const double moved = (xi.r[g] - repaired.r[g]).norm();
            REQUIRE(moved <= (1.0 + unit) * bound.r(static_cast<Index>(g)) + unit * network.conic[g].lambda);
        }
    };
    for (const Network& network : test_networks(random))
        for (int draw = 0; draw < 5; ++draw) {
            INFO(network.name);
            check(network, evaluate(network, random_vector(network.input_dim, random)));
        }
    for (int round = 0; round < 300; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        check(network, evaluate(network, x));
    }
}

TEST_CASE("gap: the bound on ν is attained in the top layer and inherited through U below") {
    // Two layers of one unit, U = 3, c = 2; a₀ = 4 > 0 and a₁ = 2 > 0: ν̂ = (6, 2).
    Network network;
    network.input_dim = 1;
    network.layers = {{vector({4.0}), {}, vector({0.0})}, {vector({0.0}), vector({3.0}), vector({-10.0})}};
    network.c = vector({2.0});
    network.v = vector({0.0});
    const LocalState state = evaluate(network, vector({1.0}));
    const Multipliers xi{{vector({2.0}), vector({1.5})}, {}, {}};  // ub₀(ν) = 4.5
    const Gap gap = duality_gap(network, state, xi);
    CHECK(gap.relu[1] == vector({0.5 * 2.0}));
    CHECK(gap.relu[0] == vector({2.5 * 4.0}));
    const DistanceBound bound = distance_bound(network, state, gap);
    CHECK(bound.nu[1](0) == doctest::Approx(0.5).epsilon(1e-14));        // = |1.5 − 2|
    CHECK(bound.nu[0](0) == doctest::Approx(2.5 + 1.5).epsilon(1e-14));  // = |2 − 6|: own 2.5 and 3·0.5 from above
    CHECK(repair_to_optimal(network, state, xi).nu[0] == vector({6.0}));
}
