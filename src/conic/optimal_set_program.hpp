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
    /// ν in units of its box, rows likewise, the objective by its largest coefficient.
    Scaling scaling() const;

  private:
    const Network* network_;
    Goal goal_;
    Multipliers canonical_;
    std::vector<Index> nu_, r_, ball_;
    std::vector<Vector> box_;
    std::vector<double> row_unit_;
    ConicProgram program_;
};

}  // namespace certicone::conic
