// The gap identity (design §2): for every feasible ξ the duality gap f(x) − Ψ(x; ξ) is a sum of nonnegative terms, one
// for each unit and module,
//
//   Σ_{ℓ,i} [ν_{ℓ,i}(z−a)_{ℓ,i} + (ub(ν)−ν)_{ℓ,i} z_{ℓ,i}] + Σ_h ‖p_h − α_h q_h‖²/(2α_h) + Σ_g (λ_g‖u_g‖ − r_gᵀu_g),
//
// so a measured gap bounds how far each multiplier is from D*(x), without a tolerance chosen by hand.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

struct Gap {
    std::vector<Vector> relu;  ///< one term a unit
    Vector quadratic;          ///< one term a module
    Vector conic;              ///< one term a module
    double total = 0.0;
};

/// The terms of the identity; each is computed without cancellation, so `total` is accurate even where f − Ψ is not.
/// For infeasible ξ terms may be negative.
Gap duality_gap(const Network& network, const LocalState& state, const Multipliers& xi);

/// How far a feasible ξ of gap δ can be from the canonical selector, or from D*(x) where that is set-valued.
struct DistanceBound {
    std::vector<Vector>
        nu;    ///< |ν − ν̂| ≤ this, elementwise. At a = 0: the distance to the nearest value Lemma 1 allows
    Vector p;  ///< ‖p_h − p̂_h‖ ≤ this
    Vector r;  ///< ‖r_g − r̂_g‖ ≤ this; 0 where u_g = 0 (all of the ball is optimal)
};

/// For a feasible ξ with the gap terms `gap`:
///   a<0: ν ≤ δ_i/|a|;  a>0: ub(ν)−ν ≤ δ_i/a, and the error of ub(ν) follows backward through Uᵀ ≥ 0;
///   ‖p − p̂‖ = √(2αδ_h);  ‖r − r̂‖ ≤ √(2λδ_g/‖u‖).
/// |a| and ‖u‖ enter with what rounding leaves of them for sure; ν is never further off than the dual box, nor r than 2λ.
DistanceBound distance_bound(const Network& network, const LocalState& state, const Gap& gap);

}  // namespace certicone
