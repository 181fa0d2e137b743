// Conic programs in the one convention of the project (docs/conventions.md):
//
//   minimise ½ xᵀPx + cᵀx + c0   subject to  Ax + s = b, s ∈ K;    y ∈ K*,  Px + Aᵀy + c = 0
//
// so the dual objective is −½ xᵀPx − bᵀy + c0, and the derivative of the value in b is −y.
#pragma once

#include <Eigen/SparseCore>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace certicone::conic {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// All self-dual but Zero, whose dual is free.
enum class Cone {
    Zero,
    Nonnegative,
    SecondOrder,         ///< (t, ξ): ‖ξ‖ ≤ t
    RotatedSecondOrder,  ///< (t, s, ξ): ‖ξ‖² ≤ 2ts, t, s ≥ 0 (the paper's Q_r, MOSEK's and CBF's)
};
std::string_view to_string(Cone cone);

/// A run of rows with one cone, or of columns; multipliers are read by name.
struct Block {
    std::string name;
    Cone cone = Cone::Zero;
    Index begin = 0;
    Index size = 0;
};
struct Columns {
    std::string name;
    Index begin = 0;
    Index size = 0;
};

struct ConicProgram {
    SparseMatrix P;  ///< n × n, symmetric, both triangles; no entries for a linear objective
    SparseMatrix A;  ///< m × n
    Vector b;
    Vector c;
    double c0 = 0.0;
    std::vector<Block> blocks;       ///< partition the rows, in order
    std::vector<Columns> variables;  ///< partition the columns, in order

    Index rows() const { return A.rows(); }
    Index columns() const { return A.cols(); }
    const Block& block(std::string_view name) const;
};

/// Throws InputError when sizes, blocks or numbers do not fit together.
void validate(const ConicProgram& program);

/// Euclidean distance of a block's part of s (or, with `dual`, of y) from its (dual) cone.
double cone_distance(Cone cone, const Eigen::Ref<const Vector>& part, bool dual);

/// Builds a program row by row.
class Builder {
  public:
    Index add_columns(std::string name, Index count);
    /// Returns the first row.
    Index add_rows(std::string name, Cone cone, Index count);
    void set(Index row, Index column, double value) {
        if (value != 0.0) entries_.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
    }
    /// b and c are zero, P is empty.
    ConicProgram build();

  private:
    std::vector<Eigen::Triplet<double, int>> entries_;
    std::vector<Block> blocks_;
    std::vector<Columns> variables_;
    Index rows_ = 0, columns_ = 0;
};

}  // namespace certicone::conic
