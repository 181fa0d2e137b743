#include "inference/kink_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/ball_least_squares.hpp"

namespace certicone {

namespace {

/// The change of ν when ν_k grows by one and the units at a side keep to it: the active ones below follow their bound.
template <class Scalar>
VectorOf<Scalar> edge(const KinkProblem<Scalar>& problem, const std::vector<Side>& side, Index k) {
    VectorOf<Scalar> change = VectorOf<Scalar>::Constant(problem.base.size(), Scalar(0.0));
    change(k) = 1.0;
    for (Index j = k; j-- > 0;)
        if (side[static_cast<std::size_t>(j)] == Side::active)
            change(j) = problem.T.col(j).tail(change.size() - j).dot(change.tail(change.size() - j));
    return change;
}

template <class Scalar>
class ActiveSet {
  public:
    ActiveSet(const KinkProblem<Scalar>& problem, KinkSolution<Scalar> start)
        : problem_(problem), now_(std::move(start)) {
        double scale = nearest(problem.h).norm();
        for (Index k = 0; k < now_.nu.size(); ++k)
            scale += to_double(problem.N.col(k).norm() * now_.nu(k));
        for (std::size_t g = 0; g < problem.R.size(); ++g)
            scale += to_double(problem.R[g].norm()) * problem.lambda[g];
        // Rounding of N_kᵀ(h + Nν + Rr).
        noise_ = 4.0 * static_cast<double>(problem.h.size() + problem.base.size()) * kRounding<Scalar> * scale;
    }

    KinkSolution<Scalar> run() {
        const int limit = 100 + 20 * static_cast<int>(now_.side.size() + now_.r.size());
        for (int step = 0; step < limit && !now_.solved; ++step) {
            if (!move_free()) continue;
            now_.solved = !(step > limit / 2 ? give_up_first_bound() : give_up_worst_bound());
        }
        renew_residual();
        return std::move(now_);
    }

  private:
    void renew_residual() {
        now_.residual = problem_.h;
        if (now_.nu.size() > 0) now_.residual += problem_.N * now_.nu;
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            now_.residual += problem_.R[g] * now_.r[g];
    }

    /// ν of the units at a side, from the last down.
    void follow_sides() {
        for (Index k = now_.nu.size(); k-- > 0;) {
            const Side side = now_.side[static_cast<std::size_t>(k)];
            const Scalar ub = problem_.base(k) + problem_.T.col(k).dot(now_.nu);
            now_.nu(k) = side == Side::inactive ? Scalar(0.0)
                         : side == Side::active ? ub
                                                : std::clamp(now_.nu(k), Scalar(0.0), ub);
        }
    }

    /// Towards the least-squares solution in the units inside and all the balls, which are convex: a bound of ν alone can
    /// stop it on the way. False where one did.
    bool move_free() {
        follow_sides();
        renew_residual();
        std::vector<Index> inside;
        for (Index k = 0; k < now_.nu.size(); ++k)
            if (now_.side[static_cast<std::size_t>(k)] == Side::inside) inside.push_back(k);
        if (inside.empty() && problem_.R.empty()) return true;
        MatrixOf<Scalar> edges(now_.nu.size(), static_cast<Index>(inside.size()));
        for (std::size_t i = 0; i < inside.size(); ++i)
            edges.col(static_cast<Index>(i)) = edge(problem_, now_.side, inside[i]);
        const MatrixOf<Scalar> M =
            edges.cols() > 0 ? MatrixOf<Scalar>(problem_.N * edges) : MatrixOf<Scalar>(problem_.h.size(), 0);
        VectorOf<Scalar> w = problem_.h;
        if (now_.nu.size() > 0) w += problem_.N * now_.nu;
        const BallLeastSquares<Scalar> best = least_squares_in_balls(w, M, problem_.R, problem_.lambda);

        VectorOf<Scalar> change = VectorOf<Scalar>::Constant(now_.nu.size(), Scalar(0.0));
        if (edges.cols() > 0) change = edges * best.s;
        const VectorOf<Scalar> ub = problem_.upper_bound(now_.nu), ub_change = problem_.through_layers(change);
        Scalar t = 1.0;
        Index blocked = -1;
        Side blocked_side = Side::inside;
        for (const Index k : inside) {
            if (change(k) < Scalar(0.0) && now_.nu(k) + t * change(k) < Scalar(0.0)) {
                t = std::max(Scalar(0.0), Scalar(-now_.nu(k) / change(k)));
                blocked = k;
                blocked_side = Side::inactive;
            }
            const Scalar closing = change(k) - ub_change(k);
            if (closing > Scalar(0.0) && ub(k) - now_.nu(k) - t * closing < Scalar(0.0)) {
                t = std::max(Scalar(0.0), Scalar((ub(k) - now_.nu(k)) / closing));
                blocked = k;
                blocked_side = Side::active;
            }
        }
        now_.nu += t * change;
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            now_.r[g] = blocked < 0 ? best.r[g] : VectorOf<Scalar>(now_.r[g] + t * (best.r[g] - now_.r[g]));
        now_.leaving = best.on_sphere;
        renew_residual();
        if (blocked < 0) return true;
        now_.side[static_cast<std::size_t>(blocked)] = blocked_side;
        return false;
    }

    /// By how much unit k, at a side, would go to the wrong one along d = −L⁻ᵀ residual, beyond rounding; relative.
    double wrong_side(Index k) const {
        const Side side = now_.side[static_cast<std::size_t>(k)];
        if (side == Side::inside) return 0.0;
        const VectorOf<Scalar> gradient = problem_.N * edge(problem_, now_.side, k);
        const Scalar size = gradient.norm();
        if (size == Scalar(0.0)) return 0.0;
        const double rate = to_double(-gradient.dot(now_.residual) / size);
        const double wrong = side == Side::inactive ? rate : -rate;
        return wrong > noise_ ? wrong : 0.0;
    }

    bool give_up_worst_bound() {
        Index worst = -1;
        double most = 0.0;
        for (Index k = 0; k < now_.nu.size(); ++k)
            if (const double wrong = wrong_side(k); wrong > most) {
                most = wrong;
                worst = k;
            }
        if (worst >= 0) now_.side[static_cast<std::size_t>(worst)] = Side::inside;
        return worst >= 0;
    }

    /// Bland's rule, against cycles among coinciding bounds.
    bool give_up_first_bound() {
        for (Index k = 0; k < now_.nu.size(); ++k)
            if (wrong_side(k) > 0.0) {
                now_.side[static_cast<std::size_t>(k)] = Side::inside;
                return true;
            }
        return false;
    }

    const KinkProblem<Scalar>& problem_;
    KinkSolution<Scalar> now_;
    double noise_ = 0.0;
};

}  // namespace

template <class Scalar>
KinkSolution<Scalar> solve_kink_problem(const KinkProblem<Scalar>& problem, KinkSolution<Scalar> start) {
    return ActiveSet<Scalar>(problem, std::move(start)).run();
}

template <class Scalar>
MatrixOf<Scalar> inside_columns(const KinkProblem<Scalar>& problem, const std::vector<Side>& side) {
    MatrixOf<Scalar> columns(problem.h.size(), std::count(side.begin(), side.end(), Side::inside));
    Index column = 0;
    for (Index k = 0; k < problem.base.size(); ++k)
        if (side[static_cast<std::size_t>(k)] == Side::inside)
            columns.col(column++) = problem.N * edge(problem, side, k);
    return columns;
}

template KinkSolution<double> solve_kink_problem(const KinkProblem<double>&, KinkSolution<double>);
template KinkSolution<DoubleDouble> solve_kink_problem(const KinkProblem<DoubleDouble>&, KinkSolution<DoubleDouble>);
template MatrixOf<double> inside_columns(const KinkProblem<double>&, const std::vector<Side>&);
template MatrixOf<DoubleDouble> inside_columns(const KinkProblem<DoubleDouble>&, const std::vector<Side>&);

}  // namespace certicone
