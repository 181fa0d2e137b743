// Clarabel: a conic interior-point solver, behind the C interface of our crate in solvers/clarabel.
#pragma once

#include "solvers/solver.hpp"

namespace certicone::solvers {

const Backend& clarabel_backend();

}  // namespace certicone::solvers
