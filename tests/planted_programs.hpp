// Programs with known answers in any size: draw a complementary pair (s, y) and x, derive b and c. And how far an answer
// can be from the planted one, given what was measured on it.
#pragma once

#include "random_networks.hpp"
#include "solvers/solver.hpp"

namespace certicone::test {

struct PlantedBlock {
    conic::Cone cone;
    Index size;
};

struct Planted {
    conic::ConicProgram program;
    Vector x, s, y;
    Matrix primal_normals;  ///< orthonormal columns: what of s must vanish, given y (and 0 for Zero rows)
    Matrix dual_face;       ///< orthonormal columns: where y may be, given s
    double objective = 0.0;

    /// Then no other x and no other y is optimal, and their errors are bounded below.
    bool unique() const;

    /// How hard the program is near its answer: the condition number of the derivative of the optimality conditions
    ///   (x, z) ↦ (Px + AᵀΠ(z) + c, Ax + Π(z) − z − b),   Π the projection onto K*, y = Π(z), s = Π(z) − z,
    /// at z = y − s, where Π is differentiable: at every planted pair, for they are strictly complementary.
    double condition() const;
};

/// (t, s) ↦ ((t+s)/√2, (t−s)/√2): from the second-order cone to the rotated one and back.
void rotate_head(Eigen::Ref<Vector> part);

namespace planted {

/// Strictly inside a second-order cone, by at least 0.3.
Vector inside(Index size, Random& random);
conic::SparseMatrix sparse(const Matrix& dense);
/// Fills primal_normals and dual_face: all rows of a block where s = 0, none where y = 0, and where both are on the
/// boundary of a second-order cone, the complement of s and the ray of y.
void find_faces(Planted& answer);
/// A new x; b and c that make (x, s, y) optimal for the A and P that stand in `answer`.
void derive(Planted& answer, Random& random);

}  // namespace planted

/// Blocks in the order given, `columns` unknowns. A is normal with variance 1/rows, P (if `quadratic`) of half rank.
Planted plant(const std::vector<PlantedBlock>& blocks, Index columns, bool quadratic, Random& random);

/// The same, with x and y unique: columns between the freedom of y (the dual face F) and the normals N of s, and an A
/// that is perfectly conditioned on both: NᵀA holds an orthogonal matrix, whose first rows are FᵀA. Drawn again while
/// condition() exceeds kWellConditioned.
constexpr double kWellConditioned = 50.0;
Planted plant_unique(const std::vector<PlantedBlock>& blocks, bool quadratic, Random& random);

/// The same program in units that differ from row block to row block and from column to column by up to 10^±decades: the
/// answer is as unique, and the condition far from good.
Planted in_bad_units(const Planted& good, double decades, Random& random);

/// Another unique answer for the same A, P and cones: new b and c.
void replant(Planted& answer, Random& random);

/// Upper bounds for the errors of an answer, from what was measured on it: theorems, not tolerances. With residuals
/// r_p = Ax + s − b, r_d = Px + Aᵀy + c and planted x*, s*, y*,
///
///   y*ᵀs ≤ f(x) − f* + y*ᵀr_p =: δ_p,        s*ᵀy ≤ f* − d − x*ᵀr_d =: δ_d,
///   −‖y*‖₁‖r_p‖_∞ ≤ f(x) − f* ≤ gap + ‖x*‖₁‖r_d‖_∞    (distances from the cones add ‖y*‖ and ‖s*‖ times theirs).
///
/// So what of s must vanish is at most δ_p over how far y* is inside, or, where both are on the boundary, of the order
/// of √δ_p (the cone is curved); N A (x − x*) = N(r_p − s) then bounds x. The same with Aᵀ for y.
struct ErrorBounds {
    double objective, x, y;

    ErrorBounds(const Planted& truth, const solvers::Solution& answer);
};

}  // namespace certicone::test
