// Inference as one program (exp4_inference_problem): min over x of F_y(x) = f(x) + β/2 ‖x − y‖², jointly in x and the
// unknowns of the value function. The blocks are those of ValueFunction, with x among the columns:
//
//   relu[ℓ]: z_ℓ − U_ℓ z_{ℓ−1} − W_ℓ x − b_ℓ ≥ 0,  quadratic[h].link: e_h + B_h x − η_h = 0,  conic[g].link: d_g + A_g x − ω_g = 0
//
// and the multipliers are read from y the same way. At the optimum G(ξ) + β(x − y) = 0, and every feasible ξ proves
// F* ≥ Ψ(y;ξ) − ‖G(ξ)‖²/(2β). The query y enters c and the constant alone.
#pragma once

#include "conic/scaling.hpp"

namespace certicone::conic {

class InferenceProgram {
  public:
    InferenceProgram(const Network& network, double beta);

    void set_query(const Vector& y);

    const Network& network() const { return value_function_.network(); }
    double beta() const { return beta_; }
    const ConicProgram& program() const { return program_; }

    Vector input(const Vector& columns) const { return columns.tail(network().input_dim); }
    Multipliers multipliers(const Vector& y) const { return value_function_.multipliers(y); }

    /// Columns for the point of `state`, with the closed-form values of all other unknowns.
    Vector primal(const LocalState& state) const;

    /// The value function's dual-box scaling at the point `reference` (a query will do), with x scaled so that no entry
    /// of its columns exceeds 1. It is fixed: a new query changes c alone.
    Scaling scaling(const Vector& reference) const;

  private:
    double beta_;
    ValueFunction value_function_;  ///< at x = 0: its rows carry the offsets
    ConicProgram program_;
    Index x_;  ///< first column of x: after those of the value function
};

}  // namespace certicone::conic
