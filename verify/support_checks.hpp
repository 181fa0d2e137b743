// Theorem 1, the support property: x' ↦ Ψ(x'; ξ) is an affine minorant of f with slope G(ξ).
#pragma once

#include <span>

#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

/// Ψ(x'; ξ) ≤ f(x') at the neighbours, for each feasible ξ given. The bound is the rounding of both sides.
Finding check_support(const Point& point, std::span<const Multipliers> feasible, const std::string& solver);

/// Ψ(x'; ξ) − Ψ(x; ξ) = G(ξ)ᵀ(x' − x), for the canonical ξ and random elements of D*(x).
Finding check_slope(const Point& point);

}  // namespace certicone::verify
