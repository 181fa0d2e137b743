// Solving an instance that was read from a file, and what its known optimal pair says of the answer.
//
// For the known pair (x°, y°) with s° = b − Ax°, and an answer (x, s, y) with residuals r = Ax + s − b and ρ = c + Aᵀy, the
// optimal value f° lies between the answer's objectives p and d but for its residuals:
//
//   p − f° = y°ᵀ(s − r) ≥ −|y°|ᵀ|r| − Σ ‖y°_k‖ dist(s_k, K_k),    f° − d = s°ᵀy + ρᵀx° ≥ −|x°|ᵀ|ρ| − Σ ‖s°_k‖ dist(y_k, K_k*)
//
// so that |p − f°| and s°ᵀy are bounded by |p − d| and those terms: no tolerance is chosen. y belongs to the set of optimal
// multipliers when ρ = 0, y ∈ K* and s°ᵀy = 0, however large that set is.
#pragma once

#include <cmath>

#include "formats/cbf.hpp"
#include "solvers/solver.hpp"
#include "verify/solution_file.hpp"

namespace certicone::verify {

/// The answer to a program with a linear objective, in its own units; the solver gets what presolve leaves of it
/// (conic/presolve.hpp), equilibrated (conic/equilibrate.hpp), and is asked again, more strictly, while the answer does not
/// keep the tolerance in these units, or its residuals leave more than eps_rel of the objective in doubt. The objectives in
/// `claimed` are the measured ones; the status is Failed where a number is not finite.
solvers::Solution solve_from_file(const conic::ConicProgram& program, const solvers::Backend& backend,
                                  const solvers::Settings& settings);
solvers::Solution solve_model(const formats::CbfModel& model, const solvers::Backend& backend,
                              const solvers::Settings& settings);

/// Without a solver named: the default one and, while the answer leaves more than 10 eps_rel of the objective in doubt, two
/// others, 10 seconds a solve; of the answers that keep the tolerance, if any do, the one with the least doubt.
struct DefaultAnswer {
    const solvers::Backend* backend = nullptr;
    solvers::Solution solution;
};
DefaultAnswer solve_by_default(const conic::ConicProgram& program, const solvers::Settings& settings);

struct KnownComparison {
    std::string mismatch;          ///< why the stored pair is not an optimal one of this instance; empty where it is
    double objective_error = 0.0;  ///< |p − f°|
    double membership = 0.0;       ///< s°ᵀy
    double bound = 0.0;            ///< of both, from the answer's own residuals and gap
    double dual_distance =
        0.0;  ///< ‖y − y°‖_∞ over the CON rows, relative to ‖y°‖_∞ (means little where y° is not unique)
    double dual_residual = 0.0;  ///< ‖ρ‖_∞ relative to its terms
    double dual_cone = 0.0;      ///< distance of y from K*, relative to ‖y‖_∞

    bool consistent() const {
        return mismatch.empty() && std::isfinite(bound) && objective_error <= bound && membership <= bound;
    }
};

/// Throws InputError where the stored pair has other sizes than the instance.
KnownComparison compare_with_known(const formats::CbfModel& model, const solvers::Solution& answer,
                                   const StoredSolution& stored);

}  // namespace certicone::verify
