// Exact numbers m·2^e over GMP's integers, and canonical enclosures of square roots (docs/certificate.md).
#pragma once

#include <gmpxx.h>

#include <bit>
#include <cmath>

#include "verify/check/json.hpp"

namespace certicone::check {

inline long bits_of(const mpz_class& m) { return static_cast<long>(mpz_sizeinbase(m.get_mpz_t(), 2)); }

/// The bits it takes in memory.
inline long size_of(const mpz_class& m) { return 64 * static_cast<long>(mpz_size(m.get_mpz_t())); }

struct Dyadic {
    mpz_class m;
    long e = 0;

    /// No number may take more bits: beyond that Refuted is thrown.
    static inline thread_local long bit_limit = 1 << 20;

    Dyadic() = default;
    Dyadic(double value) {  // NOLINT: exact, and implicit for that reason
        int exponent = 0;
        m = std::ldexp(std::frexp(value, &exponent), 53);
        e = exponent - 53;
    }

    int sign() const { return sgn(m); }

    Dyadic& operator+=(Dyadic other) {
        add(other.m, other.e);
        return *this;
    }
    Dyadic& operator-=(const Dyadic& other) { return *this += -other; }
    friend Dyadic operator-(Dyadic x) {
        x.m = -x.m;
        return x;
    }
    friend Dyadic operator+(Dyadic x, const Dyadic& y) { return x += y; }
    friend Dyadic operator-(Dyadic x, const Dyadic& y) { return x -= y; }
    friend Dyadic operator*(const Dyadic& x, const Dyadic& y) {
        require(size_of(x.m) + size_of(y.m));
        Dyadic product;
        product.m = x.m * y.m;
        product.e = x.e + y.e;
        return product;
    }

    /// this += weight·x, the operation that nearly all time goes into.
    void add_product(double weight, const Dyadic& x) {
        static thread_local mpz_class term;
        if (weight == 0.0 || x.sign() == 0) return;
        // |weight| = odd·2^exponent, from the fields of the binary64 format.
        const auto raw = std::bit_cast<std::uint64_t>(weight), field = raw >> 52 & 0x7FF, fraction = raw << 12 >> 12;
        const std::uint64_t mantissa = field == 0 ? fraction : fraction | std::uint64_t{1} << 52;
        const int zeros = std::countr_zero(mantissa);
        const std::uint64_t odd = mantissa >> zeros;
        const long exponent = x.e + static_cast<long>(std::max<std::uint64_t>(field, 1)) - 1075 + zeros;
        if (const long up = exponent - e; sign() != 0 && up >= 0 && up <= std::countl_zero(odd)) {
            require(size_of(x.m) + 64);
            (weight > 0.0 ? mpz_addmul_ui : mpz_submul_ui)(m.get_mpz_t(), x.m.get_mpz_t(), odd << up);
        } else {
            mpz_mul_ui(term.get_mpz_t(), x.m.get_mpz_t(), odd);
            if (weight < 0.0) mpz_neg(term.get_mpz_t(), term.get_mpz_t());
            add(term, exponent);
        }
    }

    /// x·2^k.
    Dyadic shifted(long k) const {
        Dyadic result = *this;
        result.e += k;
        return result;
    }

    /// The same number with an odd m, or 0·2^0.
    Dyadic normal() const {
        Dyadic result;
        if (sign() == 0) return result;
        const mp_bitcnt_t zeros = mpz_scan1(m.get_mpz_t(), 0);
        mpz_tdiv_q_2exp(result.m.get_mpz_t(), m.get_mpz_t(), zeros);
        result.e = e + static_cast<long>(zeros);
        return result;
    }

  private:
    static void require(long bits) {
        if (bits > bit_limit) throw Refuted{"", "an exact number takes more bits than this checker allows"};
    }

    /// += term·2^exponent; `term` is used up.
    void add(mpz_class& term, long exponent) {
        if (sgn(term) == 0) return;
        if (sign() == 0) {
            std::swap(m, term);
            e = exponent;
            return;
        }
        const long distance = std::abs(e - exponent);
        mpz_class& higher = e > exponent ? m : term;
        require(size_of(higher) + distance);
        mpz_mul_2exp(higher.get_mpz_t(), higher.get_mpz_t(), static_cast<mp_bitcnt_t>(distance));
        m += term;
        e = std::min(e, exponent);
    }
};

/// The sign of x − y.
inline int compare(const Dyadic& x, const Dyadic& y) { return (x - y).sign(); }

/// The number "[-]0xH[.H]p±D"; a huge exponent costs nothing.
inline Dyadic number(const Value& value) {
    std::string_view text = value.string();
    const auto accept = [&](char c) {
        const bool found = text.starts_with(c);
        if (found) text.remove_prefix(1);
        return found;
    };
    const auto digits = [&](std::string_view allowed) {
        const std::string_view result = text.substr(0, text.find_first_not_of(allowed));
        if (result.empty()) value.refute("expected a number");
        text.remove_prefix(result.size());
        return std::string(result);
    };
    const std::string_view hexadecimal = "0123456789abcdef";
    const bool negative = accept('-');
    if (!accept('0') || !accept('x')) value.refute("expected a number");
    const std::string whole = digits(hexadecimal), fraction = accept('.') ? digits(hexadecimal) : "";
    if (!accept('p')) value.refute("expected a number");
    const bool down = accept('-');
    if (!down && !accept('+')) value.refute("expected a number");
    const std::string exponent = digits("0123456789");
    if (exponent.size() > 9 || !text.empty()) value.refute("expected a number");
    Dyadic result;
    result.m.set_str((negative ? "-" : "") + whole + fraction, 16);
    result.e = (down ? -1 : 1) * std::stol(exponent) - 4 * static_cast<long>(fraction.size());
    return result.normal();
}

/// A number that must be a double.
inline double number_as_double(const Value& value) {
    const Dyadic n = number(value);
    const long bits = bits_of(n.m);
    if (n.sign() != 0 && (bits > 53 || n.e < -1074 || n.e + bits > 1024)) value.refute("is not a double");
    return std::ldexp(n.m.get_d(), static_cast<int>(n.e));
}

struct Enclosure {
    Dyadic lower, upper;

    Enclosure& operator+=(const Enclosure& other) {
        lower += other.lower;
        upper += other.upper;
        return *this;
    }
    Enclosure operator-() const { return {-upper, -lower}; }
};

/// root(σ; n/d) with `bits` significant bits; n ≥ 0, d > 0.
inline Enclosure root(int sigma, const Dyadic& n, const Dyadic& d, long bits) {
    if (sigma == 0 || n.sign() == 0) return {};
    // √(n/d) = √(N·2^{exponent−shift}), N = n.m·2^shift/d.m, with an even power; ⌊√N⌋ must get `bits` digits.
    const long exponent = n.e - d.e;
    long shift = 2 * bits + bits_of(d.m) - bits_of(n.m);
    shift -= (exponent - shift) & 1;
    mpz_class quotient, rest, integer, square_rest;
    for (;; shift -= 2 * (bits_of(integer) - bits)) {
        const mpz_class above = n.m << static_cast<mp_bitcnt_t>(std::max(shift, 0L));
        const mpz_class below = d.m << static_cast<mp_bitcnt_t>(std::max(-shift, 0L));
        mpz_fdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), above.get_mpz_t(), below.get_mpz_t());
        mpz_sqrtrem(integer.get_mpz_t(), square_rest.get_mpz_t(), quotient.get_mpz_t());
        if (bits_of(integer) == bits) break;
    }
    Enclosure result;
    result.lower.m = integer;
    result.upper.m = integer + (sgn(rest) != 0 || sgn(square_rest) != 0 ? 1 : 0);
    result.lower.e = result.upper.e = (exponent - shift) / 2;
    return sigma > 0 ? result : -result;
}

}  // namespace certicone::check
