// The level `rigorous`: what doubles and solvers say, turned into proved statements. ξ is repaired until it is exactly feasible, then
// f(x), Ψ(x; ξ), the gap and the distances are enclosed in ball arithmetic.
#pragma once

#include "verify/finding.hpp"
#include "verify/point.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

/// f(x) − Ψ(x; ξ̂) ≤ figure, proved, for the ξ̂ in doubles; at most the rounding of both sides and what the repair moved.
Finding check_rigorous_closed_form(const Point& point);

/// Of one answer of a solver: the repaired ξ's proved gap (f(x) lies in [f − gap, f]) is at most `allowance`, which weak duality gives from
/// the solver's residuals, and what the repair moved; and its p and r are as near to D*(x) as that gap implies.
void check_rigorous_solver(const Point& point, const ScaledAnswer& answer, double allowance, const std::string& solver,
                           std::vector<Finding>& findings);

}  // namespace certicone::verify
