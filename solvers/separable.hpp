// Two solvers as one, written "highs+clarabel": a program is taken apart (conic/components.hpp), the first solver gets
// the component without cones, the second those with cones (and the first's where it cannot take it, for instance a
// quadratic objective). Each component is solved in units of its own, so a small module keeps its digits beside a large
// backbone; the answers side by side are the answer of the whole program.
#pragma once

#include "solvers/solver.hpp"

namespace certicone::solvers {

/// Kept for the life of the process: one object a pair.
const Backend& separable_backend(const Backend& linear, const Backend& cones);

}  // namespace certicone::solvers
