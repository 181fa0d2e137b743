#include "geometry/degenerate_points.hpp"

#include <flint/fmpz_lll.h>
#include <flint/fmpz_mat.h>

#include <Eigen/QR>
#include <cmath>

namespace certicone {

namespace {

class IntegerMatrix {
  public:
    IntegerMatrix(Index rows, Index columns) { fmpz_mat_init(value_, rows, columns); }
    ~IntegerMatrix() { fmpz_mat_clear(value_); }
    IntegerMatrix(const IntegerMatrix&) = delete;
    IntegerMatrix& operator=(const IntegerMatrix&) = delete;

    fmpz* entry(Index i, Index j) { return fmpz_mat_entry(value_, i, j); }
    const fmpz* entry(Index i, Index j) const { return fmpz_mat_entry(value_, i, j); }
    fmpz_mat_struct* get() { return value_; }
    bool zero(Index i, Index j) const { return fmpz_is_zero(entry(i, j)) != 0; }

  private:
    fmpz_mat_t value_;
};

/// value · 2^shift as an integer, where it is one.
bool to_integer(fmpz* result, double value, int shift) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // value = fraction · 2^exponent
    const auto mantissa = static_cast<slong>(std::ldexp(fraction, 53));
    fmpz_set_si(result, mantissa);
    const int power = exponent - 53 + shift;
    if (power >= 0) {
        fmpz_mul_2exp(result, result, static_cast<ulong>(power));
        return true;
    }
    if (mantissa != 0 && fmpz_val2(result) < static_cast<ulong>(-power)) return false;
    fmpz_tdiv_q_2exp(result, result, static_cast<ulong>(-power));
    return true;
}

/// The exponent of the lowest bit of a double (0 for 0).
int lowest_bit(double value) {
    if (value == 0.0) return 0;
    int exponent = 0;
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(value, &exponent)), 53));
    return exponent - 53 + __builtin_ctzll(mantissa);
}

/// v minus the nearest combination of the lattice vectors (the last rows of `lattice`), by rounding in doubles until that
/// gains nothing more: each pass removes some fifty bits.
void reduce(IntegerMatrix& lattice, Index first, Index dim, IntegerMatrix& v) {
    const Index count = fmpz_mat_nrows(lattice.get()) - first;
    if (count <= 0) return;
    Matrix basis(dim, count);
    for (Index k = 0; k < count; ++k)
        for (Index j = 0; j < dim; ++j)
            basis(j, k) = fmpz_get_d(lattice.entry(first + k, j));
    const Eigen::ColPivHouseholderQR<Matrix> qr(basis);
    fmpz_t factor;
    fmpz_init(factor);
    double length = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 64; ++pass) {
        Vector target(dim);
        for (Index j = 0; j < dim; ++j)
            target(j) = fmpz_get_d(v.entry(0, j));
        if (!(target.norm() < length)) break;
        length = target.norm();
        const Vector shares = qr.solve(target).array().round();
        if (shares.isZero(0.0)) break;
        for (Index k = 0; k < count; ++k) {
            fmpz_set_d(factor, shares(k));
            for (Index j = 0; j < dim; ++j)
                fmpz_submul(v.entry(0, j), factor, lattice.entry(first + k, j));
        }
    }
    fmpz_clear(factor);
}

}  // namespace

std::optional<Vector> degenerate_point(const Network& network, const Vector& x, std::span<const Index> units,
                                       double reach) {
    const Layer& layer = network.layers.front();
    const Index dim = network.input_dim;
    const auto equations = static_cast<Index>(units.size());
    if (equations >= dim || !x.allFinite()) return std::nullopt;

    // 2^k steps a unit of x, as many as the largest entry's double has to spare; one bit is kept for the way to go.
    const double largest = std::max(x.lpNorm<Eigen::Infinity>(), reach);
    const int k = 51 - std::ilogb(largest);

    // Rows (e_j | 2^big ŵ_j): reduction makes the right part as small as it gets, so the first dim − m rows end with zeros.
    constexpr int kBig = 400;
    IntegerMatrix lattice(dim, dim + equations), particular(1, dim), right(1, equations);
    for (Index m = 0; m < equations; ++m) {
        const auto w = layer.W.row(units[static_cast<std::size_t>(m)]);
        int e = 0;
        bool any = false;
        for (Index j = 0; j < dim; ++j)
            if (w(j) != 0.0) {
                e = any ? std::max(e, -lowest_bit(w(j))) : -lowest_bit(w(j));
                any = true;
            }
        if (!any) return std::nullopt;
        for (Index j = 0; j < dim; ++j) {
            to_integer(lattice.entry(j, dim + m), w(j), e);
            fmpz_mul_2exp(lattice.entry(j, dim + m), lattice.entry(j, dim + m), kBig);
        }
        if (!to_integer(right.entry(0, m), -layer.b(units[static_cast<std::size_t>(m)]), e + k)) return std::nullopt;
        fmpz_mul_2exp(right.entry(0, m), right.entry(0, m), kBig);
    }
    for (Index j = 0; j < dim; ++j)
        fmpz_one(lattice.entry(j, j));
    fmpz_lll_t context;
    fmpz_lll_context_init_default(context);
    fmpz_lll(lattice.get(), nullptr, context);

    // Rows with a right part come last; the right side must be a combination of theirs (triangular for one equation; for
    // more, eliminated one after the other).
    Index kernel = 0;
    while (kernel < dim) {
        bool zero = true;
        for (Index m = 0; m < equations; ++m)
            zero = zero && lattice.zero(kernel, dim + m);
        if (!zero) break;
        ++kernel;
    }
    const Index rest = dim - kernel;
    if (rest != equations) return std::nullopt;
    // Solve c · R = right in integers, R the rest's right parts (m × m), by Cramer's rule through FLINT.
    IntegerMatrix R(equations, equations), rhs(equations, 1), solution(equations, 1);
    for (Index i = 0; i < equations; ++i) {
        for (Index m = 0; m < equations; ++m)
            fmpz_set(R.entry(m, i), lattice.entry(kernel + i, dim + m));
        fmpz_set(rhs.entry(i, 0), right.entry(0, i));
    }
    fmpz_t denominator;
    fmpz_init(denominator);
    bool solvable = fmpz_mat_solve(solution.get(), denominator, R.get(), rhs.get()) != 0;
    for (Index i = 0; solvable && i < equations; ++i) {
        solvable = fmpz_divisible(solution.entry(i, 0), denominator) != 0;
        if (solvable) fmpz_divexact(solution.entry(i, 0), solution.entry(i, 0), denominator);
    }
    fmpz_clear(denominator);
    if (!solvable) return std::nullopt;

    // particular − target, reduced by the kernel, is the shortest way from x to a solution.
    IntegerMatrix target(1, dim), basis(kernel, dim);
    for (Index j = 0; j < dim; ++j) {
        fmpz_set_d(target.entry(0, j), std::round(std::ldexp(x(j), k)));
        for (Index i = 0; i < equations; ++i)
            fmpz_addmul(particular.entry(0, j), solution.entry(i, 0), lattice.entry(kernel + i, j));
        fmpz_sub(particular.entry(0, j), particular.entry(0, j), target.entry(0, j));
        for (Index i = 0; i < kernel; ++i)
            fmpz_set(basis.entry(i, j), lattice.entry(i, j));
    }
    reduce(basis, 0, dim, particular);
    Vector result(dim);
    for (Index j = 0; j < dim; ++j) {
        fmpz_add(target.entry(0, j), target.entry(0, j), particular.entry(0, j));
        if (fmpz_bits(target.entry(0, j)) > 53) return std::nullopt;
        result(j) = std::ldexp(fmpz_get_d(target.entry(0, j)), -k);
    }
    if (!((result - x).norm() <= reach)) return std::nullopt;
    return result;
}

}  // namespace certicone
