// How far rounding can move what the closed forms compute (docs/mathematics.md, "Rounding"): with γ_K = Ku/(1−Ku),
// u = 2⁻⁵³, and K the number of roundings on the longest chain, each computed sum is off by at most γ_K times the sum of
// the sizes of its terms. The masks are fixed, so the sizes of all paths through the ReLU layers add up to ν̂ᵀ(|W||x|+|b|).
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

/// |M||x| + |b|: the sizes of what Mx + b is summed from.
Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b);

/// The scales of f and of its slopes: the sizes of the terms of Ψ(x;ξ) and G(ξ), with the multipliers as large as they can
/// be at x: ν = ub throughout, |p| = α(|B||x|+|e|), ‖r‖ = λ. Where x = 0 makes all of them vanish, that of f is taken at
/// (1, …, 1).
double scale_of_value(const Network& network, const Vector& x);
Vector scale_of_slope(const Network& network, const Vector& x);
/// That of the Hessian: the largest entry of Σ α|B|ᵀ|B| + Σ λ/‖u‖ |A|ᵀ|A|; conic residuals must not vanish.
double scale_of_hessian(const Network& network, const LocalState& state);

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
