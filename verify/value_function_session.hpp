// The value-function program of one network in one solver: set up once in dual-box units, then only b changes from
// point to point, and each solve starts from the last.
#pragma once

#include <memory>

#include "conic/scaling.hpp"
#include "solvers/solver.hpp"

namespace certicone::verify {

/// A solver's answer in the scaled program it was given, with what is needed to read it.
struct ScaledAnswer {
    const conic::ConicProgram* program = nullptr;  ///< the scaled program at this point; valid until the next solve
    const conic::Scaling* scaling = nullptr;
    solvers::Solution solution;
    Multipliers xi;         ///< ν, p, r in the units of the network, as the solver gave them
    double constant = 0.0;  ///< objective = size · scaled objective + constant

    double objective(double scaled) const { return scaling->size * scaled + constant; }
};

class ValueFunctionSession {
  public:
    ValueFunctionSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings);

    ScaledAnswer solve(const Vector& x);
    const conic::ValueFunction& value_function() const { return value_function_; }

  private:
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    conic::ValueFunction value_function_;
    conic::DualBoxScaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

}  // namespace certicone::verify
