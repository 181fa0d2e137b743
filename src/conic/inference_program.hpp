// Inference as one program (inference/problem.hpp): min over x of f(x) + ½ (x − y)ᵀQ(x − y) + qᵀx subject to C x ≤ h, jointly
// in x and the unknowns of the value function. The blocks are those of ValueFunction, with x among the columns:
//
//   relu[ℓ]: z_ℓ − U_ℓ z_{ℓ−1} − W_ℓ x − b_ℓ ≥ 0,  quadratic[h].link: e_h + B_h x − η_h = 0,  conic[g].link: d_g + A_g x − ω_g = 0
//
// and the multipliers are read from y the same way; after them come the rows constraints: h − C x ≥ 0, whose y is μ. At the
// optimum G(ξ) + Q(x − y) + q + Cᵀμ = 0 (inference/certificate.hpp). The query y enters c and the constant alone.
#pragma once

#include "conic/scaling.hpp"
#include "inference/problem.hpp"

namespace certicone::conic {

class InferenceProgram {
  public:
    explicit InferenceProgram(InferenceProblem problem);
    /// Experiment 4: β/2 ‖x − y‖².
    InferenceProgram(const Network& network, double beta)
        : InferenceProgram(proximity(network, beta, Vector::Zero(network.input_dim))) {}

    void set_query(const Vector& y);

    const Network& network() const { return value_function_.network(); }
    const InferenceProblem& problem() const { return problem_; }  ///< with the query it is set to
    const ConicProgram& program() const { return program_; }

    Vector input(const Vector& columns) const { return columns.tail(network().input_dim); }
    Multipliers multipliers(const Vector& y) const { return value_function_.multipliers(y); }
    Vector constraint_multipliers(const Vector& y) const { return y.tail(problem_.C.rows()); }

    /// Columns for the point of `state`, with the closed-form values of all other unknowns.
    Vector primal(const LocalState& state) const;

    /// The value function's dual-box scaling at the point `reference` (a query will do), with x scaled so that no entry
    /// of its columns exceeds 1. It is fixed: a new query changes c alone.
    Scaling scaling(const Vector& reference) const;

  private:
    InferenceProblem problem_;
    ValueFunction value_function_;  ///< at x = 0: its rows carry the offsets
    ConicProgram program_;
    Index x_;  ///< first column of x: after those of the value function
};

}  // namespace certicone::conic
