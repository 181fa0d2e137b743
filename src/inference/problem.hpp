// Inference (intro_inference_problem): minimise F(x) = f(x) + Φ(x) subject to C x ≤ h, with
//
//   Φ(x) = ½ (x − y)ᵀQ(x − y) + qᵀx,  Q symmetric, positive semidefinite.
//
// Experiment 4 (exp4_inference_problem) is Q = βI, q = 0, without constraints.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

struct InferenceProblem {
    const Network* network = nullptr;
    Matrix Q;
    Vector y;
    Vector q;
    Matrix C{};  ///< rows of constraints; may have none
    Vector h{};

    Vector gradient(const Vector& x) const { return Q * (x - y) + q; }  ///< ∇Φ(x)
};

/// Φ(x) = β/2 ‖x − y‖².
InferenceProblem proximity(const Network& network, double beta, const Vector& y);

/// F(x).
double inference_value(const InferenceProblem& problem, const LocalState& state);

/// The same with the absolute values of all numbers: what rounding in F is relative to.
double inference_size(const InferenceProblem& problem, const Vector& x);

/// The largest violation of C x ≤ h; 0 where there is none.
double constraint_violation(const InferenceProblem& problem, const Vector& x);

}  // namespace certicone
