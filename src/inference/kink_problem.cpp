#include "inference/kink_problem.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

namespace certicone {

namespace {

/// The change of ν when ν_k grows by one and the units at a side keep to it: the active ones below follow their bound.
Vector edge(const KinkProblem& problem, const std::vector<Side>& side, Index k) {
    Vector change = Vector::Zero(problem.base.size());
    change(k) = 1.0;
    for (Index j = k; j-- > 0;)
        if (side[static_cast<std::size_t>(j)] == Side::active)
            change(j) = problem.T.col(j).tail(change.size() - j).dot(change.tail(change.size() - j));
    return change;
}

/// argmin ‖w + R r‖ over ‖r‖ ≤ λ: (RᵀR + μI) r = −Rᵀw with μ ≥ 0 by bisection on the decreasing ‖r(μ)‖.
Vector least_squares_in_ball(const Matrix& R, const Vector& w, double lambda) {
    const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(R.transpose() * R);
    const Vector weight = spectrum.eigenvectors().transpose() * (-(R.transpose() * w));
    const Vector value = spectrum.eigenvalues().cwiseMax(0.0);
    const double floor = value.maxCoeff() * static_cast<double>(R.rows()) * std::numeric_limits<double>::epsilon();
    const auto at = [&](double mu) {
        Vector r(weight.size());
        for (Index i = 0; i < r.size(); ++i)
            r(i) = value(i) + mu > floor ? weight(i) / (value(i) + mu) : 0.0;
        return r;
    };
    if (const Vector r = at(0.0); r.norm() <= lambda) return spectrum.eigenvectors() * r;
    double low = 0.0, high = weight.norm() / lambda;  // ‖r(high)‖ ≤ λ
    for (int k = 0; k < 200 && high - low > 1e-16 * high; ++k) {
        const double middle = 0.5 * (low + high);
        (at(middle).norm() > lambda ? low : high) = middle;
    }
    return spectrum.eigenvectors() * at(high);
}

class ActiveSet {
  public:
    ActiveSet(const KinkProblem& problem, KinkSolution start) : problem_(problem), now_(std::move(start)) {
        double scale = problem.h.norm();
        for (Index k = 0; k < now_.nu.size(); ++k)
            scale += problem.N.col(k).norm() * now_.nu(k);
        for (std::size_t g = 0; g < problem.R.size(); ++g)
            scale += problem.R[g].norm() * problem.lambda[g];
        // Rounding of N_kᵀ(h + Nν + Rr).
        const double unit =
            4.0 * static_cast<double>(problem.h.size() + problem.base.size()) * std::numeric_limits<double>::epsilon();
        noise_ = unit * scale;
    }

    KinkSolution run() {
        const int limit = 100 + 20 * static_cast<int>(now_.side.size() + now_.r.size());
        int turns = 0;  // of the modules on their spheres
        for (int step = 0; step < limit; ++step) {
            if (!move_free()) continue;
            renew_residual();
            if (step > limit / 2 ? give_up_first_bound() : give_up_worst_bound()) continue;
            // The last word is with the units: those inside must not move along d.
            if (turns < 100 && std::find(now_.leaving.begin(), now_.leaving.end(), true) != now_.leaving.end()) {
                turns = turn_spheres() ? turns + 1 : 100;
                continue;
            }
            now_.solved = true;
            break;
        }
        renew_residual();
        return std::move(now_);
    }

  private:
    void renew_residual() {
        now_.residual = problem_.h + problem_.N * now_.nu;
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            now_.residual += problem_.R[g] * now_.r[g];
    }

    /// ν of the units at a side, from the last down.
    void follow_sides() {
        for (Index k = now_.nu.size(); k-- > 0;) {
            const Side side = now_.side[static_cast<std::size_t>(k)];
            const double ub = problem_.base(k) + problem_.T.col(k).dot(now_.nu);
            now_.nu(k) = side == Side::inactive ? 0.0 : side == Side::active ? ub : std::clamp(now_.nu(k), 0.0, ub);
        }
    }

    /// Towards the least-squares solution in what is free; false where a bound stopped it.
    bool move_free() {
        follow_sides();
        renew_residual();
        std::vector<Index> inside;
        for (Index k = 0; k < now_.nu.size(); ++k)
            if (now_.side[static_cast<std::size_t>(k)] == Side::inside) inside.push_back(k);
        Index columns = static_cast<Index>(inside.size());
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            if (!now_.leaving[g]) columns += problem_.R[g].cols();
        if (columns == 0) return true;
        Matrix M(problem_.h.size(), columns);
        Matrix edges(now_.nu.size(), static_cast<Index>(inside.size()));
        for (std::size_t i = 0; i < inside.size(); ++i)
            edges.col(static_cast<Index>(i)) = edge(problem_, now_.side, inside[i]);
        if (edges.cols() > 0) M.leftCols(edges.cols()) = problem_.N * edges;
        Index column = edges.cols();
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            if (!now_.leaving[g]) {
                M.middleCols(column, problem_.R[g].cols()) = problem_.R[g];
                column += problem_.R[g].cols();
            }
        const Vector length =
            M.colwise().norm().transpose().unaryExpr([](double n) { return n > 0.0 ? 1.0 / n : 1.0; });
        const Vector step = length.asDiagonal() *
                            (M * length.asDiagonal()).completeOrthogonalDecomposition().solve(Vector(-now_.residual));

        Vector change = Vector::Zero(now_.nu.size());
        if (edges.cols() > 0) change = edges * step.head(edges.cols());
        const Vector ub = problem_.upper_bound(now_.nu), ub_change = problem_.through_layers(change);
        double t = 1.0;
        Index blocked = -1;
        Side blocked_side = Side::inside;
        for (const Index k : inside) {
            if (change(k) < 0.0 && now_.nu(k) + t * change(k) < 0.0) {
                t = std::max(0.0, -now_.nu(k) / change(k));
                blocked = k;
                blocked_side = Side::inactive;
            }
            const double closing = change(k) - ub_change(k);
            if (closing > 0.0 && ub(k) - now_.nu(k) - t * closing < 0.0) {
                t = std::max(0.0, (ub(k) - now_.nu(k)) / closing);
                blocked = k;
                blocked_side = Side::active;
            }
        }
        std::size_t sphere = problem_.R.size();
        column = edges.cols();
        for (std::size_t g = 0; g < problem_.R.size(); ++g) {
            if (now_.leaving[g]) continue;
            const Vector dr = step.segment(column, problem_.R[g].cols());
            column += problem_.R[g].cols();
            // ‖r + t dr‖ = λ
            const double a = dr.squaredNorm(), b = now_.r[g].dot(dr);
            const double c = now_.r[g].squaredNorm() - problem_.lambda[g] * problem_.lambda[g];
            if (a > 0.0 && c + t * (2.0 * b + t * a) > 0.0) {
                t = std::clamp((-b + std::sqrt(std::max(0.0, b * b - a * c))) / a, 0.0, t);
                sphere = g;
            }
        }
        now_.nu += t * change;
        column = edges.cols();
        for (std::size_t g = 0; g < problem_.R.size(); ++g)
            if (!now_.leaving[g]) {
                now_.r[g] += t * step.segment(column, problem_.R[g].cols());
                column += problem_.R[g].cols();
            }
        if (sphere < problem_.R.size()) {
            now_.leaving[sphere] = true;
            return false;
        }
        if (blocked < 0) return true;
        now_.side[static_cast<std::size_t>(blocked)] = blocked_side;
        return false;
    }

    /// By how much unit k, at a side, would go to the wrong one along d = −L⁻ᵀ residual, beyond rounding; relative.
    double wrong_side(Index k) const {
        const Side side = now_.side[static_cast<std::size_t>(k)];
        if (side == Side::inside) return 0.0;
        const Vector gradient = problem_.N * edge(problem_, now_.side, k);
        const double size = gradient.norm();
        if (size == 0.0) return 0.0;
        const double rate = -gradient.dot(now_.residual) / size;
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

    /// Each r on its sphere to its own best, the others fixed; true where that gained more than a thousandth.
    bool turn_spheres() {
        bool gained = false;
        for (std::size_t g = 0; g < problem_.R.size(); ++g) {
            if (!now_.leaving[g]) continue;
            const Vector without = now_.residual - problem_.R[g] * now_.r[g];
            const Vector r = least_squares_in_ball(problem_.R[g], without, problem_.lambda[g]);
            const Vector residual = without + problem_.R[g] * r;
            const double before = now_.residual.squaredNorm(), after = residual.squaredNorm();
            if (!(after < before)) continue;
            gained = gained || before - after > 1e-3 * before;
            now_.r[g] = r;
            now_.residual = residual;
            if (r.norm() < problem_.lambda[g] * (1.0 - 1e-12)) {
                now_.leaving[g] = false;
                gained = true;
            }
        }
        return gained;
    }

    const KinkProblem& problem_;
    KinkSolution now_;
    double noise_ = 0.0;
};

}  // namespace

KinkSolution solve_kink_problem(const KinkProblem& problem, KinkSolution start) {
    return ActiveSet(problem, std::move(start)).run();
}

Matrix inside_columns(const KinkProblem& problem, const std::vector<Side>& side) {
    Matrix columns(problem.h.size(), std::count(side.begin(), side.end(), Side::inside));
    Index column = 0;
    for (Index k = 0; k < problem.base.size(); ++k)
        if (side[static_cast<std::size_t>(k)] == Side::inside)
            columns.col(column++) = problem.N * edge(problem, side, k);
    return columns;
}

}  // namespace certicone
