// A network's programs in a solver, point after point: set up once in dual-box units, then only b (or c) changes, and each
// solve starts from the last where the solver can. One object serves one thread.
#pragma once

#include <memory>

#include "conic/dual_program.hpp"
#include "conic/scaling.hpp"
#include "solvers/solver.hpp"

namespace certicone::verify {

/// A solver's answer in the scaled program it was given, with what is needed to read it.
struct ScaledAnswer {
    const conic::ConicProgram* program = nullptr;  ///< the scaled program at this point; valid until the next solve
    const conic::Scaling* scaling = nullptr;
    solvers::Solution solution;
    Multipliers xi;         ///< ν, p, r in the units of the network, as the solver gave them
    double constant = 0.0;  ///< of the unscaled program
    double sign = 1.0;      ///< −1 where the program minimises −Ψ

    /// A scaled objective in the units of f.
    double objective(double scaled) const { return sign * (scaling->unscale_objective(scaled) + constant); }
};

/// `settings` for a program that is scaled already: a solver's own equilibration would undo that (design §2).
solvers::Settings for_scaled_program(const solvers::Backend& backend, solvers::Settings settings);

/// The value-function program, or chosen blocks of it.
class ValueFunctionSession {
  public:
    ValueFunctionSession(const Network& network, const conic::Parts& parts, const solvers::Backend& backend,
                         const solvers::Settings& settings);
    ValueFunctionSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings)
        : ValueFunctionSession(network, conic::Parts::all(network), backend, settings) {}

    ScaledAnswer solve(const Vector& x);
    const conic::ValueFunction& value_function() const { return value_function_; }

  private:
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    conic::ValueFunction value_function_;
    conic::DualBoxScaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

/// The dual program: ξ as the unknown.
class DualSession {
  public:
    DualSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings);

    ScaledAnswer solve(const Vector& x);
    const conic::DualProgram& dual_program() const { return dual_; }

  private:
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    conic::DualProgram dual_;
    conic::Scaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

/// Each block on its own (Proposition 1): the ReLU backbone as an LP, every module as a small cone program.
class SeparatedSession {
  public:
    SeparatedSession(const Network& network, const solvers::Backend& linear, const solvers::Backend& cones,
                     const solvers::Settings& settings);

    struct Answer {
        Multipliers xi;
        double value = 0.0;                                ///< f(x) by the solvers' primal objectives
        double gap = 0.0;                                  ///< sum of the measured gaps, in the units of f
        double seconds = 0.0;                              ///< in the solvers
        solvers::Status status = solvers::Status::Solved;  ///< the first that is not Solved, if any
    };
    Answer solve(const Vector& x);

  private:
    std::vector<std::unique_ptr<ValueFunctionSession>> blocks_;
};

}  // namespace certicone::verify
