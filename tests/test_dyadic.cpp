#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/dyadic.hpp"

using certicone::Dyadic;

namespace {

constexpr double tiny = std::numeric_limits<double>::denorm_min();
constexpr double huge = std::numeric_limits<double>::max();

Dyadic power_of_two(int exponent) {
    Dyadic result(1.0);
    for (; exponent > 0; exponent -= 1000)
        result *= Dyadic(std::ldexp(1.0, std::min(exponent, 1000)));
    for (; exponent < 0; exponent += 1000)
        result *= Dyadic(std::ldexp(1.0, std::max(exponent, -1000)));
    return result;
}

/// Any finite double: random bits in all of sign, exponent and mantissa.
double random_double(std::mt19937_64& random) {
    const double mantissa = static_cast<double>(random() >> 11) - std::ldexp(1.0, 52);
    return std::ldexp(mantissa, std::uniform_int_distribution<int>(-1074, 970)(random));
}

}  // namespace

TEST_CASE("dyadic: sums and products of doubles by hand") {
    // 0.1 + 0.2 − 0.3 is not zero for the doubles of these names: 0x4CCCCCCCCCCCCE − 0x4CCCCCCCCCCCCC units of 2⁻⁵⁶.
    CHECK(Dyadic(0.1) + Dyadic(0.2) - Dyadic(0.3) == std::ldexp(1.0, -55));
    CHECK(Dyadic(3.0) * Dyadic(0.1) - Dyadic(0.1) - Dyadic(0.2) == Dyadic(0.0));
    // (2³⁰ + 1)² = 2⁶⁰ + 2³¹ + 1 has 61 bits.
    const Dyadic square = Dyadic(std::ldexp(1.0, 30) + 1.0) * Dyadic(std::ldexp(1.0, 30) + 1.0);
    CHECK(square - Dyadic(std::ldexp(1.0, 60)) - Dyadic(std::ldexp(1.0, 31)) == Dyadic(1.0));
    // Far beyond the range of doubles, at both ends and in one number.
    const Dyadic wide = Dyadic(huge) * Dyadic(huge) + Dyadic(tiny) * Dyadic(tiny);
    CHECK(wide - Dyadic(huge) * Dyadic(huge) == power_of_two(-2148));
    CHECK((wide > Dyadic(huge)) == true);
    CHECK((-wide < Dyadic(-huge)) == true);
}

TEST_CASE("dyadic: the ring axioms hold exactly for doubles of all sizes") {
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        const Dyadic a(random_double(random)), b(random_double(random)), c(random_double(random));
        REQUIRE((a + b) - b == a);
        REQUIRE((a + b) + c == a + (b + c));
        REQUIRE((a + b) * c == a * c + b * c);
        REQUIRE((a + b) * (a - b) == a * a - b * b);
        REQUIRE((a < b) == ((b - a).sign() > 0));
        REQUIRE((a > b) == ((a - b).sign() > 0));
    }
}

TEST_CASE("dyadic: to_double is the nearest double, ties to even, but never 0 for a nonzero number") {
    std::mt19937_64 random(2);
    for (int round = 0; round < 2000; ++round) {
        const double value = random_double(random), other = random_double(random);
        REQUIRE(Dyadic(value).to_double() == value);
        REQUIRE((Dyadic(value) + Dyadic(other)).to_double() == value + other);  // IEEE addition is the nearest double
    }
    const double odd = std::ldexp(1.0, 53);
    CHECK((Dyadic(odd) + Dyadic(1.0)).to_double() == odd);
    CHECK((Dyadic(odd) + Dyadic(3.0)).to_double() == odd + 4.0);
    CHECK((Dyadic(odd) + Dyadic(1.0) + power_of_two(-3000)).to_double() == odd + 2.0);  // just past the tie

    CHECK((Dyadic(tiny) * Dyadic(0.5)).to_double() == tiny);
    CHECK((Dyadic(-tiny) * power_of_two(-4000)).to_double() == -tiny);
    CHECK((Dyadic(tiny) * Dyadic(1.5)).to_double() == 2.0 * tiny);
    CHECK((Dyadic(tiny) * Dyadic(2.5)).to_double() == 2.0 * tiny);
    CHECK((Dyadic(0.1) - Dyadic(0.1)).to_double() == 0.0);
    CHECK(Dyadic(-0.0).sign() == 0);
    CHECK((Dyadic(-tiny) * Dyadic(tiny)).sign() == -1);
    CHECK((Dyadic(-tiny) * Dyadic(-tiny)).sign() == 1);
}

TEST_CASE("dyadic: copies are independent and assignments to itself are harmless") {
    Dyadic a(0.75);
    Dyadic b = a;
    b += Dyadic(1.0);
    CHECK(a == Dyadic(0.75));
    CHECK(b == Dyadic(1.75));
    Dyadic& alias = a;
    a = alias;
    CHECK(a == Dyadic(0.75));
    a -= alias;
    CHECK(a.sign() == 0);
    a = std::move(b);
    CHECK(a == Dyadic(1.75));
    a *= alias;
    CHECK(a == Dyadic(3.0625));
}
