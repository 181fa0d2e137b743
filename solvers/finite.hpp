// A NaN compares false with everything, so it gets past any test that it is not asked about by name.
#pragma once

#include <string>

#include "solvers/solver.hpp"

namespace certicone::solvers {

/// The first entry of x, s or y that is no finite number, with its place, or else the first measured figure that is none;
/// empty where all are finite.
std::string not_finite(const conic::ConicProgram& program, const Solution& solution);

/// An answer with a number that is not finite has failed, whatever its solver says: the status becomes Failed, and the text
/// says where. An answer that claims nothing (a limit, infeasible) is left as it is.
void refuse_not_finite(const conic::ConicProgram& program, Solution& solution);

}  // namespace certicone::solvers
