#include "inference/branch_search.hpp"

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "conic/scaling.hpp"
#include "geometry/rounding.hpp"
#include "inference/kink_problem.hpp"

namespace certicone {

namespace {

/// Of the squared residual: kinks are left where staying promises less than this; in the classical mode where it promises
/// nothing but rounding.
constexpr double kFairShare = 1e-2, kNothing = 1e-12;
constexpr double kStiff = 1e-13;       // of the reciprocal condition of H
constexpr double kVanished = 0x1p-40;  // of what a number is summed from, or of what it was
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What d does to F along x + t d, on the branch.
struct ConicRate {
    double lambda, ww;  ///< ‖w‖², w = A d
    double nearest;     ///< the t at which ‖u + t w‖ is least,
    double least;       ///< and its square there
    bool from_zero;
};

class Search {
  public:
    Search(const InferenceProblem& problem, const WhiteBoxOptions& options)
        : problem_(problem),
          network_(*problem.network),
          options_(options),
          box_(conic::dual_box(network_)),
          curvature_(problem.Q),
          x_(options.start.size() > 0 ? options.start : problem.y),
          largest_(x_.cwiseAbs()),
          held_(network_.conic.size(), false),
          leaving_(network_.conic.size(), false) {
        for (const Quadratic& module : network_.quadratic)
            curvature_.noalias() += module.alpha * module.B.transpose() * module.B;
        for (const Conic& module : network_.conic) {
            gram_.push_back(module.A.transpose() * module.A);
            r_.push_back(Vector::Zero(module.A.rows()));
        }
        const LocalState start = evaluate(network_, x_);
        sign_ = start.pattern.sign;
        for (std::size_t l = 0; l < sign_.size(); ++l) {
            // A unit that no multiplier can reach has no kink in F.
            sign_[l] = (box_[l].array() == 0.0 && sign_[l].array() == 0).select(std::int8_t{-1}, sign_[l]);
            nu_.push_back(Vector::Zero(sign_[l].size()));
        }
        from_ = sign_;
        for (std::size_t g = 0; g < held_.size(); ++g)
            held_[g] = start.pattern.conic_zero[g] && network_.conic[g].lambda > 0.0;
        size_ = inference_size(problem_, problem_.y);
        trace_.a.resize(sign_.size());
        trace_.z.resize(sign_.size());
        rate_.resize(sign_.size());
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
            pass_forward();
            find_direction();
            const double predicted = 0.5 * solution_.residual.squaredNorm();
            if (predicted <= 1e-6 * size_ || size_ == 0.0 || result.iterations + 1 == limit) {
                InferenceCertificate found = certify_inference(problem_, x_, multipliers());
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
            if (predicted <= 1e-13 * size_ && (refine(direction_) || refine(return_))) continue;
            must_leave_ = !try_to_vanish() && !advance(direction_, std::nullopt);
            if (must_leave_) ++stalled;
        }
        if (result.certificate.xi.nu.empty()) {  // ended far from a proof
            pass_forward();
            find_direction();
            result.certificate = certify_inference(problem_, x_, multipliers());
            result.kinks = inside_units();
            result.zero_modules = held_modules();
        }
        return result;
    }

  private:
    // ---- the branch --------------------------------------------------------------------------------------------------

    /// Preactivations by the masks of the branch: a held unit passes nothing on, whatever rounding left of it.
    void pass_forward() {
        largest_ = largest_.cwiseMax(x_.cwiseAbs());
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            const Layer& layer = network_.layers[l];
            Vector& a = trace_.a[l];
            a = layer.b;
            a.noalias() += layer.W * x_;
            if (l > 0) a.noalias() += layer.U * trace_.z[l - 1];
            trace_.z[l] = (sign_[l].array() > 0).select(a, 0.0);
        }
        trace_.q.clear();
        trace_.u.clear();
        for (const Quadratic& module : network_.quadratic)
            trace_.q.emplace_back(module.B * x_ + module.e);
        for (const Conic& module : network_.conic)
            trace_.u.emplace_back(module.A * x_ + module.d);
    }

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
            by_z = (sign_[l].array() > 0).select(by_z, 0.0);
            slope.noalias() += network_.layers[l].W.transpose() * by_z;
            if (l > 0) by_z = network_.layers[l].U.transpose() * by_z;
        }
    }

    /// λ(AᵀA − (Aᵀû)(Aᵀû)ᵀ)/‖u‖.
    Matrix module_hessian(std::size_t g) const {
        const double length = trace_.u[g].norm();
        const Vector slope = network_.conic[g].A.transpose() * trace_.u[g] / length;
        return network_.conic[g].lambda / length * (gram_[g] - slope * slope.transpose());
    }

    bool smooth(std::size_t g) const {
        return !held_[g] && network_.conic[g].lambda > 0.0 && trace_.u[g].squaredNorm() > 0.0;
    }

    /// The last resort, where many kinks meet in one point and rounding keeps them apart: all units and modules that are zero
    /// up to 2⁻⁴⁰ of what they are summed from, for the largest x on the way, count as zero. The proof tells whether they
    /// may. False where there are no more.
    bool gather_kinks() {
        bool found = false;
        Vector z;
        for (std::size_t l = 0; l < sign_.size(); ++l) {
            const Layer& layer = network_.layers[l];
            Vector size = size_of_affine(layer.W, largest_, layer.b);
            if (l > 0) size.noalias() += layer.U * z;
            for (Index i = 0; i < size.size(); ++i) {
                if (sign_[l](i) == 0 || box_[l](i) == 0.0 || std::abs(trace_.a[l](i)) > kVanished * size(i)) continue;
                from_[l](i) = sign_[l](i);
                sign_[l](i) = 0;
                found = true;
            }
            z = std::move(size);
        }
        for (std::size_t g = 0; g < held_.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (held_[g] || module.lambda == 0.0) continue;
            if (trace_.u[g].norm() > kVanished * size_of_affine(module.A, largest_, module.d).norm()) continue;
            held_[g] = true;
            r_[g].setZero();
            found = true;
        }
        return found;
    }

    // ---- the direction -----------------------------------------------------------------------------------------------

    void find_direction() {
        kinks_.clear();
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0) kinks_.emplace_back(static_cast<Index>(l), i);
        const Index count = static_cast<Index>(kinks_.size()), d0 = network_.input_dim;

        KinkProblem problem;
        problem.base.resize(count);
        problem.T = Matrix::Zero(count, count);
        Vector slope = network_.v + problem_.gradient(x_);
        pass_backward(sign_.size(), network_.c, slope, [&](Index k, double entry) { problem.base(k) = entry; });
        hessian_ = curvature_;
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            slope.noalias() += network_.quadratic[h].alpha * (network_.quadratic[h].B.transpose() * trace_.q[h]);
        for (std::size_t g = 0; g < held_.size(); ++g)
            if (smooth(g)) {
                slope.noalias() +=
                    network_.conic[g].lambda / trace_.u[g].norm() * (network_.conic[g].A.transpose() * trace_.u[g]);
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
            const int from = from_[l](i);
            start.side.push_back(from < 0 ? Side::inactive : from > 0 ? Side::active : Side::inside);
            start.nu(k) = nu_[l](i);
        }
        problem.h = factor_.matrixL().solve(slope);
        if (count > 0) factor_.matrixL().solveInPlace(problem.N);
        modules_.clear();
        for (std::size_t g = 0; g < held_.size(); ++g)
            if (held_[g]) {
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
                values(column++) = trace_.a[static_cast<std::size_t>(kinks_[k].first)](kinks_[k].second);
        for (std::size_t m = 0; m < modules_.size(); ++m)
            if (!staying_.leaving[m]) append(inside_, values, problem.R[m], trace_.u[modules_[m]]);
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
        std::size_t stiffest = held_.size();
        double most = 0.0;
        for (std::size_t g = 0; g < held_.size(); ++g) {
            if (!smooth(g)) continue;
            const double curvature = network_.conic[g].lambda * gram_[g].trace() / trace_.u[g].norm();
            if (curvature > most) {
                most = curvature;
                stiffest = g;
            }
        }
        if (stiffest == held_.size() || most * kStiff < curvature_.trace()) return false;
        held_[stiffest] = true;
        r_[stiffest] = network_.conic[stiffest].lambda / trace_.u[stiffest].norm() * trace_.u[stiffest];
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
            sign_[l](i) = side == Side::inside   ? std::int8_t{0}
                          : side == Side::active ? std::int8_t{1}
                                                 : std::int8_t{-1};
            const Side last = solution_.side[k];
            from_[l](i) = last == Side::inside   ? std::int8_t{0}
                          : last == Side::active ? std::int8_t{1}
                                                 : std::int8_t{-1};
            nu_[l](i) = solution_.nu(static_cast<Index>(k));
        }
        for (std::size_t m = 0; m < modules_.size(); ++m) {
            r_[modules_[m]] = solution_.r[m];
            if (!staying_.leaving[m]) continue;
            held_[modules_[m]] = false;
            leaving_[modules_[m]] = true;
        }
        pass_forward();
    }

    /// ξ of the kink problem's solution: on K and V its ν and r, elsewhere by the branch.
    Multipliers multipliers() const {
        Multipliers xi = zero_multipliers(network_);
        std::size_t k = kinks_.size();
        for (std::size_t l = sign_.size(); l-- > 0;) {
            const Vector ub = upper_bound(network_, xi.nu, l);
            xi.nu[l] = (sign_[l].array() > 0).select(ub, 0.0);
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
            xi.p[h] = network_.quadratic[h].alpha * trace_.q[h];
        for (std::size_t g = 0; g < held_.size(); ++g)
            if (smooth(g)) xi.r[g] = network_.conic[g].lambda / trace_.u[g].norm() * trace_.u[g];
        for (std::size_t m = 0; m < modules_.size(); ++m)
            xi.r[modules_[m]] = solution_.r[m];
        return xi;
    }

    /// Where the step is as long as the way to u_g = 0: the step that ends there, H' d + ρ + Jᵀδ = 0 with J d = −values and
    /// A d = −u, H' without the module; taken if r = λû + δ_g is in its ball and F falls all the way.
    bool try_to_vanish() {
        for (std::size_t g = 0; g < held_.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (leaving_[g] || !smooth(g)) continue;
            if ((module.A * direction_).norm() < 0.5 * trace_.u[g].norm()) continue;
            const Eigen::LLT<Matrix> factor(hessian_ - module_hessian(g));
            if (factor.info() != Eigen::Success) continue;
            Matrix columns = inside_;
            Vector values = values_;
            append(columns, values, module.A.transpose(), trace_.u[g]);
            factor.matrixL().solveInPlace(columns);
            Vector scaled = factor.matrixL().solve(factor_.matrixL() * staying_.residual);
            const Eigen::CompleteOrthogonalDecomposition<Matrix> cod(columns);
            const Vector back = columns.transpose().completeOrthogonalDecomposition().solve(values);
            const Vector change = cod.solve(back - scaled);
            scaled += columns * cod.solve(-scaled) + back;
            const Vector d = factor.matrixU().solve(-scaled);
            const Index rows = module.A.rows();
            const Vector r = module.lambda / trace_.u[g].norm() * trace_.u[g] + change.tail(rows);
            if (r.norm() > module.lambda) continue;
            if ((module.A * d + trace_.u[g]).norm() > 1e-9 * trace_.u[g].norm()) continue;  // cannot vanish
            const auto sign = sign_, from = from_;
            const Vector x = x_;
            if (advance(d, g) && (held_[g] || x_ != x)) {
                r_[g] = r;
                return true;
            }
            sign_ = sign;  // a step of no length: this direction does not suit the sides taken
            from_ = from;
            pass_forward();
        }
        return false;
    }

    // ---- the line search ---------------------------------------------------------------------------------------------

    /// Rates of change along d on the branch.
    void make_rates(const Vector& d) {
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            rate_[l].noalias() = network_.layers[l].W * d;
            if (l > 0)
                rate_[l].noalias() +=
                    network_.layers[l].U * (sign_[l - 1].array() > 0).select(rate_[l - 1], 0.0).matrix();
        }
        affine_rate_ = network_.v.dot(d) + problem_.gradient(x_).dot(d) +
                       network_.c.dot((sign_.back().array() > 0).select(rate_.back(), 0.0).matrix());
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            affine_rate_ += network_.quadratic[h].alpha * trace_.q[h].dot(network_.quadratic[h].B * d);
        curvature_rate_ = d.dot(curvature_ * d);
        conic_rate_.clear();
        for (std::size_t g = 0; g < held_.size(); ++g) {
            if (held_[g] || network_.conic[g].lambda == 0.0) continue;
            const Vector w = network_.conic[g].A * d;
            const double ww = w.squaredNorm();
            if (ww == 0.0) continue;
            const double nearest = -trace_.u[g].dot(w) / ww;  // without cancellation where the line meets u = 0
            conic_rate_.push_back(
                {network_.conic[g].lambda, ww, nearest, (trace_.u[g] + nearest * w).squaredNorm(), leaving_[g]});
        }
    }

    /// dF/dt at x + t d, on the branch.
    double slope(double t) const {
        double sum = affine_rate_ + t * curvature_rate_;
        for (const auto& [lambda, ww, nearest, least, from_zero] : conic_rate_) {
            const double past = t - nearest, squared = least + past * past * ww;
            sum += from_zero || squared <= 0.0 ? lambda * std::sqrt(ww) : lambda * past * ww / std::sqrt(squared);
        }
        return sum;
    }

    /// The zero of the slope in (0, last], where it is not negative.
    double minimiser(double last) const {
        if (conic_rate_.empty()) return std::min(last, -affine_rate_ / curvature_rate_);
        double low = 0.0, high = last;
        if (!std::isfinite(high)) {
            high = 1.0;
            while (slope(high) < 0.0 && high < 1e12)
                high *= 2.0;
        }
        for (int k = 0; k < 200 && high - low > 1e-16 * high; ++k) {
            // Regula falsi with bisection: the slope is monotone.
            const double at_low = slope(low), at_high = slope(high);
            double middle = k % 3 == 2 || !(at_high > at_low) ? 0.5 * (low + high)
                                                              : low - at_low * (high - low) / (at_high - at_low);
            if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
            if (middle <= low || middle >= high) break;
            (slope(middle) < 0.0 ? low : high) = middle;
        }
        return high;
    }

    /// The whole step, where it crosses no kink: what is left to gain is below the rounding of F, so its slope cannot be
    /// asked, but the residual, and with it the gap, still falls. Units that the step brings to zero, up to 2⁻⁴⁰ of what they
    /// were, as where it goes back to a point in which all kinks meet, are held there.
    bool refine(const Vector& d) {
        if (!(d.squaredNorm() > 0.0)) return false;
        make_rates(d);
        std::vector<std::pair<std::size_t, Index>> vanish;
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i) {
                if (sign_[l](i) == 0 || box_[l](i) == 0.0) continue;
                const double before = trace_.a[l](i), after = before + rate_[l](i);
                if (std::abs(after) <= kVanished * std::abs(before))
                    vanish.emplace_back(l, i);
                else if (after * sign_[l](i) < 0.0)
                    return false;
            }
        x_ += d;
        for (const auto& [l, i] : vanish) {
            from_[l](i) = sign_[l](i);
            sign_[l](i) = 0;
        }
        pass_forward();
        std::fill(leaving_.begin(), leaving_.end(), false);
        return true;
    }

    /// Minimises F along d, kink by kink; with `target` no further than to x + d, where that module's u vanishes. False
    /// where F does not fall.
    bool advance(const Vector& d, std::optional<std::size_t> target) {
        const Vector before = x_;
        const bool moved = d.allFinite() && d.squaredNorm() > 0.0 && walk(d, target);
        if (moved || !target) {
            std::fill(leaving_.begin(), leaving_.end(), false);
            hold_vanished(before);
        }
        return moved;
    }

    bool walk(const Vector& d, std::optional<std::size_t> target) {
        bool moved = false;
        double done = 0.0;  // share of d behind us
        for (Index crossed = 0; crossed <= 4 * total_units(network_); ++crossed) {
            make_rates(d);
            if (!(slope(0.0) < 0.0)) break;
            double end = kInfinity;
            std::size_t layer = 0;
            Index unit = -1;
            for (std::size_t l = 0; l < sign_.size(); ++l)
                for (Index i = 0; i < sign_[l].size(); ++i) {
                    const double rate = rate_[l](i), a = trace_.a[l](i);
                    if (sign_[l](i) == 0 || rate * sign_[l](i) >= 0.0 || box_[l](i) == 0.0) continue;
                    const double t = a * sign_[l](i) <= 0.0 ? 0.0 : -a / rate;
                    if (t < end) {
                        end = t;
                        layer = l;
                        unit = i;
                    }
                }
            // Without norms the slope is at least the model's, so the minimum is at t ≤ 1; beyond that there is only rounding.
            const double last = target || conic_rate_.empty() ? std::max(0.0, 1.0 - done) : kInfinity;
            const double stop = std::min(end, last);
            if (!(std::isfinite(stop) && slope(stop) < 0.0)) {
                x_ += minimiser(stop) * d;
                pass_forward();
                return true;
            }
            x_ += stop * d;
            done += stop;
            moved = true;
            if (stop < end) {
                if (target) held_[*target] = true;  // arrived
                pass_forward();
                break;
            }
            if (stop > 0.0) std::fill(leaving_.begin(), leaving_.end(), false);
            from_[layer](unit) = sign_[layer](unit);
            sign_[layer](unit) = static_cast<std::int8_t>(-sign_[layer](unit));
            pass_forward();
            make_rates(d);
            // Past the kink F would rise: stay on it. So too where a held unit would move: then all their multipliers must
            // be asked which side to take. The classical mode stays on every kink, for it ends for certain (docs/inference.md).
            if (classical_ || !(slope(0.0) < 0.0) || held_moves(d)) {
                sign_[layer](unit) = 0;
                pass_forward();
                break;
            }
        }
        return moved;
    }

    /// A residual that the line search has brought to zero (along d its norm has a kink where u and Ad are parallel, as
    /// always with one row) is held: nothing but rounding is left of it, that of u itself and that of x, which came from
    /// `before`.
    void hold_vanished(const Vector& before) {
        const Vector size = x_.cwiseAbs().cwiseMax(before.cwiseAbs());
        for (std::size_t g = 0; g < held_.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (held_[g] || module.lambda == 0.0) continue;
            const double unit = RoundingBound(4 * network_.input_dim).relative;
            if (trace_.u[g].norm() <= unit * (module.A.cwiseAbs() * size + module.d.cwiseAbs()).norm()) held_[g] = true;
        }
    }

    /// Whether a held unit would leave its zero along d: the masks below it have changed.
    bool held_moves(const Vector& d) const {
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0 && std::abs(rate_[l](i)) > 1e-12 * d.norm()) return true;
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
    std::vector<Vector> box_;  ///< the largest each ν can be
    Matrix curvature_;         ///< Q + Σ αBᵀB
    std::vector<Matrix> gram_;
    double size_ = 0.0;  ///< of what F(y) is summed from
    bool classical_ = false;
    bool must_leave_ = false;  ///< the last step found no descent within its face

    // The point and its branch.
    Vector x_;
    Vector largest_;                    ///< |x| on the way, entry by entry
    std::vector<Pattern::Signs> sign_;  ///< 0: held
    std::vector<Pattern::Signs> from_;  ///< the side a held unit came from; 0 where its ν was inside
    std::vector<bool> held_, leaving_;  ///< modules with u = 0; those that leave it with the next step
    std::vector<Vector> nu_, r_;        ///< last multipliers: where the kink problem starts
    Trace<double> trace_;

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

    // The line search.
    std::vector<Vector> rate_;
    double affine_rate_ = 0.0, curvature_rate_ = 0.0;
    std::vector<ConicRate> conic_rate_;
};

}  // namespace

WhiteBoxResult search_branches(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    return Search(problem, options).run();
}

}  // namespace certicone
