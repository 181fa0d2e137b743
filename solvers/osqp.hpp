// OSQP: first-order splitting for linear and quadratic programs, with polishing on the active set it guesses.
// osqp.cpp where the library is found, osqp_stub.cpp where not.
#pragma once

#include "solvers/solver.hpp"

namespace certicone::solvers {

const Backend& osqp_backend();

}  // namespace certicone::solvers
