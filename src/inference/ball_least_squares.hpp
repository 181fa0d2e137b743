// Least squares over a product of balls, beside variables that are free:
//
//   minimise ½ ‖w + M s + Σ_g R_g r_g‖²   over s, and r_g with ‖r_g‖ ≤ λ_g.
//
// Where the least-squares solution has every r_g in its ball it is that. Else s is projected out, and with a multiplier μ_g ≥ 0
// for each ball, (R̃ᵀR̃ + diag(μ)) r = −R̃ᵀw̃; the dual function of μ is concave with the slopes ½(‖r_g‖² − λ_g²), and is
// maximised by Newton's method.
#pragma once

#include <vector>

#include "inference/scalar_products.hpp"

namespace certicone {

template <class Scalar>
struct BallLeastSquares {
    VectorOf<Scalar> s;
    std::vector<VectorOf<Scalar>> r;
    std::vector<bool> on_sphere;  ///< ‖r_g‖ = λ_g, with μ_g > 0
};

template <class Scalar>
BallLeastSquares<Scalar> least_squares_in_balls(const VectorOf<Scalar>& w, const MatrixOf<Scalar>& M,
                                                const std::vector<MatrixOf<Scalar>>& R,
                                                const std::vector<double>& lambda);

/// The x that makes ‖target + columns · x‖ least; columns are brought to length one first.
template <class Scalar>
VectorOf<Scalar> least_squares(const MatrixOf<Scalar>& columns, const VectorOf<Scalar>& target);

}  // namespace certicone
