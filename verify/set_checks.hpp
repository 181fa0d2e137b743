// Claims about D*(x) that a solver takes up as programs over that set: the max-readout (Theorem 2), uniqueness
// (Proposition 2) and the minimum norm (Corollary 1). Each answer is turned into a proved interval: from below by an
// element of D*(x) near the solver's point, from above by its multipliers and the known size of D*(x) (verify/answer.hpp).
#pragma once

#include "conic/optimal_set_program.hpp"
#include "solvers/solver.hpp"
#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

class SetChecks {
  public:
    SetChecks(const Point& point, const solvers::Backend& backend, const solvers::Settings& settings,
              std::string solver);

    /// theorem2.directional: f'(x;d) in closed form is the solver's max-readout, within the width of its proved interval.
    Finding check_directional();
    /// proposition2.uniqueness (nondegenerate points): a random linear function takes one value on D*(x). The figure is the
    /// proved width of its range, the bound what the asked tolerances leave of it.
    Finding check_uniqueness(Generator& random);
    /// corollary1.min_norm: both ξ̂ and the solver's point, repaired, are within √(2·width) of the element of least norm,
    /// for ½‖ξ‖² is strongly convex and `width` bounds its excess over the minimum.
    Finding check_min_norm();

  private:
    struct Interval {
        double lower = 0.0, upper = 0.0;
        Multipliers attained;
        std::string broken;    ///< why the answer cannot be used; empty where it can
        double allowed = 0.0;  ///< width that the asked tolerances leave
    };
    Finding without_solver(const char* id, std::string_view program, std::string_view why) const;
    /// max of Σ weightᵀξ (or of −½‖ξ‖²) over D*(x).
    Interval solve(conic::OptimalSetProgram& program, const std::function<double(const Multipliers&)>& value);

    const Point& point_;
    const solvers::Backend& backend_;
    solvers::Settings settings_;
    std::string solver_;
    conic::OptimalSetProgram program_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

}  // namespace certicone::verify
