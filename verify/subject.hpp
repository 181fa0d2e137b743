// What is under certification: the closed forms of src/geometry and the programs of src/conic, as a table of functions.
// The checks call the subject where they test it, and oracles of their own (automatic differentiation, solvers, the
// forward pass, exact signs) on the other side. Tests put wrong functions into the table: each must be caught.
#pragma once

#include <functional>

#include "conic/dual_program.hpp"
#include "geometry/branch.hpp"
#include "geometry/max_readout.hpp"
#include "geometry/multipliers.hpp"

namespace certicone::verify {

struct Subject {
    std::function<LocalState(const Network&, const Vector&, double)> evaluate = certicone::evaluate;
    std::function<Multipliers(const Network&, const LocalState&)> canonical_selector = certicone::canonical_selector;
    std::function<Vector(const Network&, const Multipliers&)> readout = certicone::readout;
    std::function<double(const Network&, const Vector&, const Multipliers&)> psi = certicone::psi;
    std::function<double(const Network&, const LocalState&, const Vector&)> directional_derivative =
        certicone::directional_derivative;
    std::function<MaxReadout(const Network&, const LocalState&, const Vector&)> max_readout = certicone::max_readout;
    std::function<AffineSupport(const Network&, const Multipliers&)> relu_branch = certicone::relu_branch;
    std::function<Matrix(const Curvature&, const LocalState&)> hessian =
        [](const Curvature& curvature, const LocalState& state) { return curvature.hessian(state); };
    std::function<BranchRadius(const Curvature&, const LocalState&)> branch_radius =
        [](const Curvature& curvature, const LocalState& state) { return curvature.branch_radius(state); };
    /// What happens to a program before it is scaled and given to a solver: nothing.
    std::function<void(conic::ConicProgram&)> value_function_program, dual_program, optimal_set_program;
};

}  // namespace certicone::verify
