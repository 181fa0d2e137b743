#pragma once

#include <cmath>

namespace certicone::conic {

/// The power of two nearest to `size` > 0, by its logarithm: units in which nothing is rounded.
inline double power_of_two(double size) { return std::exp2(std::round(std::log2(size))); }

}  // namespace certicone::conic
