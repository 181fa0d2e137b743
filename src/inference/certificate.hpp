// Inference min F_y(x) = f(x) + β/2 ‖x − y‖² (exp4_inference_problem), and what proves its optimum: for every dual feasible ξ
//
//   F* ≥ Ψ(y; ξ) − ‖G(ξ)‖²/(2β),    and    F_y(x) − that = [f(x) − Ψ(x; ξ)] + β/2 ‖x − y + G(ξ)/β‖²,
//
// where the bracket is the gap identity's sum of nonnegative terms: the gap is computed without cancellation.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

struct InferenceProblem {
    const Network* network = nullptr;
    double beta = 1.0;
    Vector y;
};

double inference_value(const InferenceProblem& problem, const LocalState& state);

struct InferenceCertificate {
    Vector x;
    Multipliers xi;            ///< feasible as doubles
    double value = 0.0;        ///< F_y(x)
    double lower_bound = 0.0;  ///< Ψ(y;ξ) − ‖G(ξ)‖²/(2β)
    double gap = 0.0;          ///< value − lower bound, by the identity
};

/// ξ is repaired to be feasible first.
InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi);

}  // namespace certicone
