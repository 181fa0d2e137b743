// Ball arithmetic (Arb): every operation encloses its exact result, so what a formula gives in balls holds the true value
// whatever the rounding. 128 bits: enclosures of doubles' sums are then some 10^20 times narrower than doubles are.
#pragma once

#ifdef CERTICONE_FLINT3
#include <flint/arb.h>
#else
#include <arb.h>
#endif

#include "support/dyadic.hpp"

namespace certicone {

class Ball {
  public:
    static constexpr slong kPrecision = 128;

    Ball() { arb_init(ball_); }
    Ball(double value) : Ball() { arb_set_d(ball_, value); }  // NOLINT: exact
    explicit Ball(const Dyadic& number) : Ball() { arb_set_arf(ball_, number.raw()); }
    Ball(const Ball& other) : Ball() { arb_set(ball_, other.ball_); }
    Ball(Ball&& other) noexcept : Ball() { arb_swap(ball_, other.ball_); }
    Ball& operator=(const Ball& other) {
        arb_set(ball_, other.ball_);
        return *this;
    }
    Ball& operator=(Ball&& other) noexcept {
        arb_swap(ball_, other.ball_);
        return *this;
    }
    ~Ball() { arb_clear(ball_); }

    Ball& operator+=(const Ball& other) {
        arb_add(ball_, ball_, other.ball_, kPrecision);
        return *this;
    }
    Ball& operator-=(const Ball& other) {
        arb_sub(ball_, ball_, other.ball_, kPrecision);
        return *this;
    }
    Ball& operator*=(const Ball& other) {
        arb_mul(ball_, ball_, other.ball_, kPrecision);
        return *this;
    }
    Ball& operator/=(const Ball& other) {
        arb_div(ball_, ball_, other.ball_, kPrecision);
        return *this;
    }
    friend Ball operator+(Ball left, const Ball& right) { return std::move(left += right); }
    friend Ball operator-(Ball left, const Ball& right) { return std::move(left -= right); }
    friend Ball operator*(Ball left, const Ball& right) { return std::move(left *= right); }
    friend Ball operator/(Ball left, const Ball& right) { return std::move(left /= right); }

    /// √max(·, 0): the square root of what is known to be ≥ 0.
    friend Ball sqrt(const Ball& x) {
        Ball result;
        arb_sqrtpos(result.ball_, x.ball_, kPrecision);
        return result;
    }
    /// max(·, 0); the name by which the forward template finds it.
    friend Ball relu(const Ball& x) {
        Ball result, zero;
        arb_max(result.ball_, x.ball_, zero.ball_, kPrecision);
        return result;
    }
    void add_product(double weight, const Ball& x) {
        arb_t factor;
        arb_init(factor);
        arb_set_d(factor, weight);
        arb_addmul(ball_, x.ball_, factor, kPrecision);
        arb_clear(factor);
    }

    /// The ends, rounded outwards; bounds hold for them too.
    double lower() const { return end(false); }
    double upper() const { return end(true); }
    bool contains(const Dyadic& number) const { return arb_contains_arf(ball_, number.raw()) != 0; }

  private:
    double end(bool up) const {
        Dyadic bound;
        (up ? arb_get_ubound_arf : arb_get_lbound_arf)(bound.raw(), ball_, kPrecision);
        return up ? bound.to_double_up() : bound.to_double_down();
    }

    arb_t ball_;
};

}  // namespace certicone

template <>
struct Eigen::NumTraits<certicone::Ball> : certicone::BigNumberTraits<certicone::Ball> {};
