// The directional derivative by max-readout (Theorem 2, efg_directional_derivative), in closed form.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

struct MaxReadout {
    double value = 0.0;  ///< f'(x; d) = max over D*(x) of G(ξ)ᵀd
    Multipliers xi;      ///< an element of D*(x) that attains it
};

/// Forward sweep ȧ_ℓ = W_ℓ d + U_ℓ ż_{ℓ−1}, with ż = ȧ where a>0, max(ȧ,0) where a=0, 0 where a<0; then
///   f'(x;d) = cᵀż_L + vᵀd + Σ α qᵀBd + Σ (λ ûᵀAd, or λ‖Ad‖ where u=0).
double directional_derivative(const Network& network, const LocalState& state, const Vector& direction);

/// The same, with a maximiser: the canonical recursion with mask a>0 or (a=0 and ȧ>0), and r = λAd/‖Ad‖ where u=0.
MaxReadout max_readout(const Network& network, const LocalState& state, const Vector& direction);

}  // namespace certicone
