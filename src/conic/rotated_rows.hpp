// Row order and rotated cones for solvers that have neither: SCS wants all zero rows, then all nonnegative rows, then
// the second-order cones, and no rotated ones. (t, s) ↦ ((t+s)/√2, (t−s)/√2) maps the rotated cone onto the
// second-order cone; the map is orthogonal and its own inverse, so s and y come back the same way.
#pragma once

#include "conic/program.hpp"

namespace certicone::conic {

class RotatedRows {
  public:
    explicit RotatedRows(const ConicProgram& program);

    SparseMatrix map(const SparseMatrix& A) const;
    Vector map(const Vector& rows) const;
    /// The inverse of `map`.
    Vector back(const double* mapped) const;

    Index zero() const { return zero_; }
    Index nonnegative() const { return nonnegative_; }
    const std::vector<int>& second_order() const { return second_order_; }

  private:
    SparseMatrix transform_;  ///< orthogonal: permutation and the 2×2 rotations
    Index zero_ = 0, nonnegative_ = 0;
    std::vector<int> second_order_;
};

}  // namespace certicone::conic
