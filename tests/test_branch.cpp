// Theorem 3: the local affine–curvature branch, its radius, and the Hessian.
#include <doctest/doctest.h>

#include <Eigen/QR>

#include "geometry/autodiff.hpp"
#include "geometry/branch.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

Network flat(Index input_dim) {
    Network network;
    network.input_dim = input_dim;
    network.layers = {{Matrix::Zero(1, input_dim), {}, vector({1.0})}};
    network.c = vector({1.0});
    network.v = Vector::Zero(input_dim);
    return network;
}

std::vector<Network> test_networks(Random& random, int count) {
    std::vector<Network> networks = ugly_networks(random);
    for (const Index d0 : {7, 13})  // more inputs than automatic differentiation takes at a time
        networks.push_back(
            random_network({.input_dim = d0, .widths = {9, 9}, .quadratic = {d0}, .conic = {5}}, random));
    for (int round = 0; round < count; ++round)
        networks.push_back(random_network(random_shape(random, 8), random));
    return networks;
}

Vector random_direction(Index size, Random& random) { return random_vector(size, random).normalized(); }

bool same_signs(const Pattern& left, const Pattern& right) { return left.sign == right.sign; }

/// Largest entry that rounding can move the Hessian by: Σ α‖B‖² + Σ (λ/‖u‖)‖A‖²(1 + 4·spread/‖u‖), as u is off by up
/// to `spread` = ‖|A||x| + |d|‖ units and enters 1/‖u‖ once and û twice.
double hessian_bound(const Network& network, const LocalState& state) {
    double sum = 0.0;
    for (const Quadratic& module : network.quadratic)
        sum += module.alpha * module.B.squaredNorm();
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        if (module.lambda == 0.0) continue;
        const double size = state.conic_norm(static_cast<Index>(g));
        const double spread = (module.A.cwiseAbs() * state.x.cwiseAbs() + module.d.cwiseAbs()).norm();
        sum += module.lambda / size * module.A.squaredNorm() * (1.0 + 4.0 * spread / size);
    }
    return chain_error(network) * sum;
}

}  // namespace

TEST_CASE("branch: the Hessian of 2‖x‖ + ½‖Bx‖² at (3, 4), by hand") {
    Network network = flat(2);
    network.conic = {{2.0, Matrix::Identity(2, 2), Vector::Zero(2)}};
    const LocalState state = evaluate(network, vector({3, 4}));
    // (λ/‖u‖)(I − uuᵀ/25) = (2/5)·[16 −12; −12 9]/25
    const Matrix norm_part = (Matrix(2, 2) << 16.0, -12.0, -12.0, 9.0).finished() * (2.0 / 125.0);
    CHECK((Curvature(network).hessian(state) - norm_part).norm() <= 4 * eps);
    network.quadratic = {{3.0, (Matrix(1, 2) << 1.0, 2.0).finished(), vector({7})}};
    const Matrix square_part = (Matrix(2, 2) << 3.0, 6.0, 6.0, 12.0).finished();
    CHECK((Curvature(network).hessian(state) - norm_part - square_part).norm() <= 16 * eps);
    CHECK(smallest_eigenvalue((Matrix(2, 2) << 2.0, 1.0, 1.0, 2.0).finished()) == doctest::Approx(1.0).epsilon(1e-15));
    CHECK(smallest_eigenvalue((Matrix(2, 2) << 1.0, 3.0, 3.0, 1.0).finished()) == doctest::Approx(-2.0).epsilon(1e-15));
    CHECK(std::abs(smallest_eigenvalue(norm_part)) <= 4 * eps);
    // A tall A with an offset: u = Ax + d = (3, 4, 12), ‖u‖ = 13.
    network = flat(1);
    network.conic = {{13.0, vector({1, 2, -1}), vector({2, 2, 13})}};
    // (13/13)(6 − (3 + 8 − 12)²/169)
    CHECK(Curvature(network).hessian(evaluate(network, vector({1})))(0, 0) ==
          doctest::Approx(6.0 - 1.0 / 169.0).epsilon(1e-15));
}

TEST_CASE("branch: a module with λ = 0 adds no curvature, even where its residual vanishes") {
    Network network = flat(2);
    network.quadratic = {{1.0, Matrix::Identity(2, 2), Vector::Zero(2)}};
    network.conic = {{0.0, Matrix::Identity(2, 2), Vector::Zero(2)}};
    CHECK(Curvature(network).hessian(evaluate(network, Vector::Zero(2))) == Matrix::Identity(2, 2));
    CHECK(Curvature(network).hessian(evaluate(network, vector({1, 2}))) == Matrix::Identity(2, 2));
}

TEST_CASE("branch: the Hessian equals automatic differentiation and is positive semidefinite") {
    Random random(70);
    for (const Network& network : test_networks(random, 60)) {
        const Curvature curvature(network);
        Matrix reused;
        for (int draw = 0; draw < 3; ++draw) {
            const LocalState state = evaluate(network, random_vector(network.input_dim, random));
            const Matrix hessian = curvature.hessian(state);
            const double bound = hessian_bound(network, state);
            INFO(network.name);
            REQUIRE((hessian - autodiff_hessian(network, state.x)).cwiseAbs().maxCoeff() <= bound);
            REQUIRE(smallest_eigenvalue(hessian) >= -bound);
            curvature.hessian(state, reused);
            REQUIRE(reused == hessian);
        }
    }
}

TEST_CASE("branch: the radius by hand, through one layer and through two") {
    Network network;
    network.input_dim = 2;
    network.layers = {{Matrix{{3.0, 4.0}, {0.0, -2.0}, {0.0, 0.0}}, {}, vector({10, 9, -1e-3})}};
    network.c = Vector::Ones(3);
    network.v = Vector::Zero(2);
    network.conic = {{1.0, Matrix{{2.0, 0.0}, {0.0, 1.0}}, vector({3, 4})}};
    const LocalState state = evaluate(network, Vector::Zero(2));
    // 10/5, 9/2, and a constant unit that never changes; ‖u‖/‖A‖₂ = 5/2
    BranchRadius radius = Curvature(network).branch_radius(state);
    CHECK(radius.relu == 2.0);
    CHECK(radius.layer == 0);
    CHECK(radius.unit == 0);
    CHECK((radius.boundary - vector({-1.2, -1.6})).norm() <= 4 * eps);
    CHECK(radius.conic == doctest::Approx(2.5).epsilon(1e-15));
    CHECK(radius.module == 0);
    CHECK(radius.radius() == radius.relu);

    // On the branch a₁ = x₀ + 2·(3x₀ + 4x₁ + 10) − 19 = 7x₀ + 8x₁ + 1; the inactive third unit does not count.
    network.layers.push_back({Matrix{{1.0, 0.0}}, Matrix{{2.0, 0.0, 5.0}}, vector({-19})});
    network.c = vector({1});
    radius = Curvature(network).branch_radius(evaluate(network, Vector::Zero(2)));
    CHECK(radius.relu == doctest::Approx(1.0 / std::sqrt(113.0)).epsilon(1e-15));
    CHECK(radius.layer == 1);
    CHECK(radius.unit == 0);
    CHECK((radius.boundary + vector({7, 8}) / 113.0).norm() <= 4 * eps);
}

TEST_CASE("branch: radius 0 on a kink, infinite where nothing can change") {
    Network network = flat(2);
    const Curvature constant(network);
    const LocalState state = evaluate(network, vector({1, 2}));
    const BranchRadius none = constant.branch_radius(state);
    CHECK(none.radius() == std::numeric_limits<double>::infinity());
    CHECK(none.layer == -1);
    CHECK(none.module == -1);
    CHECK_FALSE(branch_witness(network, state, none).has_value());

    Random random(71);
    for (int round = 0; round < 50; ++round) {
        auto [kinked, x] = degenerate_network({.input_dim = 3, .widths = {4, 3}}, random);
        kinked.layers[0].W.row(0).setConstant(0.5);
        kinked.layers[0].b(0) = -0.5 * x.sum();
        CHECK(Curvature(kinked).branch_radius(evaluate(kinked, x)).relu == 0.0);
    }
}

TEST_CASE("branch: inside the radius the pattern holds and f is ā·x + b̄ and curved terms; just outside it breaks") {
    Random random(72);
    int witnesses = 0, networks = 0;
    for (const Network& network : test_networks(random, 100)) {
        INFO(network.name);
        const Vector x = random_vector(network.input_dim, random);
        const LocalState state = evaluate(network, x);
        const Curvature curvature(network);
        const BranchRadius radius = curvature.branch_radius(state);
        const AffineSupport branch = relu_branch(network, canonical_selector(network, state));
        const double reach = std::min(radius.radius(), 1e3);  // some radii are huge
        for (int draw = 0; draw < 60; ++draw) {
            const double share = draw < 30 ? 0.999 : std::uniform_real_distribution<double>(0.0, 0.999)(random);
            const LocalState near = evaluate(network, x + share * reach * random_direction(x.size(), random));
            REQUIRE(near.pattern == state.pattern);
            Network curved = network;  // what is left when the ReLU part is ā·x + b̄
            curved.c.setZero();
            curved.v = branch.slope;
            curved.b0 = branch.offset;
            const double sizes = value_size(network, near.x) + value_size(curved, near.x);
            REQUIRE(std::abs(near.value - value<double>(curved, near.x)) <= 2.0 * chain_error(network) * sizes);
        }
        if (radius.layer < 0) continue;
        ++networks;
        // The boundary is where the formula says: short of it the signs hold, past it they do not.
        const Vector step = radius.boundary - x;
        REQUIRE(std::abs(step.norm() - radius.relu) <= 1e-12 * radius.relu + 4 * eps * x.norm());
        REQUIRE(same_signs(evaluate(network, x + 0.999 * step).pattern, state.pattern));
        REQUIRE_FALSE(same_signs(evaluate(network, x + 1.001 * step).pattern, state.pattern));
        const std::optional<Vector> witness = branch_witness(network, state, radius);
        REQUIRE(witness.has_value());
        REQUIRE_FALSE(evaluate(network, *witness).pattern == state.pattern);
        REQUIRE((*witness - x).norm() <= 1.01 * radius.relu);
        ++witnesses;
    }
    CHECK(witnesses == networks);
    CHECK(networks > 90);
}

TEST_CASE("branch: the conic radius keeps every residual away from zero, and is sharp where A allows it") {
    Random random(73);
    for (int round = 0; round < 50; ++round) {
        Network network = flat(3);
        network.conic = {{1.0, random_matrix(3, 3, random), random_vector(3, random)},
                         {1.0, random_matrix(2, 3, random), random_vector(2, random)}};
        const LocalState state = evaluate(network, random_vector(3, random));
        const double radius = Curvature(network).branch_radius(state).conic;
        for (std::size_t g = 0; g < 2; ++g) {
            // The nearest zero of u is at −A⁺u.
            const Vector step = network.conic[g].A.completeOrthogonalDecomposition().solve(-state.trace.u[g]);
            CHECK(step.norm() >= radius * (1.0 - 1e-12));
        }
        network.conic = {{1.0, 2.0 * Matrix::Identity(3, 3), random_vector(3, random)}};
        const LocalState round_state = evaluate(network, state.x);
        const double sharp = Curvature(network).branch_radius(round_state).conic;
        CHECK(std::abs(sharp - 0.5 * round_state.trace.u[0].norm()) <= 8 * eps * sharp);
    }
}

TEST_CASE("branch: a radius far below the spacing of doubles has no witness among them") {
    // a = x₀ + x₁ − 0.30000000000000004 = −2⁻⁵⁵ exactly, and the doubles next to 0.1 and 0.2 are 2⁻⁵⁶ and 2⁻⁵⁵ away.
    Network network = flat(2);
    network.layers = {{(Matrix(1, 2) << 1.0, 1.0).finished(), {}, vector({-(0.1 + 0.2)})}};
    const LocalState state = evaluate(network, vector({0.1, 0.2}));
    const BranchRadius radius = Curvature(network).branch_radius(state);
    CHECK(radius.relu == doctest::Approx(std::ldexp(1.0, -55) / std::sqrt(2.0)).epsilon(1e-15));
    CHECK_FALSE(branch_witness(network, state, radius).has_value());

    // a = (1 + 2⁻⁵²)x − (0.2 + 2⁻⁵⁵) = 0.6·2⁻⁵⁵ at x = 0.2: the next double changes the sign, but is 1.67 radii away.
    network = flat(1);
    network.layers = {{vector({1.0 + std::ldexp(1.0, -52)}), {}, vector({-std::nextafter(0.2, 1.0)})}};
    const LocalState close = evaluate(network, vector({0.2}));
    REQUIRE(evaluate(network, vector({std::nextafter(0.2, 0.0)})).pattern.sign[0](0) == -1);
    const BranchRadius small = Curvature(network).branch_radius(close);
    CHECK(small.relu == doctest::Approx(0.6 * std::ldexp(1.0, -55)).epsilon(1e-14));
    CHECK_FALSE(branch_witness(network, close, small).has_value());
}
