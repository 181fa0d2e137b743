// What the search needs of its scalar, which is double or, where that leaves a gap, DoubleDouble: products with the network's
// matrices, its rounding, and what counts as zero.
#pragma once

#include "network/forward.hpp"
#include "support/double_double.hpp"

namespace certicone {

template <class Scalar>
using MatrixOf = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// Of one operation, relative.
template <class Scalar>
inline constexpr double kRounding = kDoubleDouble;
template <>
inline constexpr double kRounding<double> = 0x1p-52;

/// Of what a number is summed from, or of what it was: less counts as zero where a proof will tell.
template <class Scalar>
inline constexpr double kVanished = 0x1p12 * kRounding<Scalar>;

/// M x.
template <class Scalar>
VectorOf<Scalar> times(const Matrix& M, const VectorOf<Scalar>& x) {
    VectorOf<Scalar> y = VectorOf<Scalar>::Constant(M.rows(), Scalar(0.0));
    add_product(M, x, y);
    return y;
}

/// y += Mᵀx.
template <class Scalar>
void add_transposed_product(const Matrix& M, const VectorOf<Scalar>& x, VectorOf<Scalar>& y) {
    if constexpr (std::is_same_v<Scalar, double>) {
        y.noalias() += M.transpose() * x;
    } else {
        for (Index j = 0; j < M.cols(); ++j)
            for (Index i = 0; i < M.rows(); ++i)
                if (M(i, j) != 0.0) y(j).add_product(M(i, j), x(i));
    }
}

template <class Scalar>
VectorOf<Scalar> transposed_times(const Matrix& M, const VectorOf<Scalar>& x) {
    VectorOf<Scalar> y = VectorOf<Scalar>::Constant(M.cols(), Scalar(0.0));
    add_transposed_product(M, x, y);
    return y;
}

/// MᵀM.
template <class Scalar>
MatrixOf<Scalar> gram(const Matrix& M) {
    const MatrixOf<Scalar> cast = M.cast<Scalar>();
    return cast.transpose() * cast;
}

template <class Derived>
bool finite(const Eigen::MatrixBase<Derived>& x) {
    for (Index i = 0; i < x.size(); ++i)
        if (!std::isfinite(to_double(x(i)))) return false;
    return true;
}

}  // namespace certicone
