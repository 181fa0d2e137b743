// How far rounding can move what the closed forms compute (docs/mathematics.md, "Rounding"): with γ_K = Ku/(1−Ku),
// u = 2⁻⁵³, and K the number of roundings on the longest chain, each computed sum is off by at most γ_K times the sum of
// the sizes of its terms. The masks are fixed, so the sizes of all paths through the ReLU layers add up to ν̂ᵀ(|W||x|+|b|).
//
// A product that underflows is off by 2⁻¹⁰⁷⁵ = u·2⁻¹⁰²² at most: the rounding of a product of size 2⁻¹⁰²². So every product
// counts with 2⁻¹⁰²² besides its size, and the bounds hold for denormal numbers, too.
#pragma once

#include <optional>
#include <string>

#include "geometry/multipliers.hpp"

namespace certicone {

/// The bounds below and in the checks, which are products of up to five factors, are free of overflow where all numbers of the
/// network and of x, the sizes of the forward pass, of its Jacobian and of the dual box are at most 2¹⁸⁰ ≈ 1.5e54, and what is
/// divided by, α, λ > 0 and ‖u‖ > 0, at least 2⁻¹⁸⁰. Names the first number that is not; nothing where all are.
std::optional<std::string> beyond_range(const Network& network, const LocalState& state);

/// |M||x| + |b|: the sizes of what Mx + b is summed from.
Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b);
/// The same with what underflow counts.
Vector size_of_products(const Matrix& M, const Vector& x, const Vector& b);

/// The scales of f and of its slopes: the sizes of the terms of Ψ(x;ξ) and G(ξ), with the multipliers as large as they can
/// be at x: ν = ub throughout, |p| = α(|B||x|+|e|), ‖r‖ = λ. Where x = 0 makes all of them vanish, that of f is taken at
/// (1, …, 1).
double scale_of_value(const Network& network, const Vector& x);
Vector scale_of_slope(const Network& network, const Vector& x);
/// That of the Hessian: the largest entry of Σ α|B|ᵀ|B| + Σ λ/‖u‖ |A|ᵀ|A|; conic residuals must not vanish.
double scale_of_hessian(const Network& network, const LocalState& state);

/// At least 2γ_n for sums of n products and some operations more, which also covers the rounding of the bound itself.
inline double relative_rounding(Index operations) { return RoundingBound(operations).relative; }

/// |computed f(x) − f(x)|, with the canonical multipliers of x.
double rounding_of_value(const Network& network, const Vector& x, const Multipliers& canonical);

/// |computed Ψ(x;ξ) − Ψ(x;ξ)|.
double rounding_of_psi(const Network& network, const Vector& x, const Multipliers& xi);

/// |computed G(ξ) − G(ξ)|, entry by entry, for ξ as given.
Vector rounding_of_readout(const Network& network, const Multipliers& xi);

/// |computed − true| of G(ξ), entry by entry, for every ξ ∈ D*(x) computed by the backward recursion: ν at its largest,
/// p with the rounding of q, and r with that of û, which is ‖|A||x| + |d|‖/‖u‖ units of rounding where u was summed in doubles,
/// and one where it was decided exactly.
Vector rounding_of_gradient(const Network& network, const LocalState& state);
/// The same for whoever sums all residuals in doubles: automatic differentiation.
Vector rounding_of_summed_gradient(const Network& network, const LocalState& state);

/// ‖computed u_g − u_g‖/‖u_g‖ at most for the residual of `state`; 0 where u_g = 0, for nothing is then divided by it.
double relative_rounding_of_residual(const Network& network, const LocalState& state, std::size_t module);

/// |computed − true| of the Hessian of Theorem 3, entry by entry; conic residuals must not vanish.
Matrix rounding_of_hessian(const Network& network, const LocalState& state);
/// The same for whoever sums all residuals in doubles. Nothing where one may be off by more than an eighth of itself.
std::optional<Matrix> rounding_of_summed_hessian(const Network& network, const LocalState& state);

/// An interval that holds the ReLU radius of Theorem 3, min |a|/‖J‖, as well as what doubles make of it. The upper end is
/// infinite where no unit is sure to have a gradient; both are where none changes within 2⁵⁰⁰.
struct RadiusInterval {
    double lower, upper;
    /// What is below this share of a radius from the interval is below every other one.
    double share() const { return lower == upper ? 1.0 : lower / upper; }
};
RadiusInterval enclose_relu_radius(const Network& network, const LocalState& state);

}  // namespace certicone
