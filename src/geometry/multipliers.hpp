// Dual variables ξ = (ν, p, r), the readout G and the dual objective Ψ (paper, Theorem 1).
#pragma once

#include "geometry/local_state.hpp"

namespace certicone {

struct Multipliers {
    std::vector<Vector> nu;  ///< ν_ℓ, one for each layer
    std::vector<Vector> p;   ///< p_h, one for each quadratic module
    std::vector<Vector> r;   ///< r_g, one for each conic module
};

/// Zero multipliers of the network's shape.
Multipliers zero_multipliers(const Network& network);

double squared_norm(const Multipliers& xi);
bool is_finite(const Multipliers& xi);

/// ub_ℓ(ν) (app_sdr_ub): c for the last layer, U_{ℓ+1}ᵀ ν_{ℓ+1} below it.
Vector upper_bound(const Network& network, const std::vector<Vector>& nu, std::size_t layer);

/// ν from the last layer down: ν_{ℓ,i} = choose(ℓ, i, ub_{ℓ,i}(ν)). Every selection from the box constraints K_ν
/// (sdr_Knu) is of this form: the canonical one, the maximising one, a random one, a clipped one.
template <class Choose>
std::vector<Vector> select_backward(const Network& network, Choose choose) {
    std::vector<Vector> nu(network.layers.size());
    for (std::size_t l = network.layers.size(); l-- > 0;) {
        nu[l] = upper_bound(network, nu, l);
        for (Index i = 0; i < nu[l].size(); ++i)
            nu[l](i) = choose(l, i, nu[l](i));
    }
    return nu;
}

/// G(ξ) = v + Σ W_ℓᵀν_ℓ + Σ B_hᵀp_h + Σ A_gᵀr_g (sdr_readout).
Vector readout(const Network& network, const Multipliers& xi);

/// The part of Ψ that does not depend on x: b0 + Σ ν_ℓᵀb_ℓ + Σ (p_hᵀe_h − ‖p_h‖²/2α_h) + Σ r_gᵀd_g.
double support_offset(const Network& network, const Multipliers& xi);

/// Ψ(x; ξ) (sdr_Psi), term by term as in the paper.
double psi(const Network& network, const Vector& x, const Multipliers& xi);

/// The canonical selector ξ̂(x) (sdr_relu_canonical, sdr_quad_closed_form, sdr_conic_canonical): the element of least
/// norm of D*(x) (cor_sdr_min_norm_selector).
Multipliers canonical_selector(const Network& network, const LocalState& state);

/// An affine minorant x' ↦ slope·x' + offset = Ψ(x'; ξ) of f, touching f at x when ξ ∈ D*(x) (sdr_support_property).
struct AffineSupport {
    Vector slope;
    double offset = 0.0;

    double operator()(const Vector& x) const { return slope.dot(x) + offset; }
};
AffineSupport affine_support(const Network& network, const Multipliers& xi);

}  // namespace certicone
