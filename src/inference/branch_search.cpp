#include "inference/branch_search.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <optional>

#include "inference/kink_problem.hpp"
#include "inference/line_search.hpp"

namespace certicone {

namespace {

/// Of the squared residual: kinks are left where staying promises less than this; in the classical mode where it promises
/// nothing but rounding.
constexpr double kFairShare = 1e-2, kNothing = 1e-12;
constexpr double kStiff = 1e-13;   // of the reciprocal condition of H
constexpr double kEnough = 1e-12;  // of F: a gap that is not looked into again
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Search {
  public:
    Search(const InferenceProblem& problem, const WhiteBoxOptions& options)
        : problem_(problem),
          network_(*problem.network),
          options_(options),
          at_(problem, options.start.size() > 0 ? options.start : problem.y),
          line_(at_),
          size_(inference_size(problem, problem.y)) {
        for (const Conic& module : network_.conic) {
            gram_.push_back(module.A.transpose() * module.A);
            r_.push_back(Vector::Zero(module.A.rows()));
        }
        for (const auto& units : at_.sign)
            nu_.push_back(Vector::Zero(units.size()));
    }

    WhiteBoxResult run() {
        const Index limit = options_.max_iterations > 0 ? options_.max_iterations : 100 + 4 * total_units(network_);
        WhiteBoxResult result;
        result.certificate.gap = kInfinity;
        Index stalled = 0;  // iterations near the end that improved neither F nor the proof
        double lowest = kInfinity;
        bool gathered = false;
        for (result.iterations = 0; result.iterations < limit; ++result.iterations) {
            if (stalled >= 10) {
                if (gathered || !gather_kinks()) break;
                gathered = true;
                stalled = 0;
            }
            classical_ = result.iterations >= (options_.long_steps >= 0 ? options_.long_steps : limit / 2);
            at_.pass_forward();
            find_direction();
            const double predicted = 0.5 * solution_.residual.squaredNorm();
            if (predicted <= 1e-6 * size_ || size_ == 0.0 || result.iterations + 1 == limit) {
                InferenceCertificate found = certify_inference(problem_, at_.x, multipliers());
                const bool better = found.gap < result.certificate.gap;
                const bool lower = found.value < lowest - 4.0 * std::numeric_limits<double>::epsilon() * size_;
                lowest = std::min(lowest, found.value);
                stalled = better || lower ? 0 : predicted <= 1e-10 * size_ ? stalled + 1 : stalled;
                if (better) {
                    result.certificate = std::move(found);
                    result.kinks = inside_units();
                    result.zero_modules = held_modules();
                }
                // Where F* is 0 no gap is small relative to it: then the sizes of its summands decide.
                const double small = std::max(std::abs(result.certificate.value), 1e-3 * size_);
                if (result.certificate.gap <= options_.relative_gap * small) break;
            }
            take_sides();
            if (predicted <= 1e-13 * size_ && (line_.refine(direction_) || line_.refine(return_))) continue;
            must_leave_ = !try_to_vanish() && !line_.advance(direction_, std::nullopt, classical_);
            if (must_leave_) ++stalled;
        }
        if (result.certificate.xi.nu.empty()) {  // ended far from a proof
            at_.pass_forward();
            find_direction();
            result.certificate = certify_inference(problem_, at_.x, multipliers());
            result.kinks = inside_units();
            result.zero_modules = held_modules();
        }
        return result;
    }

  private:
    // ---- the branch --------------------------------------------------------------------------------------------------

    /// From ∂/∂z of layer l down to x: adds Wᵀ of what the masks let through to `slope`; `at_kink(k, entry)` sees the
    /// derivative by z of every held unit on the way.
    template <class AtKink>
    void pass_backward(std::size_t layers, Vector by_z, Vector& slope, AtKink at_kink) const {
        std::size_t k = kinks_.size();
        while (k > 0 && static_cast<std::size_t>(kinks_[k - 1].first) >= layers)
            --k;
        for (std::size_t l = layers; l-- > 0;) {
            for (; k > 0 && static_cast<std::size_t>(kinks_[k - 1].first) == l; --k)
                at_kink(static_cast<Index>(k - 1), by_z(kinks_[k - 1].second));
            by_z = (at_.sign[l].array() > 0).select(by_z, 0.0);
            slope.noalias() += network_.layers[l].W.transpose() * by_z;
            if (l > 0) by_z = network_.layers[l].U.transpose() * by_z;
        }
    }

    /// λ(AᵀA − (Aᵀû)(Aᵀû)ᵀ)/‖u‖.
    Matrix module_hessian(std::size_t g) const {
        const double length = at_.trace.u[g].norm();
        const Vector slope = network_.conic[g].A.transpose() * at_.trace.u[g] / length;
        return network_.conic[g].lambda / length * (gram_[g] - slope * slope.transpose());
    }

    bool gather_kinks() {
        const std::vector<bool> before = at_.held;
        const bool found = at_.gather_kinks();
        for (std::size_t g = 0; g < before.size(); ++g)
            if (at_.held[g] && !before[g]) r_[g].setZero();
        return found;
    }

    // ---- the direction -----------------------------------------------------------------------------------------------

    void find_direction() {
        kinks_.clear();
        for (std::size_t l = 0; l < at_.sign.size(); ++l)
            for (Index i = 0; i < at_.sign[l].size(); ++i)
                if (at_.sign[l](i) == 0) kinks_.emplace_back(static_cast<Index>(l), i);
        const Index count = static_cast<Index>(kinks_.size()), d0 = network_.input_dim;

        KinkProblem problem;
        problem.base.resize(count);
        problem.T = Matrix::Zero(count, count);
        Vector slope = network_.v + problem_.gradient(at_.x);
        pass_backward(at_.sign.size(), network_.c, slope, [&](Index k, double entry) { problem.base(k) = entry; });
        hessian_ = at_.curvature;
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            slope.noalias() += network_.quadratic[h].alpha * (network_.quadratic[h].B.transpose() * at_.trace.q[h]);
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.smooth(g)) {
                slope.noalias() += network_.conic[g].lambda / at_.trace.u[g].norm() *
                                   (network_.conic[g].A.transpose() * at_.trace.u[g]);
                hessian_ += module_hessian(g);
            }
        factor_.compute(hessian_);
        if (factor_.info() != Eigen::Success || factor_.rcond() < kStiff) {
            if (hold_stiffest()) return find_direction();
        }

        problem.N.resize(d0, count);
        KinkSolution start;
        start.nu.resize(count);
        for (Index k = 0; k < count; ++k) {
            const std::size_t l = static_cast<std::size_t>(kinks_[static_cast<std::size_t>(k)].first);
            const Index i = kinks_[static_cast<std::size_t>(k)].second;
            Vector row = network_.layers[l].W.row(i);
            if (l > 0)
                pass_backward(l, network_.layers[l].U.row(i), row,
                              [&](Index j, double entry) { problem.T(k, j) = entry; });
            problem.N.col(k) = row;
            const int from = at_.from[l](i);
            start.side.push_back(from < 0 ? Side::inactive : from > 0 ? Side::active : Side::inside);
            start.nu(k) = nu_[l](i);
        }
        problem.h = factor_.matrixL().solve(slope);
        if (count > 0) factor_.matrixL().solveInPlace(problem.N);
        modules_.clear();
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.held[g]) {
                modules_.push_back(g);
                problem.R.push_back(factor_.matrixL().solve(network_.conic[g].A.transpose()));
                problem.lambda.push_back(network_.conic[g].lambda);
                start.r.push_back(r_[g]);
                start.leaving.push_back(false);
            }
        solution_ = solve_kink_problem(problem, std::move(start));

        staying_ = solution_;
        if (std::any_of(solution_.side.begin(), solution_.side.end(), [](Side side) { return side != Side::inside; }) ||
            std::find(solution_.leaving.begin(), solution_.leaving.end(), true) != solution_.leaving.end())
            consider_staying(problem);

        // d, and back onto what is held: rounding has moved x off it.
        inside_ = inside_columns(problem, staying_.side);
        Vector values(inside_.cols());
        Index column = 0;
        for (std::size_t k = 0; k < kinks_.size(); ++k)
            if (staying_.side[k] == Side::inside)
                values(column++) = at_.trace.a[static_cast<std::size_t>(kinks_[k].first)](kinks_[k].second);
        for (std::size_t m = 0; m < modules_.size(); ++m)
            if (!staying_.leaving[m]) append(inside_, values, problem.R[m], at_.trace.u[modules_[m]]);
        values_ = values;
        Vector back = Vector::Zero(d0);
        if (inside_.cols() > 0) back = inside_.transpose().completeOrthogonalDecomposition().solve(values);
        return_ = factor_.matrixU().solve(-back);
        direction_ = factor_.matrixU().solve(-(staying_.residual + back));
        if (inside_.cols() > 0) inside_ = factor_.matrixL() * inside_;
    }

    /// Within the face of all that is zero the best direction has the residual of least norm over all multipliers, in range
    /// or not. While it promises a fair share of what leaving would, it is taken: kinks are left from near the face's
    /// minimiser only, or the walk would go to and fro between them.
    void consider_staying(const KinkProblem& problem) {
        KinkSolution face = solution_;
        std::fill(face.side.begin(), face.side.end(), Side::inside);
        std::fill(face.leaving.begin(), face.leaving.end(), false);
        Matrix columns = problem.N;
        Vector none(columns.cols());
        for (const Matrix& R : problem.R)
            append(columns, none, R, Vector::Zero(R.cols()));
        face.residual = problem.h;
        face.residual -= columns * columns.completeOrthogonalDecomposition().solve(problem.h);
        if (!must_leave_ &&
            face.residual.squaredNorm() >= (classical_ ? kNothing : kFairShare) * solution_.residual.squaredNorm())
            staying_ = std::move(face);
    }

    /// Where λ/‖u‖ is so large that H cannot be factored, the module is held as if u were 0 already; the kink problem lets
    /// it go again if its r is not in its ball.
    bool hold_stiffest() {
        std::size_t stiffest = at_.held.size();
        double most = 0.0;
        for (std::size_t g = 0; g < at_.held.size(); ++g) {
            if (!at_.smooth(g)) continue;
            const double curvature = network_.conic[g].lambda * gram_[g].trace() / at_.trace.u[g].norm();
            if (curvature > most) {
                most = curvature;
                stiffest = g;
            }
        }
        if (stiffest == at_.held.size() || most * kStiff < at_.curvature.trace()) return false;
        at_.held[stiffest] = true;
        r_[stiffest] = network_.conic[stiffest].lambda / at_.trace.u[stiffest].norm() * at_.trace.u[stiffest];
        r_[stiffest] *= 1.0 - 1e-15;
        return true;
    }

    static void append(Matrix& columns, Vector& values, const Matrix& more, const Vector& more_values) {
        const Index before = columns.cols();
        columns.conservativeResize(Eigen::NoChange, before + more.cols());
        columns.rightCols(more.cols()) = more;
        values.conservativeResize(before + more.cols());
        values.tail(more.cols()) = more_values;
    }

    /// The branch that the direction leads into; what stays on its kink remembers its multiplier.
    void take_sides() {
        for (std::size_t k = 0; k < kinks_.size(); ++k) {
            const auto [layer, i] = kinks_[k];
            const std::size_t l = static_cast<std::size_t>(layer);
            const Side side = staying_.side[k];
            at_.sign[l](i) = side == Side::inside   ? std::int8_t{0}
                             : side == Side::active ? std::int8_t{1}
                                                    : std::int8_t{-1};
            const Side last = solution_.side[k];
            at_.from[l](i) = last == Side::inside   ? std::int8_t{0}
                             : last == Side::active ? std::int8_t{1}
                                                    : std::int8_t{-1};
            nu_[l](i) = solution_.nu(static_cast<Index>(k));
        }
        for (std::size_t m = 0; m < modules_.size(); ++m) {
            r_[modules_[m]] = solution_.r[m];
            if (!staying_.leaving[m]) continue;
            at_.held[modules_[m]] = false;
            at_.leaving[modules_[m]] = true;
        }
        at_.pass_forward();
    }

    /// ξ of the kink problem's solution: on K and V its ν and r, elsewhere by the branch.
    Multipliers multipliers() const {
        Multipliers xi = zero_multipliers(network_);
        std::size_t k = kinks_.size();
        for (std::size_t l = at_.sign.size(); l-- > 0;) {
            const Vector ub = upper_bound(network_, xi.nu, l);
            xi.nu[l] = (at_.sign[l].array() > 0).select(ub, 0.0);
            for (; k > 0 && static_cast<std::size_t>(kinks_[k - 1].first) == l; --k) {
                const Index i = kinks_[k - 1].second;
                const Side side = solution_.side[k - 1];
                xi.nu[l](i) = side == Side::active ? ub(i)
                              : side == Side::inactive
                                  ? 0.0
                                  : std::clamp(solution_.nu(static_cast<Index>(k - 1)), 0.0, ub(i));
            }
        }
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            xi.p[h] = network_.quadratic[h].alpha * at_.trace.q[h];
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.smooth(g)) xi.r[g] = network_.conic[g].lambda / at_.trace.u[g].norm() * at_.trace.u[g];
        for (std::size_t m = 0; m < modules_.size(); ++m)
            xi.r[modules_[m]] = solution_.r[m];
        return xi;
    }

    /// Where the step is as long as the way to u_g = 0: the step that ends there, H' d + ρ + Jᵀδ = 0 with J d = −values and
    /// A d = −u, H' without the module; taken if r = λû + δ_g is in its ball and F falls all the way.
    bool try_to_vanish() {
        for (std::size_t g = 0; g < at_.held.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (at_.leaving[g] || !at_.smooth(g)) continue;
            if ((module.A * direction_).norm() < 0.5 * at_.trace.u[g].norm()) continue;
            const Eigen::LLT<Matrix> factor(hessian_ - module_hessian(g));
            if (factor.info() != Eigen::Success) continue;
            Matrix columns = inside_;
            Vector values = values_;
            append(columns, values, module.A.transpose(), at_.trace.u[g]);
            factor.matrixL().solveInPlace(columns);
            Vector scaled = factor.matrixL().solve(factor_.matrixL() * staying_.residual);
            const Eigen::CompleteOrthogonalDecomposition<Matrix> cod(columns);
            const Vector back = columns.transpose().completeOrthogonalDecomposition().solve(values);
            const Vector change = cod.solve(back - scaled);
            scaled += columns * cod.solve(-scaled) + back;
            const Vector d = factor.matrixU().solve(-scaled);
            const Index rows = module.A.rows();
            const Vector r = module.lambda / at_.trace.u[g].norm() * at_.trace.u[g] + change.tail(rows);
            if (r.norm() > module.lambda) continue;
            if ((module.A * d + at_.trace.u[g]).norm() > 1e-9 * at_.trace.u[g].norm()) continue;  // cannot vanish
            const auto sign = at_.sign, from = at_.from;
            const Vector x = at_.x;
            if (line_.advance(d, g, classical_) && (at_.held[g] || at_.x != x)) {
                r_[g] = r;
                return true;
            }
            at_.sign = sign;  // a step of no length: this direction does not suit the sides taken
            at_.from = from;
            at_.pass_forward();
        }
        return false;
    }

    std::vector<std::pair<Index, Index>> inside_units() const {
        std::vector<std::pair<Index, Index>> units;
        for (std::size_t k = 0; k < kinks_.size(); ++k)
            if (solution_.side[k] == Side::inside) units.push_back(kinks_[k]);
        return units;
    }
    std::vector<Index> held_modules() const {
        std::vector<Index> modules;
        for (std::size_t m = 0; m < modules_.size(); ++m)
            if (!solution_.leaving[m]) modules.push_back(static_cast<Index>(modules_[m]));
        return modules;
    }

    const InferenceProblem& problem_;
    const Network& network_;
    const WhiteBoxOptions& options_;
    BranchPoint at_;
    LineSearch line_;
    double size_;  ///< of what F(y) is summed from
    std::vector<Matrix> gram_;
    std::vector<Vector> nu_, r_;  ///< last multipliers: where the kink problem starts
    bool classical_ = false;
    bool must_leave_ = false;  ///< the last step found no descent within its face

    // The kink problem at x.
    std::vector<std::pair<Index, Index>> kinks_;
    std::vector<std::size_t> modules_;
    Matrix hessian_;
    Eigen::LLT<Matrix> factor_;
    KinkSolution solution_;  ///< the proof
    KinkSolution staying_;   ///< where the step goes
    Matrix inside_;          ///< Jᵀ of what stays zero
    Vector values_;          ///< its values
    Vector direction_;
    Vector return_;  ///< its part that goes back onto what is held
};

}  // namespace

WhiteBoxResult search_branches(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    WhiteBoxResult best = Search(problem, options).run();
    // What x came from is what it is rounded by: where all kinks meet far from y, a search that starts beside them rounds less.
    WhiteBoxOptions again = options;
    for (bool better = true; better;) {
        const InferenceCertificate& found = best.certificate;
        const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * inference_size(problem, found.x);
        if (!(found.gap > kEnough * std::abs(found.value) + rounding)) break;
        again.start = found.x;
        WhiteBoxResult next = Search(problem, again).run();
        next.iterations += best.iterations;
        better = next.certificate.gap < 0.5 * found.gap;
        if (better)
            best = std::move(next);
        else
            best.iterations = next.iterations;
    }
    return best;
}

}  // namespace certicone
