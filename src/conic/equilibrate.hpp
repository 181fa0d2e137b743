// Units for a program of unknown origin, in which rows and columns have entries of size one: what dual-box scaling is to
// the networks' own programs (conic/scaling.hpp), for instances that were read from a file.
#pragma once

#include "conic/scaling.hpp"

namespace certicone::conic {

/// Ruiz's iteration: rows and columns of A divided by the square root of their largest entry, again and again, by powers of
/// two, so that nothing is rounded. A second-order cone has one factor for all its rows; a rotated one (t, s, ξ) has
/// (ρσ, ρ/σ, ρ), which is what leaves it as it is. Then b by its largest entry, and c.
Scaling equilibrate(const ConicProgram& program);

}  // namespace certicone::conic
