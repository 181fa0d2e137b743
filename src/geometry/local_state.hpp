// What a network is at one point: its forward quantities, and the pattern of signs that decides all of its geometry.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "network/forward.hpp"

namespace certicone {

/// Signs of the preactivations and the vanishing conic residuals. They decide D*(x) (Lemma 1, Proposition 1).
struct Pattern {
    using Signs = Eigen::Matrix<std::int8_t, Eigen::Dynamic, 1>;

    std::vector<Signs> sign;       ///< −1, 0, 1 for each unit of each layer
    std::vector<bool> conic_zero;  ///< u_g = 0

    bool operator==(const Pattern& other) const { return sign == other.sign && conic_zero == other.conic_zero; }

    std::vector<std::pair<Index, Index>> degenerate_units() const;  ///< (layer, unit) with a = 0
    std::vector<Index> degenerate_modules() const;                  ///< g with u_g = 0
    /// Nondegenerate in the sense of (efg_nondegenerate): no zero preactivation, no zero conic residual.
    bool nondegenerate() const;
};

/// A unit without weights: its preactivation is 0 whatever x is, and no arithmetic is needed to know it.
bool structurally_zero(const Layer& layer, Index unit);

/// Error of a computed M x + U z + b with n terms a row, in any order of summation, with or without fused operations
/// (Higham, §3.1): |computed − exact| ≤ γ_{n+1} (|M||x| + |U||z| + |b|) + |U| error(z). `relative` is twice γ_{n+4}, which
/// covers the rounding of the bound itself; `absolute` covers the underflow of single products.
struct RoundingBound {
    explicit RoundingBound(Index terms)
        : relative(static_cast<double>(terms + 4) * std::numeric_limits<double>::epsilon()),
          absolute(static_cast<double>(terms + 4) * std::numeric_limits<double>::denorm_min()) {}
    double relative;
    double absolute;
};

/// Whether |error of u_g| ≤ ‖u_g‖/32 in doubles; where not, exact arithmetic has the residual.
bool sure_of_residual(const Conic& module, const Vector& x, const Vector& u);

/// At least twice |computed a − a| for each unit of each layer, where z below has the right signs.
std::vector<Vector> preactivation_errors(const Network& network, const Vector& x, const Trace<double>& trace);

struct LocalState {
    Vector x;
    Trace<double> trace;
    Vector conic_norm;  ///< ‖u_g‖
    double value = 0.0;
    Pattern pattern;
    Index decided_exactly = 0;  ///< units and modules that the error-bound filter left to exact arithmetic
};

/// Forward pass and pattern at x. The pattern is that of the exact real numbers which the given doubles stand for: a
/// running error bound decides almost every sign, exact dyadic arithmetic the rest; what it decides is replaced in `trace` by
/// the exact value, rounded, and the layers above are computed from that: z is 0 just where a ≤ 0 in truth. So are conic
/// residuals of which doubles know less than a few digits. With tolerance > 0,
/// the user's choice, |a| ≤ tolerance and ‖u‖ ≤ tolerance count as zero in the pattern. Throws InputError where the pass
/// overflows.
LocalState evaluate(const Network& network, const Vector& x, double tolerance = 0.0);

}  // namespace certicone
