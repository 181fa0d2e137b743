// A program that falls apart: rows and columns that share no entry can be solved on their own. By Proposition 1 the
// value-function and dual programs do: the ReLU backbone (linear) and one small cone program a module.
#pragma once

#include "conic/program.hpp"

namespace certicone::conic {

struct Component {
    ConicProgram program;              ///< c0 = 0
    std::vector<Index> rows, columns;  ///< of the whole program, in order
    bool linear = true;                ///< Zero and Nonnegative rows only
};

/// One component for all that no cone touches, and one for each group of second-order and rotated cones that share
/// columns (through rows, or through P). Rows without entries belong to the first; it may have no columns then.
std::vector<Component> components(const ConicProgram& program);

}  // namespace certicone::conic
