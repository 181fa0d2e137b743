// Canonical enclosures of square roots of quotients of exact numbers (docs/certificate.md): one definite interval for each
// root and precision, and exact numbers as text.
#pragma once

#include "support/dyadic.hpp"

namespace certicone {

struct Enclosure {
    Dyadic lower, upper;

    Enclosure() = default;
    Enclosure(Dyadic lower_in, Dyadic upper_in) : lower(std::move(lower_in)), upper(std::move(upper_in)) {}
    explicit Enclosure(const Dyadic& exact) : lower(exact), upper(exact) {}

    Enclosure& operator+=(const Enclosure& other) {
        lower += other.lower;
        upper += other.upper;
        return *this;
    }
    Enclosure& operator-=(const Enclosure& other) {
        lower -= other.upper;
        upper -= other.lower;
        return *this;
    }
    /// The factor must be ≥ 0.
    Enclosure& operator*=(double factor) {
        lower *= factor;
        upper *= factor;
        return *this;
    }
    Dyadic width() const { return upper - lower; }
};

/// The neighbours of √(n/d) with `bits` significant bits, or itself twice; with the sign of sigma (0: zero). n ≥ 0, d > 0.
Enclosure root_enclosure(int sigma, const Dyadic& n, const Dyadic& d, slong bits);

/// The same of n/d, n ≥ 0.
inline Enclosure quotient_enclosure(const Dyadic& n, const Dyadic& d, slong bits) {
    return root_enclosure(1, n * n, d * d, bits);
}

/// "-0x1234p-5": exact.
std::string to_hexadecimal(const Dyadic& number);
/// "0x1.8p+3".
std::string to_hexadecimal(double number);

}  // namespace certicone
