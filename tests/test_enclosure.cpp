#include <doctest/doctest.h>

#include <random>

#include "file_helpers.hpp"
#include "support/enclosure.hpp"

using namespace certicone;
using certicone::test::any_double;

namespace {

bool is(const Enclosure& enclosure, double lower, double upper) {
    return enclosure.lower == Dyadic(lower) && enclosure.upper == Dyadic(upper);
}

}  // namespace

TEST_CASE("canonical enclosures of square roots, by hand") {
    // √2 = 1.0110101…₂
    CHECK(is(root_enclosure(1, 2.0, 1.0, 4), 1.375, 1.5));
    CHECK(is(root_enclosure(-1, 2.0, 1.0, 4), -1.5, -1.375));
    CHECK(is(root_enclosure(0, 2.0, 1.0, 4), 0.0, 0.0));
    CHECK(is(root_enclosure(1, 0.0, 1.0, 4), 0.0, 0.0));
    CHECK(is(root_enclosure(1, 4.0, 1.0, 2), 2.0, 2.0));
    CHECK(is(root_enclosure(1, 1.0, 4.0, 64), 0.5, 0.5));
    CHECK(is(root_enclosure(1, 0x1p-1000, 0x1p1000, 8), 0x1p-1000, 0x1p-1000));
    // 9 has four binary digits: with three it lies between 8 and 10; 31.9… below 2^5 is rounded up to it.
    CHECK(is(root_enclosure(1, 81.0, 1.0, 3), 8.0, 10.0));
    CHECK(is(root_enclosure(1, 1023.0, 1.0, 4), 30.0, 32.0));
    // 1/3 = 0.010101…₂
    CHECK(is(quotient_enclosure(1.0, 3.0, 3), 0.3125, 0.375));
    CHECK(is(quotient_enclosure(6.0, 3.0, 3), 2.0, 2.0));
}

TEST_CASE("canonical enclosures hold the root, between neighbours of the asked precision") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        const Dyadic n = Dyadic(std::abs(any_double(random))) * std::abs(any_double(random));
        Dyadic d = std::abs(any_double(random));
        if (d.sign() == 0) d = 3.0;
        const slong bits = 2 + static_cast<slong>(random() % 150);
        const Enclosure root = root_enclosure(1, n, d, bits);
        REQUIRE(!(root.lower * root.lower * d > n));
        REQUIRE(!(root.upper * root.upper * d < n));
        const bool exact = root.lower * root.lower * d == n;
        REQUIRE((root.width().sign() == 0) == (exact || n.sign() == 0));
        // The width is one unit in the last of `bits` places: 2^{bits−1} widths ≤ lower < 2^bits widths.
        if (exact || n.sign() == 0) continue;
        REQUIRE(!(root.width().shifted(bits - 1) > root.lower));
        REQUIRE(root.lower < root.width().shifted(bits));
    }
}

TEST_CASE("exact numbers as text") {
    CHECK(to_hexadecimal(Dyadic(0.0)) == "0x0p+0");
    CHECK(to_hexadecimal(Dyadic(-1.5)) == "-0x3p-1");
    CHECK(to_hexadecimal(Dyadic(640.0)) == "0x5p+7");
    CHECK(to_hexadecimal(Dyadic(0x1p-1074)) == "0x1p-1074");
    CHECK(to_hexadecimal(12.0) == "0x1.8p+3");
    CHECK(to_hexadecimal(-0.0) == "-0x0p+0");
}

TEST_CASE("doubles below and above an exact number") {
    const Dyadic third = Dyadic(1.0) + Dyadic(0x1p-60);
    CHECK(third.to_double_down() == 1.0);
    CHECK(third.to_double_up() == std::nextafter(1.0, 2.0));
}
