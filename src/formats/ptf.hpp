// PTF, MOSEK's indented text format: variables and constraints by name, one vector constraint b − Ax ∈ K a block, and a
// Solutions section that carries the known pair (primal value and multiplier of each row; ẏ of MOSEK is our y).
#pragma once

#include "formats/instance.hpp"

namespace certicone::formats {

std::string to_ptf(const Instance& instance);

}  // namespace certicone::formats
