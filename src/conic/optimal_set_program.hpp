// Programs over the optimal dual set D*(x) as Lemma 1 and Proposition 1 describe it:
//
//   max-readout   f'(x;d) = max G(ξ)ᵀd over D*(x)     (Theorem 2, efg_directional_derivative); d enters c alone
//   min-norm      min ‖ξ‖ over D*(x)                  (Corollary 1), as ½‖ξ‖² with the constant part in c0
//
//   block           cone          s of the block
//   nu[ℓ].fixed     Zero          ν_i (where a<0), ub(ν)_i − ν_i (where a>0)
//   nu[ℓ].free      Nonnegative   ν_i and then ub(ν)_i − ν_i, for the units with a=0
//   conic[g]        SecondOrder   (λ_g, r_g), for the modules with u_g=0 and λ_g>0
//
// p and the other r are single-valued (Proposition 1): they are constants. Without vanishing conic residuals the first
// is an LP and the second a QP; `conic = false` leaves r out of the program (as 0, its minimum-norm value) so that an
// LP or QP solver can take the ReLU block alone.
#pragma once

#include "conic/scaling.hpp"

namespace certicone::conic {

enum class Goal { MaxReadout, MinNorm };

class OptimalSetProgram {
  public:
    OptimalSetProgram(const Network& network, const LocalState& state, Goal goal, bool conic = true);

    /// For max-readout: the program's value becomes −f'(x;d) (of the blocks in the program, and the constant ones).
    void set_direction(const Vector& direction);
    /// Any other linear function Σ ν_ℓᵀ weight.nu_ℓ + Σ r_gᵀ weight.r_g to be maximised over D*(x).
    void set_weights(const Multipliers& weight);

    const ConicProgram& program() const { return program_; }
    /// ξ from the columns, constant blocks included.
    Multipliers multipliers(const Vector& x) const;
    Vector primal(const Multipliers& xi) const;

    /// The closed-form multipliers of the program at its optimum `x` (columns). With g = Px + c, y⁻ and y⁺ of the rows
    /// s = ν and s = ub(ν) − ν, and y⁺ = 0 where there is no such row, stationarity reads y⁺ − y⁻ = ȧ with
    ///   ȧ_ℓ = U_ℓ y⁺_{ℓ−1} − g_ℓ:   y⁺ = ȧ where a>0,  y⁻ = −ȧ where a<0,  (max(ȧ,0), max(−ȧ,0)) where a=0,
    /// and y = (‖g‖, g) for a ball. For max-readout ȧ is the directional derivative of a along d, and y⁺ that of z; for
    /// min-norm all ȧ ≤ 0 by U ≥ 0, so that y⁺ = 0 wherever ν̂ = 0 < ub: this is the proof of Corollary 1.
    Vector dual(const Vector& x) const;
    /// ȧ as above, layer by layer; its signs at a=0 decide whether the multipliers are unique.
    std::vector<Vector> rates(const Vector& x) const;
    /// Rows s = ν and s = ub(ν) − ν of a unit; −1 where there is none.
    Index lower_row(std::size_t layer, Index unit) const { return lower_[layer](unit); }
    Index upper_row(std::size_t layer, Index unit) const { return upper_[layer](unit); }

    /// ν in units of its largest value on D*(x) or, for min-norm, of ν̂; rows and the objective by its largest coefficient.
    Scaling scaling() const;

  private:
    const Network* network_;
    Goal goal_;
    Multipliers canonical_;
    std::vector<Index> nu_, r_, ball_;
    std::vector<Eigen::Matrix<Index, Eigen::Dynamic, 1>> lower_, upper_;
    std::vector<Vector> unit_;  ///< of ν
    std::vector<double> row_unit_;
    ConicProgram program_;
};

}  // namespace certicone::conic
