#include <doctest/doctest.h>

#include "file_helpers.hpp"
#include "geometry/multipliers.hpp"
#include "random_networks.hpp"
#include "support/dyadic.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

Matrix row(std::initializer_list<double> entries) { return vector(entries).transpose(); }

/// A network of one layer; c = 1, v = 0.
Network one_layer(Matrix W, Vector b) {
    Network network;
    network.input_dim = W.cols();
    network.c = Vector::Ones(W.rows());
    network.v = Vector::Zero(W.cols());
    network.layers = {{std::move(W), {}, std::move(b)}};
    return network;
}

int sign_of(double value) { return (value > 0.0) - (value < 0.0); }

// What doubles make of it, in the order written; volatile keeps the compiler from folding it in another precision.
double naive(double a, double b, double c) {
    volatile double sum = a + b;
    return sum + c;
}

const double third_rounded_up = naive(0.1, 0.2, 0.0);  // 0.30000000000000004

}  // namespace

TEST_CASE("local state: signs are those of the exact numbers where doubles mislead") {
    const Vector x = vector({0.1, 0.2});
    SUBCASE("exact a < 0, doubles say 0") {
        // 0.1 + 0.2 lies 2⁻⁵⁵ below its rounding.
        REQUIRE(naive(0.1, 0.2, -third_rounded_up) == 0.0);
        const LocalState state = evaluate(one_layer(row({1.0, 1.0}), vector({-third_rounded_up})), x);
        CHECK(state.pattern.sign[0](0) == -1);
        CHECK(state.trace.a[0](0) == -std::ldexp(1.0, -55));
        CHECK(state.trace.z[0](0) == 0.0);
        CHECK(state.decided_exactly == 1);
        CHECK(state.pattern.nondegenerate());
    }
    SUBCASE("exact a > 0, half of what doubles say") {
        REQUIRE(naive(0.1, 0.2, -0.3) == std::ldexp(1.0, -54));
        const LocalState state = evaluate(one_layer(row({1.0, 1.0}), vector({-0.3})), x);
        CHECK(state.pattern.sign[0](0) == 1);
        CHECK(state.trace.z[0](0) == std::ldexp(1.0, -55));
        CHECK(state.value == std::ldexp(1.0, -55));
    }
    SUBCASE("exact a = 0, doubles say not") {
        REQUIRE(naive(3.0 * 0.1, -0.1, -0.2) != 0.0);  // 3·0.1 is rounded; 0.2 is twice 0.1
        const LocalState state = evaluate(one_layer(row({3.0, -1.0, -1.0}), vector({0.0})), vector({0.1, 0.1, 0.2}));
        CHECK(state.pattern.sign[0](0) == 0);
        CHECK(state.trace.a[0](0) == 0.0);
        CHECK(state.trace.z[0](0) == 0.0);
        CHECK(state.pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{0, 0}});
        CHECK_FALSE(state.pattern.nondegenerate());
    }
    SUBCASE("exact a > 0, doubles say < 0") {
        // (1 + 2⁻⁵²)(1 + 2⁻⁵²) − (1 + 2⁻⁵¹) = 2⁻¹⁰⁴, and the product is rounded down; −2⁻¹²⁰ is then lost or decisive.
        const double up = 1.0 + std::ldexp(1.0, -52);
        const Network network = one_layer(row({up, -1.0, -1.0}), vector({0.0}));
        const double product = up * up;
        REQUIRE(naive(product, -(1.0 + std::ldexp(1.0, -51)), -std::ldexp(1.0, -120)) < 0.0);
        const LocalState state = evaluate(network, vector({up, 1.0 + std::ldexp(1.0, -51), std::ldexp(1.0, -120)}));
        CHECK(state.pattern.sign[0](0) == 1);
        CHECK(state.trace.a[0](0) == std::ldexp(1.0, -104) - std::ldexp(1.0, -120));
    }
}

TEST_CASE("local state: exact signs in the second layer, through U") {
    // The first layer passes x on: z = x = (0.1, 0.2).
    Network network;
    network.input_dim = 2;
    network.c = Vector::Ones(3);
    network.v = Vector::Zero(2);
    network.layers = {
        {Matrix::Identity(2, 2), {}, Vector::Zero(2)},
        {(Matrix(3, 2) << 0.0, 0.0, 0.0, 0.0, -1.0, -1.0).finished(),
         (Matrix(3, 2) << 1.0, 1.0, 1.0, 1.0, 3.0, 0.0).finished(), vector({-third_rounded_up, -0.3, 0.0})}};
    const LocalState state = evaluate(network, vector({0.1, 0.2}));
    CHECK(state.pattern.sign[1](0) == -1);
    CHECK(state.pattern.sign[1](1) == 1);
    CHECK(state.pattern.sign[1](2) == 0);
    CHECK(state.trace.a[1] == vector({-std::ldexp(1.0, -55), std::ldexp(1.0, -55), 0.0}));
    CHECK(state.value == std::ldexp(1.0, -55));
    CHECK(state.pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{1, 2}});
}

TEST_CASE("local state: conic residuals vanish exactly or not at all") {
    Network network = one_layer(Matrix::Identity(3, 3), Vector::Ones(3));
    network.conic = {{2.0, row({3.0, -1.0, -1.0}), vector({0.0})},
                     {2.0, row({1.0, 0.0, 1.0}), vector({-third_rounded_up})},
                     {2.0, (Matrix(2, 3) << 3.0, -1.0, -1.0, 1.0, 0.0, 1.0).finished(), vector({0.0, -0.3})}};
    const LocalState state = evaluate(network, vector({0.1, 0.1, 0.2}));
    CHECK(state.pattern.conic_zero == std::vector<bool>{true, false, false});
    CHECK(state.pattern.degenerate_modules() == std::vector<Index>{0});
    CHECK(state.conic_norm == vector({0.0, std::ldexp(1.0, -55), std::ldexp(1.0, -55)}));
    const Multipliers xi = canonical_selector(network, state);
    CHECK(xi.r[0] == vector({0.0}));
    CHECK(xi.r[1] == vector({-2.0}));
    CHECK(xi.r[2] == vector({0.0, 2.0}));
}

TEST_CASE("local state: a residue that underflows a double still has its sign") {
    const double small = std::ldexp(1.0, -600);  // the square of it is 2⁻¹²⁰⁰
    Network network = one_layer((Matrix(2, 1) << small, -small).finished(), vector({0.0, 0.0}));
    network.conic = {{1.0, row({small}), vector({0.0})}};
    const LocalState state = evaluate(network, vector({small}));
    CHECK(state.pattern.sign[0](0) == 1);
    CHECK(state.pattern.sign[0](1) == -1);
    CHECK(state.trace.a[0](0) == std::numeric_limits<double>::denorm_min());
    CHECK_FALSE(state.pattern.conic_zero[0]);
}

TEST_CASE("local state: the pattern is that of exact arithmetic on thousands of nearly degenerate networks") {
    Random random(20);
    int units = 0, misled = 0, zeros = 0, modules = 0;
    for (int round = 0; round < 3000; ++round) {
        Shape shape = random_shape(random, 4);
        shape.quadratic.clear();
        Network network = random_network(shape, random);
        Vector x = random_vector(shape.input_dim, random);
        if (round % 2 == 0) {  // coarse numbers: their sums of products are often exact, and zeros exact zeros
            const auto coarse = [](double value) { return std::ldexp(std::round(std::ldexp(value, 12)), -12); };
            x = x.unaryExpr(coarse);
            for (Layer& layer : network.layers) {
                layer.W = layer.W.unaryExpr(coarse);
                if (layer.U.size() > 0) layer.U = layer.U.unaryExpr(coarse);
                layer.b = layer.b.unaryExpr(coarse);
            }
            for (Conic& module : network.conic)
                module.A = module.A.unaryExpr(coarse);
        }
        // b := −(Wx + Uz) as doubles compute it, as it is or moved by one ulp; d := −(Ax) likewise.
        const auto nudged = [&](double value) {
            const Index step = random_index(-1, 1, random);
            const double infinity = std::numeric_limits<double>::infinity();
            return step == 0 ? value : std::nextafter(value, step > 0 ? infinity : -infinity);
        };
        Vector z;
        std::vector<Vector> computed;
        for (Layer& layer : network.layers) {
            Vector rest = layer.W * x;
            if (z.size() > 0) rest += layer.U * z;
            for (Index i = 0; i < rest.size(); ++i)
                if (random_index(0, 2, random) > 0) layer.b(i) = nudged(-rest(i));
            computed.push_back(rest + layer.b);
            z = computed.back().cwiseMax(0.0);
        }
        for (Conic& module : network.conic)
            module.d = (-module.A * x).unaryExpr(nudged);

        const LocalState state = evaluate(network, x);
        const Trace<Dyadic> exact = forward<Dyadic>(network, x.cast<Dyadic>());
        for (std::size_t l = 0; l < exact.a.size(); ++l)
            for (Index i = 0; i < exact.a[l].size(); ++i) {
                const int sign = exact.a[l](i).sign();
                REQUIRE(state.pattern.sign[l](i) == sign);
                REQUIRE(sign_of(state.trace.a[l](i)) == sign);
                REQUIRE(sign_of(state.trace.z[l](i)) == std::max(sign, 0));
                ++units;
                zeros += sign == 0;
                misled += sign_of(computed[l](i)) != sign;
            }
        for (std::size_t g = 0; g < exact.u.size(); ++g) {
            const bool zero = equal(exact.u[g], Vector::Zero(exact.u[g].size()));
            REQUIRE(state.pattern.conic_zero[g] == zero);
            REQUIRE((state.conic_norm(static_cast<Index>(g)) == 0.0) == zero);
            modules += zero;
        }
    }
    // Not vacuous: doubles alone get many signs wrong, and some preactivations and residuals are exactly zero.
    CHECK(misled > units / 20);
    CHECK(zeros > 100);
    CHECK(modules > 10);
}

TEST_CASE("local state: random points need no exact arithmetic, and units without weights never do") {
    Random random(21);
    Index decided = 0;
    for (int round = 0; round < 200; ++round) {
        const Network network = random_network(random_shape(random), random);
        decided += evaluate(network, random_vector(network.input_dim, random)).decided_exactly;
    }
    // A sign is left open within about 50 eps of zero: 10⁻¹⁴ of a density of order one, over a few thousand units.
    CHECK(decided == 0);

    Network network = random_network({.input_dim = 3, .widths = {4, 4}}, random);
    for (Layer& layer : network.layers) {
        layer.W.row(2).setZero();
        layer.b(2) = 0.0;
        if (layer.U.size() > 0) layer.U.row(2).setZero();
    }
    const LocalState state = evaluate(network, vector({0.3, -0.2, 0.7}));
    CHECK(state.pattern.sign[0](2) == 0);
    CHECK(state.pattern.sign[1](2) == 0);
    CHECK(state.decided_exactly == 0);
    CHECK(structurally_zero(network.layers[1], 2));
    network.layers[1].U(2, 2) = 0.5;  // now its zero comes from the layer below, which is not for the eye to see
    CHECK_FALSE(structurally_zero(network.layers[1], 2));
    CHECK(evaluate(network, state.x).pattern.sign[1](2) == 0);
    CHECK(evaluate(network, state.x).decided_exactly == 1);
}

TEST_CASE("local state: the tolerance is the user's, inclusive, and replaces exact arithmetic") {
    Network network = one_layer(Matrix::Identity(3, 3), Vector::Zero(3));
    network.conic = {{1.0, Matrix::Identity(2, 3), Vector::Zero(2)}};
    const Vector x = vector({0.375, -0.5, 1.0});  // ‖u‖ = 0.625
    CHECK(evaluate(network, x).pattern.nondegenerate());
    const LocalState state = evaluate(network, x, 0.5);
    CHECK(state.pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{0, 0}, {0, 1}});
    CHECK(state.pattern.sign[0](2) == 1);
    CHECK(state.pattern.degenerate_modules().empty());
    CHECK(evaluate(network, x, 0.625).pattern.degenerate_modules() == std::vector<Index>{0});
    CHECK(evaluate(network, x, 0.49).pattern.degenerate_units() == std::vector<std::pair<Index, Index>>{{0, 0}});
    const LocalState zero = evaluate(network, Vector::Zero(3), 1e-300);
    CHECK(zero.decided_exactly == 0);
    CHECK(zero.pattern.degenerate_units().size() == 3);
}

TEST_CASE("local state: overflow is an input error that names the place") {
    Random random(22);
    const Shape shape{.input_dim = 2, .widths = {3, 3}, .quadratic = {2, 2}, .conic = {2, 2}};
    const Network network = random_network(shape, random);
    const Vector x = vector({1e10, 1e10});
    const auto message = [&](auto change) {
        Network changed = network;
        change(changed);
        validate(changed);
        return input_error([&] { evaluate(changed, x); });
    };
    CHECK(contains(message([](Network& n) { n.layers[0].W(2, 0) = 1e300; }), "layers[0], unit 2"));
    CHECK(contains(message([](Network& n) { n.layers[1].W(1, 1) = -1e300; }), "layers[1], unit 1"));
    CHECK(contains(message([](Network& n) { n.quadratic[1].B(0, 0) = 1e300; }), "quadratic[1]"));
    CHECK(contains(message([](Network& n) { n.conic[1].A(1, 0) = 1e300; }), "conic[1]"));
    CHECK(contains(message([](Network& n) { n.quadratic[0].B(0, 0) = 1e200; }), "value"));
}
