// Multipliers of doubles made exactly feasible, and what they then prove (weak duality): lower bounds of f(x) and of
// min f + β/2‖·−y‖².
#pragma once

#include "geometry/exact_point.hpp"

namespace certicone {

/// 0 ≤ ν ≤ ub(ν) and ‖r‖² ≤ λ², in exact arithmetic.
bool exactly_feasible(const Network& network, const Multipliers& xi);

/// ξ in doubles that is exactly feasible, near the given one: from the last layer down, ν is clipped into [0, ub(ν)], where ub(ν) is
/// exact and then rounded down; r is scaled until ‖r‖² ≤ λ². Entries must be finite. Feasible ξ are left as they are.
Multipliers repair_exactly(const Network& network, const Multipliers& xi);

/// Ψ(y; ξ).
Enclosure enclose_psi(const Network& network, const Vector& y, const Multipliers& xi, slong bits);

/// min F ∈ [lower, upper], F = f + β/2‖·−y‖², for a feasible ξ: F(x') ≥ Ψ(y; ξ) + Gᵀ(x'−y) + β/2‖x'−y‖² ≥ Ψ(y; ξ) − ‖G‖²/2β, and F(x) ≤
/// upper.
struct InferenceBound {
    Dyadic lower, upper;
    Dyadic gap() const { return upper - lower; }
};
InferenceBound enclose_inference(const ExactPoint& point, const Vector& y, double beta, const Multipliers& xi,
                                 slong bits);

}  // namespace certicone
