// Inference with a proof, by either method: `white-box` (src/inference) or `socp`, the joint program in a solver.
#pragma once

#include <memory>

#include "conic/inference_program.hpp"
#include "inference/white_box.hpp"
#include "solvers/solver.hpp"

namespace certicone::verify {

struct InferenceAnswer {
    WhiteBoxResult result;
    double milliseconds = 0.0;
    std::string claim;  ///< the solver's word; empty for white-box
};

/// The joint program, set up once; a new query changes b alone, unless it asks for other units: then it is set up again. The
/// solver's answer becomes a proof in two steps: repair (ν into [0, ub], r into its ball, μ ≥ 0), and polish: p = αq(x), and
/// where there are no constraints also the x at which the bound of ξ is attained, x = y − Q⁻¹(G(ξ) + q), if its gap is
/// smaller.
class SocpInference {
  public:
    /// `problem` with any y; it must outlive this.
    SocpInference(const InferenceProblem& problem, const solvers::Backend& backend, const solvers::Settings& settings);

    InferenceAnswer solve(const Vector& y);

  private:
    conic::InferenceProgram program_;
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    conic::Scaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

InferenceAnswer white_box(const InferenceProblem& problem, const WhiteBoxOptions& options = {});

}  // namespace certicone::verify
