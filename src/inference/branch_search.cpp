#include "inference/branch_search.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <limits>
#include <optional>

#include "inference/ball_least_squares.hpp"
#include "inference/kink_problem.hpp"
#include "inference/line_search.hpp"

namespace certicone {

namespace {

/// Of the squared residual: kinks are left where staying promises less than this; in the classical mode where it promises
/// nothing but rounding.
constexpr double kFairShare = 1e-2, kNothing = 1e-12;
/// Of the reciprocal condition of H.
template <class Scalar>
constexpr double kStiff = 450.0 * kRounding<Scalar>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// F(x) = 0, and proved to be the minimum as far as doubles can tell: going on would only move x among numbers next to 0.
bool is_zero(const InferenceProblem& problem, const InferenceCertificate& found, double enough) {
    return found.value == 0.0 && closed(problem, found, enough) != Closed::open;
}

template <class Scalar>
class Search {
  public:
    using VectorS = VectorOf<Scalar>;
    using MatrixS = MatrixOf<Scalar>;

    Search(const InferenceProblem& problem, const WhiteBoxOptions& options)
        : problem_(problem),
          network_(*problem.network),
          options_(options),
          at_(problem, options.start.size() > 0 ? options.start : problem.y),
          line_(at_),
          size_(inference_size(problem, problem.y)) {
        for (const Conic& module : network_.conic) {
            gram_.push_back(gram<Scalar>(module.A));
            r_.push_back(VectorS::Constant(module.A.rows(), Scalar(0.0)));
        }
        for (const auto& units : at_.sign)
            nu_.push_back(VectorS::Constant(units.size(), Scalar(0.0)));
    }

    WhiteBoxResult run(Index limit) {
        Index stalled = 0;  // iterations near the end that improved neither F nor the proof
        Index idle = 0;     // iterations in a row that did not move x
        double lowest = kInfinity;
        // What counts as zero when kinks are gathered: rounding, then anything that doubles would not tell from it.
        std::vector<double> vanished{kVanished<double>};
        if (!kIsDouble) vanished.push_back(kVanished<Scalar>);
        for (; result_.iterations < limit; ++result_.iterations) {
            if (stalled >= 10 || idle > 10 + static_cast<Index>(kinks_.size())) {
                bool found = false;
                for (; !found && !vanished.empty(); vanished.pop_back())
                    found = gather_kinks(vanished.back());
                if (!found) break;
                stalled = idle = 0;
            }
            classical_ = result_.iterations >= (options_.long_steps >= 0 ? options_.long_steps : limit / 2);
            at_.pass_forward();
            find_direction();
            const double predicted = 0.5 * to_double(solution_.residual.squaredNorm());
            if (predicted <= 1e-10 * size_ || size_ == 0.0 || result_.iterations + 1 == limit) {
                InferenceCertificate found = prove();
                const double F = std::abs(found.value), rounded_by = kIsDouble ? size_ : F;
                const bool better = found.gap < best_gap_;
                const bool lower = found.value < lowest - 4.0 * std::numeric_limits<double>::epsilon() * rounded_by;
                lowest = std::min(lowest, found.value);
                stalled = better || lower ? 0 : predicted <= 1e-10 * rounded_by ? stalled + 1 : stalled;
                if (better) keep(std::move(found));
                // Where F* is 0 no gap is small relative to it: then the sizes of its summands decide.
                if (best_gap_ <= options_.relative_gap * (kIsDouble ? std::max(F, 1e-3 * size_) : F)) break;
                if (is_zero(problem_, result_.certificate, options_.enough)) break;
            }
            take_sides();
            const VectorS x = at_.x;
            if (!(predicted <= negligible() && (line_.refine(direction_) || line_.refine(return_)))) {
                must_leave_ = !try_to_vanish() && !line_.advance(direction_, std::nullopt, classical_);
                if (must_leave_ && !line_.refine(return_)) ++stalled;
            }
            idle = at_.x == x ? idle + 1 : 0;
            if (idle > 0) rejoin();
        }
        if (result_.certificate.xi.nu.empty()) {  // ended far from a proof
            at_.pass_forward();
            find_direction();
            keep(prove());
        }
        if constexpr (!kIsDouble) {  // x in doubles does, if it can
            InferenceCertificate rounded = certify_inference(problem_, result_.certificate.x, result_.certificate.xi);
            if (rounded.gap <= options_.enough * std::abs(rounded.value) ||
                !(result_.certificate.gap < 0.5 * rounded.gap))
                result_.certificate = std::move(rounded);
        }
        return std::move(result_);
    }

  private:
    static constexpr bool kIsDouble = std::is_same_v<Scalar, double>;

    /// Of the x that the search is at, which may be more precise than a double.
    InferenceCertificate prove() const {
        return certify_inference(problem_, PreciseVector(at_.x.template cast<DoubleDouble>()), multipliers());
    }

    void keep(InferenceCertificate found) {
        best_gap_ = found.gap;
        result_.certificate = std::move(found);
        result_.kinks = inside_units();
        result_.zero_modules = held_modules();
    }

    /// What a step promises that is below the rounding of F, in double-double numbers of the residual, whose square it is.
    double negligible() const { return kIsDouble ? 1e-13 * size_ : 0.5 * noise_ * noise_; }

    // ---- the branch --------------------------------------------------------------------------------------------------

    /// From ∂/∂z of layer l down to x: adds Wᵀ of what the masks let through to `slope`; `at_kink(k, entry)` sees the
    /// derivative by z of every held unit on the way.
    template <class AtKink>
    void pass_backward(std::size_t layers, VectorS by_z, VectorS& slope, AtKink at_kink) const {
        std::size_t k = kinks_.size();
        while (k > 0 && static_cast<std::size_t>(kinks_[k - 1].first) >= layers)
            --k;
        for (std::size_t l = layers; l-- > 0;) {
            for (; k > 0 && static_cast<std::size_t>(kinks_[k - 1].first) == l; --k)
                at_kink(static_cast<Index>(k - 1), by_z(kinks_[k - 1].second));
            by_z = VectorS((at_.sign[l].array() > 0).select(by_z, Scalar(0.0)));
            add_transposed_product(network_.layers[l].W, by_z, slope);
            if (l > 0) by_z = transposed_times(network_.layers[l].U, by_z);
        }
    }

    /// The rounding of what the residual is summed from, in its norm.
    double rounding_of_residual() const {
        Vector size = network_.v.cwiseAbs() + nearest(at_.objective_gradient()).cwiseAbs();
        Vector by_z = network_.c;
        for (std::size_t l = network_.layers.size(); l-- > 0;) {
            by_z = (at_.sign[l].array() >= 0).select(by_z, 0.0);
            size.noalias() += network_.layers[l].W.cwiseAbs().transpose() * by_z;
            if (l > 0) by_z = network_.layers[l].U.transpose() * by_z;
        }
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            size.noalias() += network_.quadratic[h].alpha *
                              (network_.quadratic[h].B.cwiseAbs().transpose() * nearest(at_.trace.q[h]).cwiseAbs());
        for (const Conic& module : network_.conic)
            size += module.lambda * module.A.colwise().norm().transpose();
        const double unit = kRounding<Scalar> * static_cast<double>(network_.input_dim + total_units(network_));
        return unit * to_double(factor_.matrixL().solve(VectorS(size.cast<Scalar>())).norm());
    }

    /// λ(AᵀA − (Aᵀû)(Aᵀû)ᵀ)/‖u‖.
    MatrixS module_hessian(std::size_t g) const {
        const Scalar length = at_.trace.u[g].norm();
        const VectorS slope = transposed_times(network_.conic[g].A, at_.trace.u[g]) / length;
        return Scalar(network_.conic[g].lambda / length) * (gram_[g] - slope * slope.transpose());
    }

    bool gather_kinks(double vanished) {
        const std::vector<bool> before = at_.held;
        const bool found = at_.gather_kinks(vanished);
        for (std::size_t g = 0; g < before.size(); ++g)
            if (at_.held[g] && !before[g]) r_[g].setConstant(Scalar(0.0));
        return found;
    }

    // ---- the direction -----------------------------------------------------------------------------------------------

    void find_direction() {
        kinks_.clear();
        for (std::size_t l = 0; l < at_.sign.size(); ++l)
            for (Index i = 0; i < at_.sign[l].size(); ++i)
                if (at_.sign[l](i) == 0) kinks_.emplace_back(static_cast<Index>(l), i);
        const Index count = static_cast<Index>(kinks_.size()), d0 = network_.input_dim;

        KinkProblem<Scalar> problem;
        problem.base.resize(count);
        problem.T = MatrixS::Constant(count, count, Scalar(0.0));
        VectorS slope = network_.v.cast<Scalar>() + at_.objective_gradient();
        pass_backward(at_.sign.size(), network_.c.cast<Scalar>(), slope,
                      [&](Index k, const Scalar& entry) { problem.base(k) = entry; });
        hessian_ = at_.curvature;
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            slope += Scalar(network_.quadratic[h].alpha) * transposed_times(network_.quadratic[h].B, at_.trace.q[h]);
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.smooth(g)) {
                slope += Scalar(network_.conic[g].lambda / at_.trace.u[g].norm()) *
                         transposed_times(network_.conic[g].A, at_.trace.u[g]);
                hessian_ += module_hessian(g);
            }
        factor_.compute(hessian_);
        if (factor_.info() != Eigen::Success || to_double(factor_.rcond()) < kStiff<Scalar>) {
            if (hold_stiffest()) return find_direction();
        }

        problem.N.resize(d0, count);
        KinkSolution<Scalar> start;
        start.nu.resize(count);
        for (Index k = 0; k < count; ++k) {
            const std::size_t l = static_cast<std::size_t>(kinks_[static_cast<std::size_t>(k)].first);
            const Index i = kinks_[static_cast<std::size_t>(k)].second;
            VectorS row = network_.layers[l].W.row(i).transpose().cast<Scalar>();
            if (l > 0)
                pass_backward(l, network_.layers[l].U.row(i).transpose().cast<Scalar>(), row,
                              [&](Index j, const Scalar& entry) { problem.T(k, j) = entry; });
            problem.N.col(k) = row;
            const int from = at_.from[l](i);
            start.side.push_back(from < 0 ? Side::inactive : from > 0 ? Side::active : Side::inside);
            start.nu(k) = nu_[l](i);
        }
        problem.h = factor_.matrixL().solve(slope);
        if constexpr (!kIsDouble) noise_ = rounding_of_residual();
        KinkProblem<Scalar> rows;  // in the inputs' own coordinates
        rows.h = slope;
        rows.N = problem.N;
        rows.T = problem.T;
        rows.base = problem.base;
        if (count > 0) factor_.matrixL().solveInPlace(problem.N);
        modules_.clear();
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.held[g]) {
                modules_.push_back(g);
                problem.R.push_back(
                    factor_.matrixL().solve(MatrixS(network_.conic[g].A.transpose().template cast<Scalar>())));
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
        VectorS values(inside_.cols());
        Index column = 0;
        for (std::size_t k = 0; k < kinks_.size(); ++k)
            if (staying_.side[k] == Side::inside)
                values(column++) = at_.trace.a[static_cast<std::size_t>(kinks_[k].first)](kinks_[k].second);
        for (std::size_t m = 0; m < modules_.size(); ++m)
            if (!staying_.leaving[m]) append(inside_, values, problem.R[m], at_.trace.u[modules_[m]]);
        values_ = values;
        const VectorS back = least_norm(inside_, values);
        return_ = factor_.matrixU().solve(-back);
        direction_ = factor_.matrixU().solve(-(staying_.residual + back));
        if (inside_.cols() == 0) return;
        const MatrixS gradients = gradients_inside(rows);
        // What the factors' rounding left of J d = −values.
        for (int twice = 0; twice < 2; ++twice)
            for (VectorS* d : {&direction_, &return_})
                *d -= factor_.matrixU().solve(least_norm(inside_, VectorS(gradients.transpose() * *d + values)));
        inside_ = gradients;
    }

    /// The gradients of what stays zero, units first, from those of all units of K.
    MatrixS gradients_inside(const KinkProblem<Scalar>& rows) const {
        MatrixS gradients = inside_columns(rows, staying_.side);
        for (std::size_t m = 0; m < modules_.size(); ++m) {
            if (staying_.leaving[m]) continue;
            const Matrix& A = network_.conic[modules_[m]].A;
            gradients.conservativeResize(Eigen::NoChange, gradients.cols() + A.rows());
            gradients.rightCols(A.rows()) = A.transpose().template cast<Scalar>();
        }
        return gradients;
    }

    /// The shortest b with columnsᵀ b = values.
    static VectorS least_norm(const MatrixS& columns, const VectorS& values) {
        if (columns.cols() == 0) return VectorS::Constant(columns.rows(), Scalar(0.0));
        return Eigen::CompleteOrthogonalDecomposition<MatrixS>(columns.transpose()).solve(values);
    }

    /// Within the face of all that is zero the best direction has the residual of least norm over all multipliers, in range
    /// or not. While it promises a fair share of what leaving would, it is taken: kinks are left from near the face's
    /// minimiser only, or the walk would go to and fro between them.
    void consider_staying(const KinkProblem<Scalar>& problem) {
        KinkSolution<Scalar> face = solution_;
        std::fill(face.side.begin(), face.side.end(), Side::inside);
        std::fill(face.leaving.begin(), face.leaving.end(), false);
        MatrixS columns = problem.N;
        VectorS none = VectorS::Constant(columns.cols(), Scalar(0.0));
        for (const MatrixS& R : problem.R)
            append(columns, none, R, VectorS::Constant(R.cols(), Scalar(0.0)));
        face.residual = problem.h;
        if (columns.cols() > 0) face.residual += columns * least_squares(columns, problem.h);
        if (!must_leave_ && face.residual.squaredNorm() >=
                                Scalar(classical_ ? kNothing : kFairShare) * solution_.residual.squaredNorm())
            staying_ = std::move(face);
    }

    /// Where λ/‖u‖ is so large that H cannot be factored, the module is held as if u were 0 already; the kink problem lets
    /// it go again if its r is not in its ball.
    bool hold_stiffest() {
        std::size_t stiffest = at_.held.size();
        double most = 0.0;
        for (std::size_t g = 0; g < at_.held.size(); ++g) {
            if (!at_.smooth(g)) continue;
            const double curvature = to_double(network_.conic[g].lambda * gram_[g].trace() / at_.trace.u[g].norm());
            if (curvature > most) {
                most = curvature;
                stiffest = g;
            }
        }
        if (stiffest == at_.held.size() || most * kStiff<Scalar> < to_double(at_.curvature.trace())) return false;
        at_.held[stiffest] = true;
        r_[stiffest] = Scalar(network_.conic[stiffest].lambda / at_.trace.u[stiffest].norm()) * at_.trace.u[stiffest];
        r_[stiffest] *= Scalar(1.0 - 1e-15);
        return true;
    }

    static void append(MatrixS& columns, VectorS& values, const MatrixS& more, const VectorS& more_values) {
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

    /// A step of no length: what left K and V with it is at x still, beside what stopped the step. So both only grow until x moves,
    /// and then hold all that vanishes at x.
    void rejoin() {
        for (const auto& [layer, i] : kinks_)
            at_.sign[static_cast<std::size_t>(layer)](i) = 0;
        for (const std::size_t g : modules_) {
            at_.held[g] = true;
            at_.leaving[g] = false;
        }
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
                                  : std::clamp(to_double(solution_.nu(static_cast<Index>(k - 1))), 0.0, ub(i));
            }
        }
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            xi.p[h] = network_.quadratic[h].alpha * nearest(at_.trace.q[h]);
        for (std::size_t g = 0; g < at_.held.size(); ++g)
            if (at_.smooth(g))
                xi.r[g] = nearest(Scalar(network_.conic[g].lambda / at_.trace.u[g].norm()) * at_.trace.u[g]);
        for (std::size_t m = 0; m < modules_.size(); ++m)
            xi.r[modules_[m]] = nearest(solution_.r[m]);
        return xi;
    }

    /// Where the step is as long as the way to u_g = 0: the step that ends there, H' d + ρ + Jᵀδ = 0 with J d = −values and
    /// A d = −u, H' without the module; taken if r = λû + δ_g is in its ball and F falls all the way.
    bool try_to_vanish() {
        for (std::size_t g = 0; g < at_.held.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (at_.leaving[g] || !at_.smooth(g)) continue;
            const Scalar length = at_.trace.u[g].norm();
            if (times(module.A, direction_).norm() < Scalar(0.5) * length) continue;
            const Eigen::LLT<MatrixS> factor(hessian_ - module_hessian(g));
            if (factor.info() != Eigen::Success) continue;
            MatrixS columns = inside_;
            VectorS values = values_;
            append(columns, values, module.A.transpose().template cast<Scalar>(), at_.trace.u[g]);
            factor.matrixL().solveInPlace(columns);
            VectorS scaled = factor.matrixL().solve(VectorS(factor_.matrixL() * staying_.residual));
            const Eigen::CompleteOrthogonalDecomposition<MatrixS> cod(columns);
            const VectorS back = least_norm(columns, values);
            const VectorS change = cod.solve(VectorS(back - scaled));
            scaled += columns * cod.solve(VectorS(-scaled)) + back;
            const VectorS d = factor.matrixU().solve(VectorS(-scaled));
            const Index rows = module.A.rows();
            const VectorS r = Scalar(module.lambda / length) * at_.trace.u[g] + change.tail(rows);
            if (r.norm() > Scalar(module.lambda)) continue;
            if ((times(module.A, d) + at_.trace.u[g]).norm() > Scalar(1e-9) * length) continue;  // cannot vanish
            const auto sign = at_.sign, from = at_.from;
            const VectorS x = at_.x;
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
    BranchPoint<Scalar> at_;
    LineSearch<Scalar> line_;
    double size_;  ///< of what F(y) is summed from
    std::vector<MatrixS> gram_;
    std::vector<VectorS> nu_, r_;  ///< last multipliers: where the kink problem starts
    bool classical_ = false;
    bool must_leave_ = false;  ///< the last step found no descent within its face
    WhiteBoxResult result_;
    double best_gap_ = kInfinity;  ///< of the x that the result's is rounded from
    double noise_ = 0.0;           ///< rounding of the norm of the residual

    // The kink problem at x.
    std::vector<std::pair<Index, Index>> kinks_;
    std::vector<std::size_t> modules_;
    MatrixS hessian_;
    Eigen::LLT<MatrixS> factor_;
    KinkSolution<Scalar> solution_;  ///< the proof
    KinkSolution<Scalar> staying_;   ///< where the step goes
    MatrixS inside_;                 ///< Jᵀ of what stays zero
    VectorS values_;                 ///< its values
    VectorS direction_;
    VectorS return_;  ///< its part that goes back onto what is held
};

}  // namespace

WhiteBoxResult search_branches(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    const Index limit = options.max_iterations > 0 ? options.max_iterations : 100 + 4 * total_units(*problem.network);
    WhiteBoxResult best = Search<double>(problem, options).run(limit);
    // What doubles leave open is searched again from there in double-double numbers, as long as that helps. Each iteration factors H
    // and passes through the network; a search of at most some minutes, counted in operations so that it is the same everywhere.
    const RoundToNearest mode;
    const double d0 = static_cast<double>(problem.network->input_dim);
    const double work = 40.0 * (d0 * d0 * d0 / 3.0 + 4.0 * static_cast<double>(parameter_count(*problem.network)));
    const Index precise_limit = std::min(limit, static_cast<Index>(20.0 + 3e11 / work));
    WhiteBoxOptions again = options;
    for (bool better = true; better && !(best.certificate.gap <= options.enough * std::abs(best.certificate.value)) &&
                             !is_zero(problem, best.certificate, options.enough);) {
        again.start = best.certificate.x;
        WhiteBoxResult next = Search<DoubleDouble>(problem, again).run(precise_limit);
        next.iterations += best.iterations;
        better = next.certificate.gap < 0.5 * best.certificate.gap;
        if (next.certificate.gap < best.certificate.gap)
            best = std::move(next);
        else
            best.iterations = next.iterations;
    }
    return best;
}

}  // namespace certicone
