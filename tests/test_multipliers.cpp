// Theorem 1, Proposition 1 and Corollary 1: Ψ, G, the canonical selector.
#include <doctest/doctest.h>

#include "geometry/autodiff.hpp"
#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// Every vertex of K_ν: each ν at 0 or at ub(ν), by the bits of `mask`.
std::vector<Vector> vertex(const Network& network, Index mask) {
    std::vector<Index> first(network.layers.size(), 0);
    for (std::size_t l = 1; l < first.size(); ++l)
        first[l] = first[l - 1] + network.layers[l - 1].units();
    return select_backward(network,
                           [&](std::size_t l, Index i, double ub) { return (mask >> (first[l] + i)) & 1 ? ub : 0.0; });
}

bool same_nu(const Multipliers& left, const Multipliers& right) { return left.nu == right.nu; }

}  // namespace

TEST_CASE("multipliers: Experiment 3's network at (1, 2) and at its degenerate point, by hand") {
    const Network network = read_network(CERTICONE_DATA_DIR "/paper/exp3.network.json");
    constexpr double eps = std::numeric_limits<double>::epsilon();
    const Vector x = vector({1.0, 2.0});
    const LocalState state = evaluate(network, x);
    const Multipliers xi = canonical_selector(network, state);
    // a = (1.6, 2.1, −0.1), q = (0.5, 1), u = x. Numbers below 4: a handful of roundings of at most 2 eps each.
    CHECK(xi.nu[0] == vector({1.2, 0.8, 0.0}));
    CHECK((xi.p[0] - vector({0.35, 0.7})).norm() < 8 * eps);
    CHECK((xi.r[0] - 1.3 / std::sqrt(5.0) * x).norm() < 8 * eps);
    CHECK((readout(network, xi) - (vector({1.26, 1.24}) + 1.3 / std::sqrt(5.0) * x)).norm() < 16 * eps);
    CHECK(std::abs(psi(network, x, xi) - (3.7375 + 1.3 * std::sqrt(5.0))) < 32 * eps);
    // b0 + ν·b + pᵀe − ‖p‖²/(2α) + rᵀd = 0.4 + (0.105 − 0.07) − 0.6125/1.4.
    CHECK(std::abs(support_offset(network, xi) - (0.4 + 0.035 - 0.4375)) < 8 * eps);
    CHECK(squared_norm(xi) == doctest::Approx(1.44 + 0.64 + 0.6125 + 1.69).epsilon(1e-15));

    const LocalState kink = evaluate(network, Vector::Zero(2));  // a = (0, 0.5, −0.4), u = 0
    CHECK(kink.pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{0, 0}});
    const Multipliers canonical = canonical_selector(network, kink);
    CHECK(canonical.nu[0] == vector({0.0, 0.8, 0.0}));
    CHECK(canonical.r[0] == vector({0.0, 0.0}));
    // v + 0.8·W₁ + 0.7·Bᵀe, Bᵀe = (0.18 − 0.01, −0.06 − 0.05)
    CHECK((readout(network, canonical) - vector({0.1 - 0.32 + 0.119, -0.2 + 0.8 - 0.077})).norm() < 8 * eps);
}

TEST_CASE("multipliers: f is the largest Ψ over all vertices of K_ν, and ν̂ the smallest maximiser, exactly") {
    Random random(30);
    int ties = 0;
    for (int round = 0; round < 200; ++round) {
        Shape shape = random_shape(random, 3);
        shape.widths.resize(std::min<std::size_t>(shape.widths.size(), 3));
        shape.quadratic.clear();
        shape.conic.clear();
        const auto [network, x] = degenerate_network(shape, random);
        // Half of the rounds leave the kinks; everything stays a small dyadic, so == is meant.
        const Vector point = round % 2 == 0 ? x : Vector(x + random_quarters(x.size(), -1.0, 1.0, random));
        const LocalState state = evaluate(network, point);
        const Multipliers canonical = canonical_selector(network, state);
        REQUIRE(psi(network, point, canonical) == state.value);
        double best = -std::numeric_limits<double>::infinity(), least = best;
        Multipliers xi = zero_multipliers(network), winner;
        for (Index mask = 0; mask < Index{1} << total_units(network); ++mask) {
            xi.nu = vertex(network, mask);
            const double candidate = psi(network, point, xi);
            const double size = squared_norm(xi);
            ties += candidate == best && !same_nu(xi, winner);
            if (candidate > best || (candidate == best && size < least)) {
                best = candidate;
                least = size;
                winner = xi;
            }
        }
        REQUIRE(best == state.value);
        REQUIRE(same_nu(winner, canonical));
    }
    CHECK(ties > 100);  // D*(x) was often more than one point
}

TEST_CASE("multipliers: the canonical selector has the least norm of D*(x), elementwise in ν") {
    Random random(31);
    for (int round = 0; round < 300; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        const LocalState state = evaluate(network, x);
        const Multipliers canonical = canonical_selector(network, state);
        for (int draw = 0; draw < 10; ++draw) {
            const Multipliers xi = random_optimal(network, state, random);
            for (std::size_t l = 0; l < xi.nu.size(); ++l)
                REQUIRE((canonical.nu[l].array() <= xi.nu[l].array()).all());  // sums of U ≥ 0 round monotonically
            for (std::size_t h = 0; h < xi.p.size(); ++h)
                REQUIRE(canonical.p[h] == xi.p[h]);
            for (std::size_t g = 0; g < xi.r.size(); ++g) {
                const bool zero = state.pattern.conic_zero[g];
                REQUIRE(canonical.r[g] == (zero ? Vector(Vector::Zero(xi.r[g].size())) : xi.r[g]));
            }
            REQUIRE(squared_norm(canonical) <= squared_norm(xi));
            // Unique: another element of D*(x) is strictly longer.
            bool same = canonical.nu == xi.nu && canonical.r == xi.r;
            REQUIRE((same || squared_norm(canonical) < squared_norm(xi)));
        }
    }
}

TEST_CASE("multipliers: the canonical readout is the gradient, by automatic differentiation") {
    Random random(32);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 100; ++round)
        networks.push_back(random_network(random_shape(random, 12), random));
    for (const Network& network : networks)
        for (int draw = 0; draw < 5; ++draw) {
            const LocalState state = evaluate(network, random_vector(network.input_dim, random));
            const Multipliers xi = canonical_selector(network, state);
            const Vector error = (readout(network, xi) - autodiff_gradient(network, state.x)).cwiseAbs();
            const Vector bound = gradient_bound(network, state);
            INFO(network.name, ": error ", error.transpose(), ", bound ", bound.transpose());
            REQUIRE((error.array() <= bound.array()).all());
            // Strong duality, Theorem 1.
            const double sizes = value_size(network, state.x) + psi_size(network, state.x, xi);
            REQUIRE(std::abs(psi(network, state.x, xi) - state.value) <= chain_error(network) * sizes);
        }
}

TEST_CASE("multipliers: every optimal ξ supports f from below and touches it at x") {
    Random random(33);
    for (int round = 0; round < 200; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        const LocalState state = evaluate(network, x);
        const double unit = chain_error(network);
        for (int draw = 0; draw < 5; ++draw) {
            const Multipliers xi = random_optimal(network, state, random);
            REQUIRE(std::abs(psi(network, x, xi) - state.value) <=
                    unit * (value_size(network, x) + psi_size(network, x, xi)));
            const AffineSupport support = affine_support(network, xi);
            for (int other = 0; other < 5; ++other) {
                const Vector y = x + random_vector(x.size(), random, other < 2 ? 1e-3 : 2.0);
                const double size = psi_size(network, y, xi);
                REQUIRE(value<double>(network, y) >= psi(network, y, xi) - unit * (value_size(network, y) + size));
                REQUIRE(std::abs(support(y) - psi(network, y, xi)) <= 2.0 * unit * size);
                REQUIRE(support.slope == readout(network, xi));
            }
        }
    }
}

TEST_CASE("multipliers: weak duality for every feasible ξ") {
    Random random(34);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 100; ++round)
        networks.push_back(random_network(random_shape(random), random));
    for (const Network& network : networks)
        for (int draw = 0; draw < 5; ++draw) {
            const LocalState state = evaluate(network, random_vector(network.input_dim, random));
            const Multipliers xi = random_feasible(network, state, random);
            INFO(network.name);
            const double sizes = value_size(network, state.x) + psi_size(network, state.x, xi);
            REQUIRE(psi(network, state.x, xi) <= state.value + chain_error(network) * sizes);
        }
}
