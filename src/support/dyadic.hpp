// Exact numbers m·2^e (FLINT/Arb's arf at unlimited precision). Every double is one, and they are closed under +, −
// and ×, so a ReLU backbone, its multipliers and the quadratic terms are computed without rounding.
#pragma once

#ifdef CERTICONE_FLINT3
#include <flint/arf.h>
#else
#include <arf.h>
#endif

#include <Eigen/Core>
#include <string>
#include <utility>

namespace certicone {

/// For a thread that ends: FLINT keeps memory for it that nobody else would give back.
inline void release_thread_cache() { flint_cleanup(); }

class Dyadic {
  public:
    Dyadic() { arf_init(number_); }
    /// Exact; `value` must be finite.
    Dyadic(double value) : Dyadic() { arf_set_d(number_, value); }  // NOLINT: implicit like double → long double
    Dyadic(const Dyadic& other) : Dyadic() { arf_set(number_, other.number_); }
    Dyadic(Dyadic&& other) noexcept : Dyadic() { arf_swap(number_, other.number_); }
    Dyadic& operator=(const Dyadic& other) {
        arf_set(number_, other.number_);
        return *this;
    }
    Dyadic& operator=(Dyadic&& other) noexcept {
        arf_swap(number_, other.number_);
        return *this;
    }
    ~Dyadic() { arf_clear(number_); }

    Dyadic& operator+=(const Dyadic& other) {
        arf_add(number_, number_, other.number_, ARF_PREC_EXACT, ARF_RND_DOWN);
        return *this;
    }
    Dyadic& operator-=(const Dyadic& other) {
        arf_sub(number_, number_, other.number_, ARF_PREC_EXACT, ARF_RND_DOWN);
        return *this;
    }
    Dyadic& operator*=(const Dyadic& other) {
        arf_mul(number_, number_, other.number_, ARF_PREC_EXACT, ARF_RND_DOWN);
        return *this;
    }
    friend Dyadic operator+(Dyadic left, const Dyadic& right) { return std::move(left += right); }
    friend Dyadic operator-(Dyadic left, const Dyadic& right) { return std::move(left -= right); }
    friend Dyadic operator*(Dyadic left, const Dyadic& right) { return std::move(left *= right); }
    friend Dyadic operator-(const Dyadic& right) { return Dyadic() - right; }
    friend bool operator==(const Dyadic& left, const Dyadic& right) { return arf_equal(left.number_, right.number_); }
    friend bool operator<(const Dyadic& left, const Dyadic& right) { return arf_cmp(left.number_, right.number_) < 0; }
    friend bool operator>(const Dyadic& left, const Dyadic& right) { return right < left; }

    /// this += weight·x.
    void add_product(double weight, const Dyadic& x) {
        arf_t factor;  // of 53 bits: it needs no memory of its own
        arf_init(factor);
        arf_set_d(factor, weight);
        arf_addmul(number_, factor, x.number_, ARF_PREC_EXACT, ARF_RND_DOWN);
    }
    /// this·2^k.
    Dyadic shifted(slong k) const {
        Dyadic result;
        arf_mul_2exp_si(result.number_, number_, k);
        return result;
    }

    /// −1, 0 or 1.
    int sign() const { return arf_sgn(number_); }

    /// √number, to `bits` bits; the number must be ≥ 0.
    Dyadic root(int bits) const {
        Dyadic result;
        arf_sqrt(result.number_, number_, bits, ARF_RND_NEAR);
        return result;
    }

    /// The nearest double, but never 0 for a nonzero number (then the smallest of its sign).
    double to_double() const {
        const double nearest = arf_get_d(number_, ARF_RND_NEAR);
        return nearest == 0.0 && sign() != 0 ? sign() * 4.9406564584124654e-324 : nearest;
    }

    /// The largest double that is not larger.
    double to_double_down() const { return arf_get_d(number_, ARF_RND_FLOOR); }
    double to_double_up() const { return arf_get_d(number_, ARF_RND_CEIL); }

    arf_ptr raw() { return number_; }
    arf_srcptr raw() const { return number_; }

  private:
    arf_t number_;
};

}  // namespace certicone

namespace certicone {

/// What Eigen must know of numbers that own memory.
template <class Number>
struct BigNumberTraits : Eigen::GenericNumTraits<Number> {
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = 4,
        AddCost = 16,
        MulCost = 32
    };
};

}  // namespace certicone

template <>
struct Eigen::NumTraits<certicone::Dyadic> : certicone::BigNumberTraits<certicone::Dyadic> {};
