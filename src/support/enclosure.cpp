#include "support/enclosure.hpp"

#include <flint/fmpz.h>
#include <fmt/format.h>

#include <algorithm>

namespace certicone {

namespace {

class Integer {
  public:
    Integer() { fmpz_init(number_); }
    Integer(const Integer&) = delete;
    Integer& operator=(const Integer&) = delete;
    ~Integer() { fmpz_clear(number_); }
    operator fmpz*() { return number_; }
    slong bits() const { return static_cast<slong>(fmpz_bits(number_)); }

  private:
    fmpz_t number_;
};

/// number = mantissa·2^exponent.
slong split(const Dyadic& number, Integer& mantissa) {
    Integer exponent;
    arf_get_fmpz_2exp(mantissa, exponent, number.raw());
    return fmpz_get_si(exponent);
}

Dyadic join(Integer& mantissa, slong exponent) {
    Dyadic result;
    Integer power;
    fmpz_set_si(power, exponent);
    arf_set_fmpz_2exp(result.raw(), mantissa, power);
    return result;
}

}  // namespace

Enclosure root_enclosure(int sigma, const Dyadic& n, const Dyadic& d, slong bits) {
    if (sigma == 0 || n.sign() == 0) return {};
    Integer n_mantissa, d_mantissa, above, below, quotient, rest, root, square_rest;
    const slong exponent = split(n, n_mantissa) - split(d, d_mantissa);
    // √(n/d) = √(N·2^{exponent−shift}) with an even power; ⌊√N⌋ must get `bits` digits.
    slong shift = 2 * bits - n_mantissa.bits() + d_mantissa.bits();
    shift -= (exponent - shift) & 1;
    for (;; shift -= 2 * (root.bits() - bits)) {
        fmpz_mul_2exp(above, n_mantissa, static_cast<ulong>(std::max<slong>(shift, 0)));
        fmpz_mul_2exp(below, d_mantissa, static_cast<ulong>(std::max<slong>(-shift, 0)));
        fmpz_fdiv_qr(quotient, rest, above, below);
        fmpz_sqrtrem(root, square_rest, quotient);
        if (root.bits() == bits) break;
    }
    Enclosure result;
    const slong power = (exponent - shift) / 2;
    result.lower = join(root, power);
    if (!fmpz_is_zero(rest) || !fmpz_is_zero(square_rest)) fmpz_add_ui(root, root, 1);
    result.upper = join(root, power);
    if (sigma < 0) return {-result.upper, -result.lower};
    return result;
}

std::string to_hexadecimal(const Dyadic& number) {
    Integer mantissa;
    const slong exponent = split(number, mantissa);
    std::string text = number.sign() < 0 ? "-0x" : "0x";
    fmpz_abs(mantissa, mantissa);
    std::string digits(static_cast<std::size_t>(mantissa.bits()) / 4 + 3, '\0');
    fmpz_get_str(digits.data(), 16, mantissa);
    return text + digits.c_str() + fmt::format("p{:+}", exponent);
}

std::string to_hexadecimal(double number) { return fmt::format("{:a}", number); }

}  // namespace certicone
