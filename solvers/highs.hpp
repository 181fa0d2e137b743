// HiGHS: the simplex method for linear programs; its vertices are exact to rounding, and the last basis serves the next
// point. highs.cpp where the library is found, highs_stub.cpp where not.
#pragma once

#include "solvers/solver.hpp"

namespace certicone::solvers {

const Backend& highs_backend();

}  // namespace certicone::solvers
