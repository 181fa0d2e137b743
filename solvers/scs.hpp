// SCS: first-order splitting, the embedded default. scs.cpp where the library is found, scs_stub.cpp where not.
#pragma once

#include "solvers/solver.hpp"

namespace certicone::solvers {

const Backend& scs_backend();

}  // namespace certicone::solvers
