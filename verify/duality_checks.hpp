// Theorem 1 (strong duality) and Proposition 1 (membership), in closed form and by a solver.
#pragma once

#include "geometry/gap.hpp"
#include "verify/finding.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

/// f(x) = Ψ(x; ξ̂). The bound is the rounding of both sides.
Finding check_closed_form_duality(const Network& network, const LocalState& state, const Multipliers& canonical);

/// The solver's primal and dual objectives P, D against f(x). With residuals ρ_p = Ax+s−b, ρ_d = Aᵀy+c, g = P−D and the
/// closed-form optimal pair (x*, y*), weak duality gives
///   P ≥ f − |y*|ᵀ|ρ_p|,  D ≤ f + |x*|ᵀ|ρ_d|,  so  |P−f|, |D−f| ≤ max(|y*|ᵀ|ρ_p|, |x*|ᵀ|ρ_d|) + |g|,
/// and the residuals themselves must keep the tolerances that the solver was asked for: a claim is not taken on trust.
Finding check_solver_duality(const conic::ValueFunction& value_function, const LocalState& state,
                             const Multipliers& canonical, const ScaledAnswer& answer,
                             const solvers::Settings& settings, const std::string& solver);

/// The solver's ξ, repaired to be feasible, is within the distance of D*(x) that its gap f − Ψ implies by the gap
/// identity (design §2), block by block; the block nearest to its bound is reported.
Finding check_membership(const Network& network, const LocalState& state, const Multipliers& canonical,
                         const Multipliers& solver_xi, const std::string& solver);

}  // namespace certicone::verify
