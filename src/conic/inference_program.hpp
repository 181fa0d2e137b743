// Inference as one program (inference/problem.hpp): min over x of f(x) + ½ (x − y)ᵀQ(x − y) + qᵀx subject to C x ≤ h, jointly
// in x and the unknowns of the value function. Its column is the step d = x − y: the rows are those of ValueFunction at y,
//
//   relu[ℓ]: z_ℓ − U_ℓ z_{ℓ−1} − W_ℓ d − (W_ℓ y + b_ℓ) ≥ 0,  quadratic[h].link: q_h(y) + B_h d − η_h = 0,
//   conic[g].link: u_g(y) + A_g d − ω_g = 0
//
// and the multipliers are read from y the same way; after them come the rows constraints: h − C y − C d ≥ 0, whose y is μ. The
// objective ½ dᵀQd + (v + q)ᵀd + … has no ½ yᵀQy that the rest would have to cancel (with inputs of 1e7 that is 1e14, for a
// minimum of 1e8), and the query enters b and the constant alone. At the optimum G(ξ) + Qd + q + Cᵀμ = 0
// (inference/certificate.hpp).
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

    Vector input(const Vector& columns) const { return problem_.y + columns.tail(network().input_dim); }
    Multipliers multipliers(const Vector& y) const { return value_function_.multipliers(y); }
    Vector constraint_multipliers(const Vector& y) const { return y.tail(problem_.C.rows()); }

    /// Columns for the point of `state`, with the closed-form values of all other unknowns.
    Vector primal(const LocalState& state) const;

    /// The value function's dual-box scaling at the query, with the step scaled so that no entry of its columns exceeds 1.
    /// It serves for other queries too: they change b alone.
    Scaling scaling() const;

  private:
    InferenceProblem problem_;
    ValueFunction value_function_;  ///< at the query
    ConicProgram program_;
    Index step_;  ///< its first column: after those of the value function
};

}  // namespace certicone::conic
