// How far rounding can move what the closed forms compute (docs/mathematics.md, "Rounding"): with γ_K = Ku/(1−Ku),
// u = 2⁻⁵³, and K the number of roundings on the longest chain, each computed sum is off by at most γ_K times the sum of
// the sizes of its terms. The masks are fixed, so the sizes of all paths through the ReLU layers add up to ν̂ᵀ(|W||x|+|b|).
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

/// |computed f(x) − f(x)|, with the canonical multipliers of x.
double rounding_of_value(const Network& network, const Vector& x, const Multipliers& canonical);

/// |computed Ψ(x;ξ) − Ψ(x;ξ)|.
double rounding_of_psi(const Network& network, const Vector& x, const Multipliers& xi);

}  // namespace certicone
