// What the writers of instance formats share: a program with a linear objective (conic/linear_objective.hpp), its name, and
// an optimal pair where one is known. Every format but Clarabel's and SCS's keeps the program's own rows and signs:
//
//   minimise cᵀx + c0  subject to  b − Ax ∈ K  with multipliers y ∈ K*,  c + Aᵀy = 0
#pragma once

#include <ostream>

#include "conic/program.hpp"

namespace certicone::formats {

struct Instance {
    std::string name;
    conic::ConicProgram program;
    Vector x, y;  ///< an optimal pair; empty where none is known
};

/// "z[0][3]": the name of each single column.
std::vector<std::string> column_names(const conic::ConicProgram& program);

/// Throws InputError for a quadratic objective, or a pair of another size.
void require_linear(const Instance& instance);

/// −A by rows: the coefficients of b − Ax, row after row with columns in order.
Eigen::SparseMatrix<double, Eigen::RowMajor, int> negated_rows(const conic::ConicProgram& program);

}  // namespace certicone::formats
