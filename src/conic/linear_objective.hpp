// A program with its quadratic objective moved into a rotated cone, for solvers and formats that take linear objectives
// only (MOSEK beside cones, CBF). With P = RᵀR, one more column t of cost 1 and one more block
//
//   objective.cone   RotatedSecondOrder   s = (t, 1, Rx)   y = (1, ½‖Rx‖², −Rx)
//
// so t = ½ xᵀPx at the optimum, and both objectives stay what they were.
#pragma once

#include "conic/program.hpp"

namespace certicone::conic {

class LinearObjective {
  public:
    /// Throws InputError when P is not positive semidefinite. A program without P is taken as it is.
    explicit LinearObjective(const ConicProgram& original);

    const ConicProgram& program() const { return program_; }
    bool changed() const { return root_.rows() > 0; }
    Index original_columns() const { return columns_; }
    Index original_rows() const { return rows_; }

    /// The same point in the new program: x with t, s with the cone's rows, y with its dual.
    Vector extend_x(const Vector& x) const;
    Vector extend_s(const Vector& x, const Vector& s) const;
    Vector extend_y(const Vector& x, const Vector& y) const;
    /// b and c of the original in the new program.
    Vector extend_b(const Vector& b) const;
    Vector extend_c(const Vector& c) const;
    /// The original's part of x, and of s or y.
    Vector columns_of(const Vector& x) const { return x.head(columns_); }
    Vector rows_of(const Vector& rows) const { return rows.head(rows_); }

  private:
    Index columns_, rows_;
    SparseMatrix root_;  ///< R
    ConicProgram program_;
};

}  // namespace certicone::conic
