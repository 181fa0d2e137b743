// What proves an optimum of inference. For every feasible ξ and μ ≥ 0, and any point x, Ψ(·;ξ) ≤ f and the expansion of Φ at x give
//
//   F* ≥ Ψ(x;ξ) + Φ(x) + μᵀ(Cx − h) − ½ ρᵀQ⁻¹ρ,   ρ = G(ξ) + ∇Φ(x) + Cᵀμ,
//
// and F(x) minus that bound is [f(x) − Ψ(x;ξ)] + μᵀ(h − Cx) + ½ ρᵀQ⁻¹ρ, where the bracket is the gap identity's sum of
// nonnegative terms: the gap is computed without cancellation. For Q = βI and no constraints the bound is
// Ψ(y;ξ) − ‖G(ξ)‖²/(2β), whatever x is.
//
// Where Q is singular the quadratic modules are not replaced by affine minorants but kept as they are, which sets p = αq(x) and
// puts Q + Σ αBᵀB in place of Q. Where that is singular too, ½ ρᵀQ⁻¹ρ gives way to the maximum of −ρᵀ(x' − x) over the
// box that single-entry rows of C x ≤ h describe; without a box there is no proof.
//
// Nothing is taken for granted: ν and r are clipped until they are exactly feasible, the sums are carried in
// double-double numbers (support/double_double.hpp) with a bound of their rounding, positive definiteness is proved by a
// Cholesky factorisation with room for its rounding. So the gap holds for the real numbers that the doubles stand for.
#pragma once

#include "inference/problem.hpp"
#include "support/double_double.hpp"

namespace certicone {

struct InferenceCertificate {
    Vector x;
    Vector rest{};       ///< where doubles are too coarse for x: x + rest is the point that is spoken of; else empty
    Multipliers xi;      ///< exactly feasible
    Vector mu;           ///< of the constraints, ≥ 0
    double value = 0.0;  ///< F(x), nearest double
    double lower_bound = 0.0;  ///< of F*; −∞ where nothing can be proved
    double gap = 0.0;          ///< F(x) − F* is at most that: by the identity, its rounding included
    double violation = 0.0;    ///< of C x ≤ h, by rounding

    double relative_gap() const { return gap / std::abs(value); }
    PreciseVector point() const;
};

/// What a certificate proves of what was asked: a gap of at most `asked` · |F(x)|; or, where F is zero but for rounding, a gap below
/// what doubles can tell: `asked` times one rounding of F's summands, and the square of what the rounding of ξ does to the
/// slope; or neither.
enum class Closed { proved, to_rounding, open };
Closed closed(const InferenceProblem& problem, const InferenceCertificate& certificate, double asked);

/// ξ and μ are repaired to be feasible first. `mu` may be empty where there are no constraints.
InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi,
                                       const Vector& mu = Vector());
InferenceCertificate certify_inference(const InferenceProblem& problem, const PreciseVector& x, const Multipliers& xi,
                                       const Vector& mu = Vector());

/// No x' with C x' ≤ h lies closer to y than this, for μ ≥ 0: μᵀ(Cx' − h) ≥ μᵀ(Cy − h) − ‖Cᵀμ‖ ‖x' − y‖ (Farkas). 0 where μ
/// proves nothing, ∞ where no x' at all can be feasible.
double infeasibility_radius(const InferenceProblem& problem, const Vector& mu);

}  // namespace certicone
