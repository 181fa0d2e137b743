// How far rounding can move what the closed forms compute (docs/mathematics.md, "Rounding"): with γ_K = Ku/(1−Ku),
// u = 2⁻⁵³, and K the number of roundings on the longest chain, each computed sum is off by at most γ_K times the sum of
// the sizes of its terms. The masks are fixed, so the sizes of all paths through the ReLU layers add up to ν̂ᵀ(|W||x|+|b|).
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

/// |M||x| + |b|: the sizes of what Mx + b is summed from.
Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b);

/// |computed f(x) − f(x)|, with the canonical multipliers of x.
double rounding_of_value(const Network& network, const Vector& x, const Multipliers& canonical);

/// |computed Ψ(x;ξ) − Ψ(x;ξ)|.
double rounding_of_psi(const Network& network, const Vector& x, const Multipliers& xi);

/// |computed G(ξ) − G(ξ)|, entry by entry, for ξ as given.
Vector rounding_of_readout(const Network& network, const Multipliers& xi);

/// |computed − true| of G(ξ), entry by entry, for every ξ ∈ D*(x) computed by the backward recursion: ν at its largest,
/// p with the rounding of q, and r with that of û, which is ‖|A||x| + |d|‖/‖u‖ units of rounding.
Vector rounding_of_gradient(const Network& network, const LocalState& state);

/// |computed − true| of the Hessian of Theorem 3, entry by entry; conic residuals must not vanish.
Matrix rounding_of_hessian(const Network& network, const LocalState& state);

}  // namespace certicone
