// Inference that finishes at kinks, and proves it (docs/inference.md). No solver in the loop.
#pragma once

#include "inference/certificate.hpp"

namespace certicone {

struct WhiteBoxOptions {
    double relative_gap = 1e-14;  ///< stop when gap ≤ this · |F|
    Index max_iterations = 0;     ///< 0: 100 + 4 · units
};

struct WhiteBoxResult {
    InferenceCertificate certificate;            ///< of the best x and ξ found
    std::vector<std::pair<Index, Index>> kinks;  ///< (layer, unit) held at a = 0
    std::vector<Index> zero_modules;             ///< conic modules held at u = 0
    Index iterations = 0;
};

/// Without constraints; Q + Σ αBᵀB must be positive definite. Starts at y. Each iteration, at x on the kinks K and with the
/// vanished modules V:
///   1. The element of D*(x) whose residual is smallest in the norm of H⁻¹ (kink_problem.hpp): ξ proves how far x is from
///      the optimum, and d = −H⁻¹ residual is a descent direction that stays on the kinks whose ν is inside [0, ub(ν)].
///   2. Along d every preactivation is affine up to the next kink. F is minimised there, kink by kink; one past which F
///      would rise, or past which a held unit would move, is where the step ends, and its unit joins K: a fact of the
///      line search, not a matter of tolerance.
///   3. A conic residual that the step would overrun is tried at u = 0: if the r that this needs is in its ball, and F
///      falls on the way, the module joins V.
WhiteBoxResult white_box_inference(const InferenceProblem& problem, const WhiteBoxOptions& options = {});

}  // namespace certicone
