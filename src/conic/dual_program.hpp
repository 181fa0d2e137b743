// The dual program of Theorem 1 (sdr_unified_dual): f(x) = max Ψ(x; ν, p, r) over K_ν × P × K_r, with ξ itself as the
// unknown. Written as a minimum of −Ψ, with w_h ≥ ‖p_h‖²/2 in place of the square:
//
//   minimise Σ w_h/α_h − Σ ν_ℓᵀ(W_ℓ x + b_ℓ) − Σ p_hᵀq_h(x) − Σ r_gᵀu_g(x) − (vᵀx + b0)
//
//   block             cone                 s of the block          y of the block
//   nu[ℓ].lower       Nonnegative          ν_ℓ                     z_ℓ − a_ℓ
//   nu[ℓ].upper       Nonnegative          ub_ℓ(ν) − ν_ℓ           z_ℓ
//   quadratic[h]      RotatedSecondOrder   (w_h, 1, p_h)           (1/α_h, α_h‖q_h‖²/2, −q_h)
//   conic[g]          SecondOrder          (λ_g, r_g)              (‖u_g‖, −u_g)
//
// A, b and the cones depend on the network alone; x enters c and the constant. Modules with λ = 0 are left out.
#pragma once

#include "conic/scaling.hpp"

namespace certicone::conic {

class DualProgram {
  public:
    explicit DualProgram(const Network& network);

    void set_point(const Vector& x);

    const Network& network() const { return *network_; }
    const ConicProgram& program() const { return program_; }

    /// ξ from the columns.
    Multipliers multipliers(const Vector& x) const;

    /// What the columns w_h/α_h have in place of ‖p_h‖²/2α_h.
    Vector squares(const Vector& x) const;

    /// The closed-form optimal pair: columns for ξ ∈ D*(x), rows for the forward quantities of `state`.
    Vector primal(const Multipliers& xi) const;
    Vector dual(const LocalState& state) const;

    /// The transpose of the value function's dual-box scaling, at the current point: ν by ub, p by ατ, r by λ, the
    /// objective by the largest term. Ã, b̃ and the cones do not depend on x.
    Scaling scaling() const;

  private:
    const Network* network_;
    std::vector<Index> lower_, upper_, nu_;
    std::vector<Index> square_, w_, p_;
    std::vector<Index> ball_, r_;
    std::vector<Vector> box_;
    ConicProgram program_;
};

}  // namespace certicone::conic
