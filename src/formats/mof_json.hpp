// MathOptFormat (.mof.json, version 1.7), which JuMP reads: one VectorAffineFunction b − Ax a block in Zeros, Nonnegatives,
// SecondOrderCone or RotatedSecondOrderCone. The known pair stands in primal_start and dual_start; MathOptInterface's dual
// of a minimum in a cone is our y.
#pragma once

#include "formats/instance.hpp"

namespace certicone::formats {

std::string to_mof_json(const Instance& instance);

}  // namespace certicone::formats
