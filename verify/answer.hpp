// What a solver's answer is worth: residuals recomputed entry by entry, whether they keep what was asked for, and the
// bounds that weak duality draws from them. A claim is never taken on trust.
#pragma once

#include <optional>

#include "solvers/solver.hpp"

namespace certicone::verify {

/// Rounding included: each entry is at least the true one.
struct Residuals {
    Vector primal;  ///< |Ax + s − b|, with the distance of s from K added to the rows of its block
    Vector dual;    ///< |Px + Aᵀy + c|
    Vector cone;    ///< distance of y from K*, one entry a block
    double objective_rounding = 0.0;
};
Residuals residuals(const conic::ConicProgram& program, const solvers::Solution& solution);

/// Where the answer does not keep its word: a status other than solved; or residuals, cone distances or a gap above
/// eps_abs + eps_rel · size (rounding allowed for). None where it does.
std::optional<std::string> broken_promise(const conic::ConicProgram& program, const solvers::Solution& solution,
                                          const solvers::Settings& settings);

/// A lower bound of the optimal value, proved by the answer's y alone, given that |x| ≤ `box` and ‖s of a block‖ ≤ `size`
/// of that block at some optimum x, s:
///   ½xᵀPx + cᵀx ≥ −½x₀ᵀPx₀ − bᵀy − |ρ_d|ᵀbox − Σ dist(y_k, K*) size_k,   ρ_d = Px₀ + Aᵀy + c.
double proved_lower_bound(const conic::ConicProgram& program, const solvers::Solution& solution, const Vector& box,
                          const Vector& size);

}  // namespace certicone::verify
