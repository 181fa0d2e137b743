// A network's programs in a solver, point after point: set up once in dual-box units, then only b (or c) changes, and each
// solve starts from the last where the solver can. One object serves one thread.
#pragma once

#include <functional>
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
    Vector squares;         ///< what the program has in place of ‖p_h‖²/2α_h
    double constant = 0.0;  ///< of the unscaled program
    double sign = 1.0;      ///< −1 where the program minimises −Ψ

    /// A scaled objective in the units of f.
    double objective(double scaled) const { return sign * (scaling->unscale_objective(scaled) + constant); }
};

/// `settings` with the backend's option set, where it has one of that name and the user has not set it.
void prefer(solvers::Settings& settings, const solvers::Backend& backend, const char* option, const char* value);

/// `settings` for a program that is scaled already: a solver's own equilibration would undo that (design §2).
solvers::Settings for_scaled_program(const solvers::Backend& backend, solvers::Settings settings);

/// A change to a program before it is scaled (verify/subject.hpp); as a rule none.
using Adjust = std::function<void(conic::ConicProgram&)>;

/// The value-function program, or chosen blocks of it.
class ValueFunctionSession {
  public:
    ValueFunctionSession(const Network& network, const conic::Parts& parts, const solvers::Backend& backend,
                         const solvers::Settings& settings, Adjust adjust = {});
    ValueFunctionSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings,
                         Adjust adjust = {})
        : ValueFunctionSession(network, conic::Parts::all(network), backend, settings, std::move(adjust)) {}

    ScaledAnswer solve(const Vector& x);
    const conic::ValueFunction& value_function() const { return value_function_; }

  private:
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    Adjust adjust_;
    conic::ValueFunction value_function_;
    conic::DualBoxScaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

/// The dual program: ξ as the unknown.
class DualSession {
  public:
    DualSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings,
                Adjust adjust = {});

    ScaledAnswer solve(const Vector& x);
    const conic::DualProgram& dual_program() const { return dual_; }

  private:
    const solvers::Backend* backend_;
    solvers::Settings settings_;
    Adjust adjust_;
    conic::DualProgram dual_;
    conic::Scaling scaling_;
    std::unique_ptr<solvers::Workspace> workspace_;
};

}  // namespace certicone::verify
