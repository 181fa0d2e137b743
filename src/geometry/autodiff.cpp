#include "geometry/autodiff.hpp"

#include <unsupported/Eigen/AutoDiff>

#include "geometry/local_state.hpp"

namespace Eigen {
// Found by argument-dependent look-up from `norm`.
template <class Derivatives>
double magnitude(const AutoDiffScalar<Derivatives>& scalar) {
    using certicone::magnitude;
    return magnitude(scalar.value());
}
}  // namespace Eigen

namespace certicone {

namespace {

// Derivatives are taken for a few inputs at a time, so that they have a fixed size and need no heap.
constexpr int kChunk = 5;
using First = Eigen::AutoDiffScalar<Eigen::Matrix<double, kChunk, 1>>;
using Second = Eigen::AutoDiffScalar<Eigen::Matrix<First, kChunk, 1>>;

/// f on the branch of `pattern`: a preactivation summed here may have another sign than the true one where it nearly vanishes.
template <class Scalar>
Scalar value_on_branch(const Network& network, const VectorOf<Scalar>& x, const Pattern& pattern) {
    return value(network, x, forward(network, x, [&](std::size_t l, Index i, const Scalar& a) {
                     return pattern.sign[l](i) > 0 ? a : Scalar(0.0);
                 }));
}

}  // namespace

Vector autodiff_gradient(const Network& network, const Vector& x) {
    const Pattern pattern = evaluate(network, x).pattern;
    Vector gradient(x.size());
    for (Index begin = 0; begin < x.size(); begin += kChunk) {
        VectorOf<First> seeded(x.size());
        for (Index i = 0; i < x.size(); ++i) {
            seeded(i).value() = x(i);
            seeded(i).derivatives().setZero();
            if (i >= begin && i < begin + kChunk) seeded(i).derivatives()(i - begin) = 1.0;
        }
        const First result = value_on_branch<First>(network, seeded, pattern);
        for (Index k = 0; k < std::min<Index>(kChunk, x.size() - begin); ++k)
            gradient(begin + k) = result.derivatives()(k);
    }
    return gradient;
}

Matrix autodiff_hessian(const Network& network, const Vector& x) {
    const Pattern pattern = evaluate(network, x).pattern;
    Matrix hessian(x.size(), x.size());
    VectorOf<Second> seeded(x.size());
    for (Index row = 0; row < x.size(); row += kChunk) {
        for (Index column = 0; column <= row; column += kChunk) {
            for (Index i = 0; i < x.size(); ++i) {
                First inner;
                inner.value() = x(i);
                inner.derivatives().setZero();
                if (i >= column && i < column + kChunk) inner.derivatives()(i - column) = 1.0;
                seeded(i).value() = inner;
                for (Index k = 0; k < kChunk; ++k)
                    seeded(i).derivatives()(k) = First(i == row + k ? 1.0 : 0.0);
            }
            const Second result = value_on_branch<Second>(network, seeded, pattern);
            for (Index k = 0; k < std::min<Index>(kChunk, x.size() - row); ++k)
                for (Index m = 0; m < std::min<Index>(kChunk, x.size() - column); ++m)
                    hessian(row + k, column + m) = hessian(column + m, row + k) =
                        result.derivatives()(k).derivatives()(m);
        }
    }
    return hessian;
}

}  // namespace certicone
