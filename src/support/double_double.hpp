// Sums of two doubles, high + low with |low| ≤ half a unit in the last place of high: about 106 bits. For sums that cancel, where a
// double of the result would be good enough but one of the summands is not.
//
// Every operation is off by at most kDoubleDouble = 2⁻⁹⁸ of the sizes of its operands' result (sums: of |a| + |b|), and by
// underflow, at most 2⁻¹⁰⁷⁰. Independent of the processor: no fused operation, no BLAS.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace certicone {

inline constexpr double kDoubleDouble = 0x1p-98, kDoubleDoubleUnderflow = 0x1p-1070;

/// What is exact here is exact when rounding to nearest, whatever the caller has set.
class RoundToNearest {
  public:
    RoundToNearest() : before_(std::fegetround()) { std::fesetround(FE_TONEAREST); }
    ~RoundToNearest() { std::fesetround(before_); }
    RoundToNearest(const RoundToNearest&) = delete;
    RoundToNearest& operator=(const RoundToNearest&) = delete;

  private:
    int before_;
};

struct DoubleDouble {
    double high = 0.0, low = 0.0;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double value) : high(value) {}  // NOLINT: implicit like double → long double
    constexpr DoubleDouble(double the_high, double the_low) : high(the_high), low(the_low) {}

    /// The nearest double.
    constexpr double to_double() const { return high; }

    /// a + b exactly, for |a| ≥ |b| or a = 0.
    static DoubleDouble ordered_sum(double a, double b) {
        const double sum = a + b;
        return {sum, b - (sum - a)};
    }
    /// a + b exactly.
    static DoubleDouble sum(double a, double b) {
        const double sum = a + b, of_b = sum - a;
        return {sum, (a - (sum - of_b)) + (b - of_b)};
    }
    /// a · b: halves of 26 and 27 bits make every partial product exact, but for the last bit of the smallest.
    static DoubleDouble product(double a, double b) {
        const double product = a * b, a_high = upper_half(a), b_high = upper_half(b);
        const double a_low = a - a_high, b_low = b - b_high;
        return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
    }

    DoubleDouble& operator+=(const DoubleDouble& other) {
        DoubleDouble highs = sum(high, other.high);
        const DoubleDouble lows = sum(low, other.low);
        highs = ordered_sum(highs.high, highs.low + lows.high);
        return *this = ordered_sum(highs.high, highs.low + lows.low);
    }
    DoubleDouble& operator-=(const DoubleDouble& other) { return *this += -other; }
    DoubleDouble& operator*=(const DoubleDouble& other) {
        const DoubleDouble highs = product(high, other.high);
        return *this = ordered_sum(highs.high, highs.low + (high * other.low + low * other.high));
    }
    DoubleDouble& operator/=(const DoubleDouble& other) {
        const double first = high / other.high;
        DoubleDouble rest = *this - DoubleDouble(first) * other;
        const double second = rest.high / other.high;
        rest -= DoubleDouble(second) * other;
        return *this = DoubleDouble(first) + DoubleDouble(second) + DoubleDouble(rest.high / other.high);
    }
    friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }
    friend DoubleDouble operator+(DoubleDouble a, const DoubleDouble& b) { return a += b; }
    friend DoubleDouble operator-(DoubleDouble a, const DoubleDouble& b) { return a -= b; }
    friend DoubleDouble operator*(DoubleDouble a, const DoubleDouble& b) { return a *= b; }
    friend DoubleDouble operator/(DoubleDouble a, const DoubleDouble& b) { return a /= b; }
    friend bool operator==(const DoubleDouble& a, const DoubleDouble& b) { return a.high == b.high && a.low == b.low; }
    friend bool operator<(const DoubleDouble& a, const DoubleDouble& b) {
        return a.high < b.high || (a.high == b.high && a.low < b.low);
    }
    friend bool operator>(const DoubleDouble& a, const DoubleDouble& b) { return b < a; }
    friend bool operator<=(const DoubleDouble& a, const DoubleDouble& b) { return a < b || a == b; }
    friend bool operator>=(const DoubleDouble& a, const DoubleDouble& b) { return b <= a; }

    /// this += weight · x.
    void add_product(double weight, const DoubleDouble& x) {
        const DoubleDouble term = product(weight, x.high), highs = sum(high, term.high);
        *this = ordered_sum(highs.high, highs.low + (low + (term.low + weight * x.low)));
    }

    friend DoubleDouble abs(const DoubleDouble& a) { return a.high < 0.0 || (a.high == 0.0 && a.low < 0.0) ? -a : a; }
    friend double magnitude(const DoubleDouble& a) { return std::abs(a.high); }
    /// √a for a ≥ 0: one step of Newton's method from the double root.
    friend DoubleDouble sqrt(const DoubleDouble& a) {
        if (!(a.high > 0.0)) return 0.0;
        const double root = std::sqrt(a.high);
        const DoubleDouble rest = a - product(root, root);
        return ordered_sum(root, rest.high / (2.0 * root));
    }

  private:
    static double upper_half(double a) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(a) & ~((std::uint64_t{1} << 27) - 1));
    }
};

}  // namespace certicone

template <>
struct Eigen::NumTraits<certicone::DoubleDouble> : Eigen::GenericNumTraits<certicone::DoubleDouble> {
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 0,
        ReadCost = 2,
        AddCost = 20,
        MulCost = 20
    };
    static certicone::DoubleDouble epsilon() { return certicone::kDoubleDouble; }
    static certicone::DoubleDouble dummy_precision() { return 0x1p-80; }
    static int digits10() { return 29; }
};

namespace certicone {

using PreciseVector = Eigen::Matrix<DoubleDouble, Eigen::Dynamic, 1>;

inline double to_double(double x) { return x; }
inline double to_double(const DoubleDouble& x) { return x.to_double(); }

/// Entry by entry.
template <class Derived>
Eigen::VectorXd nearest(const Eigen::MatrixBase<Derived>& x) {
    Eigen::VectorXd result(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i)
        result(i) = to_double(x(i));
    return result;
}

}  // namespace certicone
