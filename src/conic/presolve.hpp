// What a program says outright is taken out of it before a solver sees it, and put back into the answer: none of this is
// rounded more than by a substitution.
//
//   a Zero row with one entry        fixes its column; other rows may then have one entry left, and so on
//   ‖const‖ ≤ t                      a second-order cone of which only the first row is left: a linear row
//   ‖const‖² ≤ 2 τ t, τ const        the same for a rotated cone
//   ‖v‖² ≤ 2 τ κt, τ const           where t has a cost γ > 0 and appears nowhere else, and each row of v has one entry at
//                                    most: the objective ½ (γ/κτ) ‖v‖², as conic/linear_objective.hpp read backwards
//   a column in no row               with a square in the objective: its minimum
//   rows without entries             that hold
//
// The multipliers that were taken out follow from stationarity, one column at a time, and from complementarity in the cones:
// y = (y₀, y₀σ/τ, −y₀v/τ) at s = (σ, τ, v).
#pragma once

#include "conic/program.hpp"

namespace certicone::conic {

class Presolved {
  public:
    /// For programs with a linear objective. `original` must outlive the object.
    explicit Presolved(const ConicProgram& original);

    /// What is left; it has a quadratic objective where squares were taken out. No columns: all is known.
    const ConicProgram& program() const { return program_; }

    /// x and y of the original from those of what is left (s is b − Ax).
    Vector x(const Vector& left) const;
    Vector y(const Vector& x, const Vector& left) const;

  private:
    struct Fixed {
        Index row, column;
        double entry;
    };
    struct Square {
        Index block, column;  ///< t
        double kappa, tau, weight;
    };
    enum class Fate { Row, Linearised, Gone };

    void fix_columns();
    void take_blocks();
    void minimise_loose_columns();
    void build();
    const Block& block(Index number) const { return original_->blocks[static_cast<std::size_t>(number)]; }

    const ConicProgram* original_;
    Eigen::SparseMatrix<double, Eigen::RowMajor, int> rows_;
    Vector b_;                    ///< with what is fixed moved over
    Vector value_;                ///< of fixed columns
    std::vector<bool> out_;       ///< columns that are fixed, or a square's t
    std::vector<Index> entries_;  ///< of each row, in columns that are left
    std::vector<bool> row_gone_;  ///< Zero rows that fixed a column, and rows without entries that hold
    std::vector<Fixed> fixed_;    ///< in the order of fixing
    std::vector<Square> squares_;
    std::vector<Fate> fate_;                       ///< of each block
    Vector P_, c_;                                 ///< diagonal and linear part of the objective
    std::vector<Index> left_rows_, left_columns_;  ///< of the original
    ConicProgram program_;
};

}  // namespace certicone::conic
