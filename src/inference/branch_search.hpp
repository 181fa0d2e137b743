// The search behind white-box inference, without constraints; Q + Σ αBᵀB must be positive definite.
#pragma once

#include "inference/white_box.hpp"

namespace certicone {

/// Each iteration, at x on the kinks K and with the vanished modules V:
///   1. The element of D*(x) whose residual is smallest in the norm of H⁻¹ (kink_problem.hpp): ξ proves how far x is from
///      the optimum, and d = −H⁻¹ residual is a descent direction that stays on the kinks whose ν is inside [0, ub(ν)].
///      It is taken near the minimiser of the face of K and V; before, the step goes to that minimiser.
///   2. Along d every preactivation is affine up to the next kink. F is minimised there, kink by kink; one past which F
///      would rise, or past which a held unit would move, is where the step ends, and its unit joins K: a fact of the
///      line search, not a matter of tolerance.
///   3. A conic residual that the step would overrun is tried at u = 0: if the r that this needs is in its ball, and F
///      falls on the way, the module joins V.
WhiteBoxResult search_branches(const InferenceProblem& problem, const WhiteBoxOptions& options);

}  // namespace certicone
