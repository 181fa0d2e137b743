// MOSEK as a referee of the closed forms: at each point the primal–dual pair of the value-function program, built from the
// forward pass and the canonical selector, is judged by MOSEK in its own model. No licence is needed.
#pragma once

#include "conic/value_function.hpp"
#include "solvers/mosek_runtime.hpp"
#include "verify/finding.hpp"

namespace certicone::verify {

/// One object serves one thread.
class Referee {
  public:
    /// Throws SolverUnavailable where MOSEK's runtime is not there.
    explicit Referee(const Network& network) : value_function_(network), task_(value_function_.program()) {}

    /// Theorem 1 by MOSEK's figures: the violation or gap nearest to its bound, relative to the size of what is summed.
    /// With γ = K·ε for the longest chain of K roundings the bounds are
    ///   primal   γ · max(|W||x| + |U||z| + |b|, …) (each row was summed in another order), and the error of units whose
    ///            preactivation exact arithmetic decided,
    ///   dual     γ (each row of the backward recursion),
    ///   gap      the rounding of f and of Ψ (geometry/rounding.hpp), and γ for MOSEK's own sums.
    static constexpr const char* kName = "mosek referee";  ///< in findings
    Finding check(const LocalState& state, const Multipliers& canonical);

  private:
    conic::ValueFunction value_function_;
    solvers::mosek::Task task_;
};

/// What --referee asks for: `mosek` insists on it, `auto` takes it where it is there, `none`. Throws InputError for other
/// words, SolverUnavailable where it is asked for and not there.
bool with_referee(const std::string& choice);

}  // namespace certicone::verify
