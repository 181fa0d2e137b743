// The optimal dual set D*(x): Lemma 1, Proposition 1 and the elementwise part of Corollary 1, in closed form. The parts
// that a solver takes are in verify/duality_checks.hpp (membership) and verify/set_checks.hpp (minimum norm).
#pragma once

#include <span>

#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

/// Lemma 1 at the canonical selector: ν(z−a) = 0 and (ub(ν)−ν)z = 0 at every unit, exactly: each product has a factor
/// that is 0 in doubles too. And ν ∈ K_ν, where rounding of ub(ν) alone is allowed for.
Finding check_complementarity(const Point& point);
/// The same for a solver's ξ, repaired to be feasible: no unit's term exceeds the whole gap f − Ψ.
Finding check_complementarity(const Point& point, const Multipliers& feasible, const std::string& solver);

/// Proposition 1: D*(x) is a product. Blocks of different elements put together are optimal again: f − Ψ = 0.
Finding check_factorisation(const Point& point, std::span<const Multipliers> optimal);

/// Proposition 1: only units with a = 0 and modules with u = 0 leave a choice. An element is rebuilt, digit for digit, from
/// its values there and the pattern; and wherever such a unit has room (ub(ν) > 0) or such a module has λ > 0, both ends
/// are optimal. The figure is the largest difference, and the gap of the ends.
Finding check_nonuniqueness_sources(const Point& point, std::span<const Multipliers> optimal);

/// Corollary 1, elementwise: ν̂ ≤ ν and ‖r̂_g‖ ≤ ‖r_g‖ for every element. Sums of nonnegative terms round monotonically,
/// so the bound for ν is 0; r̂ = 0 where u = 0.
Finding check_elementwise_minimum(const Point& point, std::span<const Multipliers> optimal);

}  // namespace certicone::verify
