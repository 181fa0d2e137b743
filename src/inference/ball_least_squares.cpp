#include "inference/ball_least_squares.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <cmath>
#include <limits>

namespace certicone {

namespace {

template <class Scalar>
using Qr = Eigen::CompleteOrthogonalDecomposition<MatrixOf<Scalar>>;

/// What brings every column to length one.
template <class Scalar>
VectorOf<Scalar> inverse_lengths(const MatrixOf<Scalar>& columns) {
    VectorOf<Scalar> inverse(columns.cols());
    for (Index j = 0; j < columns.cols(); ++j) {
        const Scalar length = columns.col(j).norm();
        inverse(j) = length > Scalar(0.0) ? Scalar(Scalar(1.0) / length) : Scalar(1.0);
    }
    return inverse;
}

template <class Scalar>
MatrixOf<Scalar> beside(const MatrixOf<Scalar>& M, const std::vector<MatrixOf<Scalar>>& R,
                        const std::vector<bool>& left_out) {
    Index columns = M.cols();
    for (std::size_t g = 0; g < R.size(); ++g)
        columns += left_out[g] ? 0 : R[g].cols();
    MatrixOf<Scalar> all(M.rows(), columns);
    all.leftCols(M.cols()) = M;
    Index column = M.cols();
    for (std::size_t g = 0; g < R.size(); ++g) {
        if (left_out[g]) continue;
        all.middleCols(column, R[g].cols()) = R[g];
        column += R[g].cols();
    }
    return all;
}

/// The maximum over μ ≥ floor of D(μ) = min_r ½‖w + R r‖² + ½ Σ μ_g (‖r_g‖² − 1).
template <class Scalar>
class DualOfBalls {
  public:
    using VectorS = VectorOf<Scalar>;

    DualOfBalls(const VectorS& w, const MatrixOf<Scalar>& R, const std::vector<Index>& first)
        : w_(w), R_(R), first_(first), gram_(R.transpose() * R), target_(-(R.transpose() * w)) {
        const double trace = std::max(to_double(gram_.trace()), std::numeric_limits<double>::min());
        floor_ = 16.0 * static_cast<double>(R.cols()) * kRounding<Scalar> * trace;
        size_ = 0.5 * to_double(w.squaredNorm());
        mu_ = VectorS::Constant(count(), Scalar(floor_));
    }

    void maximise() {
        State now = at(mu_);
        for (int step = 0; step < 200; ++step) {
            std::vector<Index> moving;
            double most = 0.0;
            for (Index g = 0; g < count(); ++g)
                if (active(g) || now.slope(g) > Scalar(0.0)) {
                    moving.push_back(g);
                    most = std::max(most, magnitude(now.slope(g)));
                }
            if (most <= 8.0 * kRounding<Scalar>) break;
            const Index n = static_cast<Index>(moving.size());
            MatrixOf<Scalar> K(n, n);  // minus the second derivatives of D
            VectorS newton(n), secular(n);
            for (Index i = 0; i < n; ++i) {
                const Index own = moving[static_cast<std::size_t>(i)];
                VectorS only = VectorS::Constant(R_.cols(), Scalar(0.0));
                only.segment(begin(own), size(own)) = block(now.r, own);
                const VectorS moved = now.factor.solve(only);
                for (Index k = 0; k < n; ++k) {
                    const Index g = moving[static_cast<std::size_t>(k)];
                    K(k, i) = block(now.r, g).dot(block(moved, g));
                }
                using std::sqrt;
                const Scalar square = block(now.r, own).squaredNorm();
                newton(i) = now.slope(own);
                secular(i) = square * (sqrt(square) - Scalar(1.0));  // of 1 − 1/‖r‖, which is nearly straight in μ
            }
            const Eigen::LDLT<MatrixOf<Scalar>> factor(K);
            if (!improve(factor.solve(secular), moving, now, 3) && !improve(factor.solve(newton), moving, now, 60))
                break;
        }
        r_ = now.r;
    }

    bool active(Index g) const { return mu_(g) > Scalar(floor_); }
    VectorS r(Index g) const { return block(r_, g); }

  private:
    struct State {
        Eigen::LLT<MatrixOf<Scalar>> factor;
        VectorS r, slope;  ///< of D: ½(‖r_g‖² − 1)
        Scalar dual = 0.0;
    };

    Index count() const { return static_cast<Index>(first_.size()) - 1; }
    Index begin(Index g) const { return first_[static_cast<std::size_t>(g)]; }
    Index size(Index g) const { return begin(g + 1) - begin(g); }
    VectorS block(const VectorS& r, Index g) const { return r.segment(begin(g), size(g)); }

    State at(const VectorS& mu) const {
        State state;
        MatrixOf<Scalar> shifted = gram_;
        for (Index g = 0; g < count(); ++g)
            for (Index i = begin(g); i < begin(g + 1); ++i)
                shifted(i, i) += mu(g);
        state.factor.compute(shifted);
        state.r = state.factor.solve(target_);
        state.slope.resize(count());
        for (Index g = 0; g < count(); ++g)
            state.slope(g) = Scalar(0.5) * (block(state.r, g).squaredNorm() - Scalar(1.0));
        state.dual = Scalar(0.5) * VectorS(w_ + R_ * state.r).squaredNorm() + mu.dot(state.slope);
        return state;
    }

    /// A step along `d`, halved until D rises, or where it stays, its slopes shrink; false if that never comes.
    bool improve(const VectorS& d, const std::vector<Index>& moving, State& now, int halvings) {
        if (!finite(d)) return false;
        const auto size_of_slope = [&](const State& state) {
            double sum = 0.0;
            for (const Index g : moving)
                sum += magnitude(state.slope(g));
            return sum;
        };
        for (double t = 1.0; halvings-- > 0; t *= 0.5) {
            VectorS mu = mu_;
            for (std::size_t i = 0; i < moving.size(); ++i)
                mu(moving[i]) = std::max(Scalar(floor_), Scalar(mu(moving[i]) + Scalar(t) * d(static_cast<Index>(i))));
            if (mu == mu_) return false;
            State next = at(mu);
            const bool level = magnitude(next.dual - now.dual) <= 64.0 * kRounding<Scalar> * size_;
            if (!(next.dual > now.dual) && !(level && size_of_slope(next) < size_of_slope(now))) continue;
            mu_ = std::move(mu);
            now = std::move(next);
            return true;
        }
        return false;
    }

    const VectorS& w_;
    const MatrixOf<Scalar>& R_;
    const std::vector<Index>& first_;
    MatrixOf<Scalar> gram_;
    VectorS target_, mu_, r_;
    double floor_ = 0.0;
    double size_ = 0.0;  ///< of what D is summed from
};

}  // namespace

template <class Scalar>
VectorOf<Scalar> least_squares(const MatrixOf<Scalar>& columns, const VectorOf<Scalar>& target) {
    if (columns.cols() == 0) return VectorOf<Scalar>(0);
    const VectorOf<Scalar> length = inverse_lengths(columns);
    return length.asDiagonal() * Qr<Scalar>(columns * length.asDiagonal()).solve(-target);
}

template <class Scalar>
BallLeastSquares<Scalar> least_squares_in_balls(const VectorOf<Scalar>& w, const MatrixOf<Scalar>& M,
                                                const std::vector<MatrixOf<Scalar>>& R,
                                                const std::vector<double>& lambda) {
    BallLeastSquares<Scalar> result;
    result.s = VectorOf<Scalar>::Constant(M.cols(), Scalar(0.0));
    for (const MatrixOf<Scalar>& block : R)
        result.r.push_back(VectorOf<Scalar>::Constant(block.cols(), Scalar(0.0)));
    result.on_sphere.assign(R.size(), false);
    // Minimises over s and the r inside their balls, from where they are; false, and nothing done, where an r would leave its ball.
    const auto minimise_inside = [&] {
        VectorOf<Scalar> target = w;
        if (M.cols() > 0) target += M * result.s;
        for (std::size_t g = 0; g < R.size(); ++g)
            target += R[g] * result.r[g];
        const VectorOf<Scalar> step = least_squares(beside(M, R, result.on_sphere), target);
        std::vector<VectorOf<Scalar>> r = result.r;
        Index column = M.cols();
        for (std::size_t g = 0; g < R.size(); ++g) {
            if (result.on_sphere[g]) continue;
            r[g] += step.segment(column, R[g].cols());
            column += R[g].cols();
            if (r[g].norm() > Scalar(lambda[g])) return false;
        }
        result.s += step.head(M.cols());
        result.r = std::move(r);
        return true;
    };
    if (minimise_inside()) return result;

    // In units of λ, and what s can do projected out.
    std::vector<Index> first{0};
    for (const MatrixOf<Scalar>& block : R)
        first.push_back(first.back() + block.cols());
    MatrixOf<Scalar> scaled(w.size(), first.back());
    for (std::size_t g = 0; g < R.size(); ++g)
        scaled.middleCols(first[g], R[g].cols()) = Scalar(lambda[g]) * R[g];
    VectorOf<Scalar> rest = w;
    if (M.cols() > 0) {
        const Qr<Scalar> qr(M * inverse_lengths(M).asDiagonal());
        MatrixOf<Scalar> basis = MatrixOf<Scalar>::Identity(w.size(), qr.rank());
        basis = qr.householderQ() * basis;
        for (int twice = 0; twice < 2; ++twice) {  // orthogonal to rounding
            scaled -= basis * (basis.transpose() * scaled);
            rest -= basis * (basis.transpose() * rest);
        }
    }
    DualOfBalls<Scalar> dual(rest, scaled, first);
    dual.maximise();
    for (std::size_t g = 0; g < R.size(); ++g) {
        const VectorOf<Scalar> r = dual.r(static_cast<Index>(g));
        const Scalar length = r.norm();
        result.on_sphere[g] = dual.active(static_cast<Index>(g)) && length > Scalar(0.0);
        result.r[g] = Scalar(lambda[g]) * r;
        if (result.on_sphere[g] || length > Scalar(1.0)) result.r[g] /= length;
    }
    VectorOf<Scalar> target = w;
    for (std::size_t g = 0; g < R.size(); ++g)
        target += R[g] * result.r[g];
    result.s = least_squares(M, target);
    minimise_inside();  // what the floor of μ left
    return result;
}

#define CERTICONE_INSTANTIATE(Scalar)                                                                          \
    template VectorOf<Scalar> least_squares(const MatrixOf<Scalar>&, const VectorOf<Scalar>&);                 \
    template BallLeastSquares<Scalar> least_squares_in_balls(const VectorOf<Scalar>&, const MatrixOf<Scalar>&, \
                                                             const std::vector<MatrixOf<Scalar>>&,             \
                                                             const std::vector<double>&);
CERTICONE_INSTANTIATE(double)
CERTICONE_INSTANTIATE(DoubleDouble)
#undef CERTICONE_INSTANTIATE

}  // namespace certicone
