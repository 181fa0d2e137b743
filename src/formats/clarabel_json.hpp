// Clarabel's JSON instance format: P, q, A, b and cones, which `clarabel.load_from_file` reads and solves. Rotated cones are
// mapped to second-order cones, rows are ordered zero, nonnegative, second-order; everything else is as in the program.
#pragma once

#include <ostream>

#include "conic/program.hpp"

namespace certicone::formats {

void write_clarabel_json(std::ostream& out, const conic::ConicProgram& program);

}  // namespace certicone::formats
