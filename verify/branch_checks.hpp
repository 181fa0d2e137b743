// Theorem 3 at a nondegenerate point: the branch, how far it reaches, and its gradient and curvature.
#pragma once

#include "geometry/rounding.hpp"
#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

/// The computed radius ρ with points of the ball around x. What rounding leaves open of ρ is left out: the ReLU radius and
/// what doubles make of it lie in an interval, and a conic residual is as wrong as its sum.
struct Branch {
    BranchRadius radius;
    RadiusInterval certain;  ///< of the ReLU radius
    std::vector<LocalState>
        inside;  ///< at 99 % of ρ or less, the first one towards the unit that changes first; none where
                 ///< rounding leaves nothing of ρ or doubles are too coarse

    Branch(const Point& point, Generator& random);
};

/// theorem3.branch: the pattern is constant inside ρ, and another one at a witness within 1 % past the ReLU radius, where its
/// interval is narrower than that. The conic radius is at most the distance that any step s towards u = 0 proves:
/// ‖u‖ ≤ ‖A‖₂‖s‖ + ‖As + u‖ gives ‖u‖/‖A‖₂ ≤ ‖s‖·‖u‖/(‖u‖ − ‖As + u‖).
Finding check_branch(const Point& point, const Branch& branch);
/// theorem3.decomposition: f = āᵀx + b̄ + Σ α/2 ‖q‖² + Σ λ‖u‖ in the ball.
Finding check_branch_decomposition(const Point& point, const Branch& branch);
/// theorem3.gradient: ∇f = ā + Σ αBᵀq + Σ λAᵀû in the ball, against G(ξ̂) there.
Finding check_branch_gradient(const Point& point, const Branch& branch);
/// theorem3.hessian, against automatic differentiation.
Finding check_hessian_by_autodiff(const Point& point, const Matrix& hessian);
/// theorem3.hessian, against differences of gradients: ∇f(x+δ) − ∇f(x) = Hδ + rest, ‖rest‖ ≤ Σ 6λ‖A‖‖Aδ‖²/‖u‖², for û has a
/// second derivative of at most 3/‖·‖² and residuals keep half their length on the step.
Finding check_hessian_by_differences(const Point& point, const Matrix& hessian);
/// theorem3.psd: no eigenvalue below what rounding can make of zero.
Finding check_psd(const Point& point, const Matrix& hessian);

}  // namespace certicone::verify
