// Inference that finishes at kinks, and proves it (docs/inference.md). No solver in the loop.
#pragma once

#include "inference/certificate.hpp"

namespace certicone {

struct WhiteBoxOptions {
    double relative_gap = 1e-14;  ///< stop when gap ≤ this · (sizes of what F is summed from)
    Index max_iterations = 0;     ///< 0: 100 + 4 · units
};

struct WhiteBoxResult {
    InferenceCertificate certificate;            ///< of the best x and ξ found
    std::vector<std::pair<Index, Index>> kinks;  ///< (layer, unit) held at a = 0
    std::vector<Index> zero_modules;             ///< conic modules held at u = 0
    Index iterations = 0;
};

/// Newton steps on the current branch, within the manifold where the held units and modules stay zero. Each iteration:
///   1. With the masks of the branch, H the curvature of the smooth part and J the gradients of the held units and
///      modules, solve H d + g + Jᵀμ = 0, J d = 0: the element of D*(x) whose residual is smallest in the norm of H⁻¹, if μ
///      is within [0, ub(μ)] and ‖r‖ ≤ λ. Then x is optimal on its manifold up to d.
///   2. If some μ is outside, its unit is let go: to the inactive side where μ < 0, to the active side where μ > ub; a
///      module where ‖r‖ > λ leaves along the r on its sphere that the secular equation gives. Then d is a descent
///      direction with the right sign on that unit.
///   3. Along d every preactivation is affine up to the next kink. F is minimised there; a kink past which F would rise is
///      where the step ends, and the unit joins the held ones: a fact of the line search, not a matter of tolerance. A kink
///      past which F still falls is crossed.
WhiteBoxResult white_box_inference(const InferenceProblem& problem, const WhiteBoxOptions& options = {});

}  // namespace certicone
