// Double-double numbers against exact ones: every operation within the bound that proofs rest on.
#include <doctest/doctest.h>

#include "network/forward.hpp"
#include "random_networks.hpp"
#include "support/double_double.hpp"
#include "support/dyadic.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

Dyadic exact(const DoubleDouble& x) { return Dyadic(x.high) + Dyadic(x.low); }

/// |computed − exact| as a share of `size`.
double error(const DoubleDouble& computed, const Dyadic& number, double size) {
    return std::abs((exact(computed) - number).to_double()) / size;
}

DoubleDouble random_number(Random& random) {
    const double high = random_vector(1, random)(0) * std::ldexp(1.0, static_cast<int>(random_index(-30, 30, random)));
    return DoubleDouble(high) + DoubleDouble(random_vector(1, random)(0) * high * 0x1p-54);
}

}  // namespace

TEST_CASE("double-double: sums, products, quotients and roots against exact numbers") {
    Random random(7);
    double worst = 0.0;
    for (int trial = 0; trial < 20000; ++trial) {
        DoubleDouble a = random_number(random), b = random_number(random);
        if (trial % 5 == 0) b = DoubleDouble(-a.high) + DoubleDouble(b.high * 0x1p-60);  // cancels
        const double size = magnitude(a) + magnitude(b);
        worst = std::max(worst, error(a + b, exact(a) + exact(b), size));
        worst = std::max(worst, error(a - b, exact(a) - exact(b), size));
        worst = std::max(worst, error(a * b, exact(a) * exact(b), magnitude(a) * magnitude(b)));
        DoubleDouble sum = a;
        sum.add_product(b.high, a);
        worst = std::max(worst, error(sum, exact(a) + Dyadic(b.high) * exact(a), magnitude(a) * (1.0 + magnitude(b))));
        const DoubleDouble quotient = a / b, root = sqrt(abs(a));
        worst = std::max(worst, error(quotient * b, exact(a), magnitude(a)) / 2.0);
        worst = std::max(worst, error(root * root, exact(abs(a)), magnitude(a)) / 3.0);
        CHECK(std::abs((a + b).low) <= 0x1p-53 * std::abs((a + b).high));
    }
    CHECK(worst <= kDoubleDouble);
    MESSAGE("largest error 2^" << std::log2(worst));
}

TEST_CASE("double-double: order, signs, and what a double of it is") {
    const DoubleDouble one(1.0), above = one + DoubleDouble(0x1p-80);
    CHECK(above > one);
    CHECK(-above < -one);
    CHECK(one >= one);
    CHECK_FALSE(above <= one);
    CHECK(above - one == DoubleDouble(0x1p-80));
    CHECK(abs(-above) == above);
    CHECK(above.to_double() == 1.0);
    CHECK(sqrt(DoubleDouble(0.0)) == DoubleDouble(0.0));
    CHECK(relu(DoubleDouble(-0x1p-90)) == DoubleDouble(0.0));
}

TEST_CASE("double-double: the forward pass where doubles cancel") {
    Random random(8);
    for (int trial = 0; trial < 40; ++trial) {
        const PointedNetwork pointed = degenerate_network(random_shape(random), random);
        const Network& network = pointed.network;
        const Vector x = pointed.x + 1e-9 * random_vector(network.input_dim, random);  // beside its kinks
        const Trace<Dyadic> exact_trace = forward<Dyadic>(network, x.cast<Dyadic>());
        const Trace<DoubleDouble> trace = forward<DoubleDouble>(network, x.cast<DoubleDouble>());
        Vector size;
        for (std::size_t l = 0; l < network.layers.size(); ++l) {
            const Layer& layer = network.layers[l];
            Vector next = layer.W.cwiseAbs() * x.cwiseAbs() + layer.b.cwiseAbs();
            if (l > 0) next += layer.U * size;
            size = next;
            for (Index i = 0; i < size.size(); ++i)
                CHECK(error(trace.a[l](i), exact_trace.a[l](i), 1.0) <= 16.0 * kDoubleDouble * size(i));
        }
    }
}

TEST_CASE("double-double: the caller's rounding mode is put aside and put back") {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        {
            const RoundToNearest nearest;
            CHECK(std::fegetround() == FE_TONEAREST);
        }
        const int after = std::fegetround();
        std::fesetround(FE_TONEAREST);
        CHECK(after == mode);
    }
}
