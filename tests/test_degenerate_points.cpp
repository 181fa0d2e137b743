// Exactly degenerate points of networks with arbitrary doubles, by lattice reduction.
#include <doctest/doctest.h>

#include "geometry/degenerate_points.hpp"
#include "geometry/local_state.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("degenerate points: first-layer units vanish exactly, close to where the hyperplanes are") {
    Random random(71);
    for (int trial = 0; trial < 40; ++trial) {
        const Index dim = random_index(5, 9, random);
        Network network = random_network({dim, {6, 4}, {2}, {3}, 0.5}, random);
        if (trial % 4 == 1) network.layers[0].b.setZero();
        if (trial % 4 == 2) network.layers[0].W.row(1) *= 1e-6;
        const Vector x = random_vector(dim, random);
        std::vector<Index> units{1};
        if (trial % 3 == 0 && dim >= 7) units.push_back(4);
        const auto found = degenerate_point(network, x, units, 1e7);
        REQUIRE(found);
        const LocalState state = evaluate(network, *found);
        for (const Index unit : units) {
            CHECK(state.pattern.sign[0](unit) == 0);
            CHECK(state.trace.a[0](unit) == 0.0);
        }
        if (units.size() == 1) {
            // No further than the hyperplane, but for the lattice's own spacing.
            const auto w = network.layers[0].W.row(1);
            const double distance = std::abs(w.dot(x) + network.layers[0].b(1)) / w.norm();
            CHECK((*found - x).norm() <= 1.001 * distance + 1e-3 * (1.0 + distance));
        }
    }
}

TEST_CASE("degenerate points: where there is none, none is claimed") {
    Random random(72);
    Network network = random_network({1, {2}, {}, {}, 0.5}, random);
    const Index first = 0;
    CHECK(!degenerate_point(network, Vector::Zero(1), {&first, 1}));  // one equation, one unknown: as a rule no double
    network = random_network({4, {2}, {}, {}, 0.5}, random);
    network.layers[0].W.row(0).setZero();
    network.layers[0].b(0) = 1.0;
    CHECK(!degenerate_point(network, Vector::Zero(4), {&first, 1}));  // never zero
    network.layers[0].W.row(0) << 2.0, 4.0, 6.0, 8.0;
    network.layers[0].b(0) = 0x1p-1000;
    CHECK(!degenerate_point(network, Vector::Zero(4), {&first, 1}));  // out of reach of the lattice 2^-k
    network.layers[0].b(0) = 1e5;
    CHECK(!degenerate_point(network, Vector::Zero(4), {&first, 1}, 1.0));  // too far away
    const auto found = degenerate_point(network, Vector::Zero(4), {&first, 1}, 1e5);
    REQUIRE(found);
    CHECK(evaluate(network, *found).pattern.sign[0](0) == 0);
}
