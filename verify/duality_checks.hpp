// Theorem 1 (strong duality) and Proposition 1 (membership), in closed form and by a solver.
#pragma once

#include "geometry/gap.hpp"
#include "verify/finding.hpp"
#include "verify/point.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

/// f(x) = Ψ(x; ξ̂). The bound is the rounding of both sides.
/// With zeros by a tolerance > 0 the gap may be as large as the identity says: Σ ub|a| + Σ λ‖u‖ over them.
Finding check_closed_form_duality(const Point& point, double tolerance = 0.0);

/// An optimal pair of a program in closed form.
struct ReferencePair {
    Vector x, y;
};

/// The solver's primal and dual objectives P, D against f(x). With residuals ρ_p = Ax+s−b, ρ_d = Aᵀy+c, distances δ of s
/// and y from their cones, g = P−D and the closed-form optimal pair (x*, y*), weak duality gives
///   P ≥ f − |y*|ᵀ(|ρ_p| + δ_s),  D ≤ f + |x*|ᵀ|ρ_d| + Σ ‖s*‖δ_y,
/// so |P−f| and |D−f| are at most the larger of both and |g|; and the residuals themselves must keep the tolerances that
/// the solver was asked for (verify/answer.hpp).
///
/// And Ψ at the multipliers that are read from the answer, with what the program has in place of ‖p‖²/2α, is D once more: a
/// sign or a place that is wrong in the reading or in the program shows there.
Finding check_solver_duality(const Point& point, const ReferencePair& reference, const ScaledAnswer& answer,
                             const solvers::Settings& settings, const std::string& solver);

/// The solver's ξ, repaired to be feasible, is within the distance of D*(x) that its gap f − Ψ implies by the gap
/// identity (design §2), block by block; the block nearest to its bound is reported.
Finding check_membership(const Network& network, const LocalState& state, const Multipliers& canonical,
                         const Multipliers& solver_xi, const std::string& solver);

}  // namespace certicone::verify
