// What proves an optimum of inference. For every feasible ξ and μ ≥ 0, and any point x, convexity of Φ at x and Ψ(·;ξ) ≤ f give
//
//   F* ≥ Ψ(x;ξ) + Φ(x) + μᵀ(Cx − h) − ½ ρᵀQ⁻¹ρ,   ρ = G(ξ) + ∇Φ(x) + Cᵀμ,
//
// and F(x) minus that bound is [f(x) − Ψ(x;ξ)] + μᵀ(h − Cx) + ½ ρᵀQ⁻¹ρ, where the bracket is the gap identity's sum of
// nonnegative terms: the gap is computed without cancellation. For Q = βI and no constraints the bound is
// Ψ(y;ξ) − ‖G(ξ)‖²/(2β), whatever x is. Where Q is singular, the quadratic modules, kept as they are, lend their curvature
// (Q + Σ αBᵀB in place of Q, with p = αq(x)); where that is singular too, ½ ρᵀQ⁻¹ρ gives way to max over the box of
// −ρᵀ(x' − x), if the constraints hold x in a box.
#pragma once

#include "inference/problem.hpp"

namespace certicone {

struct InferenceCertificate {
    Vector x;
    Multipliers xi;            ///< feasible as doubles
    Vector mu;                 ///< of the constraints, ≥ 0
    double value = 0.0;        ///< F(x)
    double lower_bound = 0.0;  ///< −∞ where nothing can be proved
    double gap = 0.0;          ///< value − lower bound, by the identity
    double violation = 0.0;    ///< of C x ≤ h, by rounding

    double relative_gap() const { return gap / std::abs(value); }
};

/// ξ and μ are repaired to be feasible first. `mu` may be empty where there are no constraints.
InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi,
                                       const Vector& mu = Vector());

}  // namespace certicone
