#include "inference/white_box.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <cmath>
#include <optional>

#include "conic/scaling.hpp"

namespace certicone {

namespace {

constexpr double kOutside = 1e-10;  // multipliers this far outside their range, relative to it, let go of their unit

/// What a Newton step is computed from, at the current point and branch.
struct Model {
    Vector gradient;
    Matrix hessian;
    Matrix held;        ///< rows: gradients of the held units, then the rows of A of the held modules
    Vector held_value;  ///< their values, zero but for rounding
};

struct Direction {
    Vector d;
    Vector multiplier;  ///< of the rows of `held`
};

class Search {
  public:
    Search(const InferenceProblem& problem, const WhiteBoxOptions& options)
        : problem_(problem),
          network_(*problem.network),
          options_(options),
          box_(conic::dual_box(network_)),
          curvature_(Matrix::Zero(network_.input_dim, network_.input_dim)),
          x_(problem.y),
          module_held_(network_.conic.size(), false) {
        for (const Quadratic& module : network_.quadratic)
            curvature_ += module.alpha * module.B.transpose() * module.B;
        curvature_.diagonal().array() += problem.beta;
        const LocalState start = evaluate(network_, x_);
        sign_ = start.pattern.sign;
        for (std::size_t g = 0; g < module_held_.size(); ++g)
            module_held_[g] = start.pattern.conic_zero[g] && network_.conic[g].lambda > 0.0;
        trace_.a.resize(network_.layers.size());
        trace_.z.resize(network_.layers.size());
        jacobian_.resize(network_.layers.size());
        rate_.resize(network_.layers.size());
    }

    WhiteBoxResult run() {
        const Index limit = options_.max_iterations > 0 ? options_.max_iterations : 100 + 4 * total_units(network_);
        WhiteBoxResult result;
        result.certificate.gap = std::numeric_limits<double>::infinity();
        Index idle = 0;  // iterations in a row that neither moved nor improved the proof
        for (result.iterations = 0; result.iterations < limit && idle < 3; ++result.iterations) {
            pass_forward();
            Model model = make_model();
            Direction step = newton_direction(model);
            const double before = result.certificate.gap;
            if (!let_go(model, step)) {
                InferenceCertificate found = certify_inference(problem_, x_, multipliers(step.multiplier));
                if (found.gap < result.certificate.gap) {
                    result.certificate = std::move(found);
                    result.kinks = held_units();
                    result.zero_modules = held_modules();
                }
                if (result.certificate.gap <= options_.relative_gap * std::abs(result.certificate.value)) break;
            }
            const bool moved = try_to_vanish(model, step.d) || advance(step.d, std::nullopt);
            idle = moved || result.certificate.gap < before ? 0 : idle + 1;
        }
        if (result.certificate.xi.nu.empty()) {  // the limit came before any proof
            pass_forward();
            result.certificate =
                certify_inference(problem_, x_, multipliers(newton_direction(make_model()).multiplier));
        }
        return result;
    }

  private:
    // ---- the branch --------------------------------------------------------------------------------------------------

    /// Preactivations by the masks of the branch: a held unit passes nothing on, whatever rounding left of it.
    void pass_forward() {
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            const Layer& layer = network_.layers[l];
            Vector& a = trace_.a[l];
            a.noalias() = layer.W * x_ + layer.b;
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

    Model make_model() {
        Model model;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            jacobian_[l] = network_.layers[l].W;
            if (l > 0)
                jacobian_[l].noalias() += network_.layers[l].U *
                                          (sign_[l - 1].array() > 0).cast<double>().matrix().asDiagonal() *
                                          jacobian_[l - 1];
        }
        const Vector active = (sign_.back().array() > 0).select(network_.c, 0.0);
        model.gradient = network_.v + jacobian_.back().transpose() * active + problem_.beta * (x_ - problem_.y);
        model.hessian = curvature_;
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            model.gradient += network_.quadratic[h].alpha * network_.quadratic[h].B.transpose() * trace_.q[h];
        for (std::size_t g = 0; g < network_.conic.size(); ++g)
            if (!module_held_[g]) add_module(model, g, 1.0);

        Index rows = 0;
        for (const auto& signs : sign_)
            rows += (signs.array() == 0).count();
        for (std::size_t g = 0; g < module_held_.size(); ++g)
            if (module_held_[g]) rows += network_.conic[g].A.rows();
        model.held.resize(rows, network_.input_dim);
        model.held_value.resize(rows);
        Index row = 0;
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0) {
                    model.held.row(row) = jacobian_[l].row(i);
                    model.held_value(row++) = trace_.a[l](i);
                }
        for (std::size_t g = 0; g < module_held_.size(); ++g)
            if (module_held_[g]) {
                const Index size = network_.conic[g].A.rows();
                model.held.middleRows(row, size) = network_.conic[g].A;
                model.held_value.segment(row, size) = trace_.u[g];
                row += size;
            }
        return model;
    }

    /// λ‖u‖ in gradient and Hessian, added or (factor −1) taken away.
    void add_module(Model& model, std::size_t g, double factor) const {
        const Conic& module = network_.conic[g];
        const double length = trace_.u[g].norm();
        if (module.lambda == 0.0 || length == 0.0) return;
        const Vector slope = module.A.transpose() * trace_.u[g] / length;
        model.gradient += factor * module.lambda * slope;
        model.hessian.noalias() +=
            (factor * module.lambda / length) * (module.A.transpose() * module.A - slope * slope.transpose());
    }

    // ---- directions --------------------------------------------------------------------------------------------------

    /// H d + g + Jᵀμ = 0, J d = −value: with H = LLᵀ and M = L⁻¹Jᵀ the least-squares problems M μ ≈ −L⁻¹g and Mᵀw = value.
    static Direction newton_direction(const Model& model) {
        const Eigen::LLT<Matrix> factor(model.hessian);
        Vector scaled = factor.matrixL().solve(model.gradient);
        Direction result;
        result.multiplier = Vector::Zero(model.held.rows());
        if (model.held.rows() > 0) {
            const Matrix M = factor.matrixL().solve(model.held.transpose());
            const Eigen::CompleteOrthogonalDecomposition<Matrix> cod(M);
            result.multiplier = cod.solve(-scaled);
            scaled += M * result.multiplier;
            const Vector back = M.transpose().completeOrthogonalDecomposition().solve(model.held_value);
            result.multiplier += cod.solve(back);
            scaled += back;
        }
        result.d = factor.matrixU().solve(-scaled);
        return result;
    }

    /// ν and r as the multipliers of the held rows say, the rest by the branch; ranges are not enforced.
    Multipliers multipliers(const Vector& held) const {
        Multipliers xi = zero_multipliers(network_);
        const std::vector<std::vector<double>> value = by_unit(held);
        xi.nu = select_backward(network_, [&](std::size_t l, Index i, double ub) {
            const int sign = sign_[l](i);
            return sign > 0 ? ub : sign < 0 ? 0.0 : std::clamp(value[l][static_cast<std::size_t>(i)], 0.0, ub);
        });
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h)
            xi.p[h] = network_.quadratic[h].alpha * trace_.q[h];
        Index row = held_unit_count();
        for (std::size_t g = 0; g < network_.conic.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (module_held_[g]) {
                xi.r[g] = held.segment(row, module.A.rows());
                row += module.A.rows();
            } else if (const double length = trace_.u[g].norm(); length > 0.0) {
                xi.r[g] = module.lambda / length * trace_.u[g];
            }
        }
        return xi;
    }

    std::vector<std::vector<double>> by_unit(const Vector& held) const {
        std::vector<std::vector<double>> value(sign_.size());
        Index row = 0;
        for (std::size_t l = 0; l < sign_.size(); ++l) {
            value[l].resize(static_cast<std::size_t>(sign_[l].size()));
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0) value[l][static_cast<std::size_t>(i)] = held(row++);
        }
        return value;
    }

    /// Lets go of the unit or module whose multiplier is furthest outside its range, relative to it; the model and the step
    /// are then those without it. False where all are inside.
    bool let_go(Model& model, Direction& step) {
        double worst = kOutside;
        std::size_t layer = 0, module = network_.conic.size();
        Index unit = -1;
        std::int8_t side = 0;
        const std::vector<std::vector<double>> value = by_unit(step.multiplier);
        select_backward(network_, [&](std::size_t l, Index i, double ub) {
            if (sign_[l](i) != 0) return sign_[l](i) > 0 ? ub : 0.0;
            const double nu = value[l][static_cast<std::size_t>(i)], size = box_[l](i);
            const double outside = size > 0.0 ? std::max(-nu, nu - ub) / size : std::abs(nu) > 0.0 ? 1.0 : 0.0;
            if (outside > worst) {
                worst = outside;
                layer = l;
                unit = i;
                side = nu > ub ? std::int8_t{1} : std::int8_t{-1};
            }
            return std::clamp(nu, 0.0, ub);
        });
        Index row = held_unit_count(), module_row = 0;
        for (std::size_t g = 0; g < module_held_.size(); ++g) {
            if (!module_held_[g]) continue;
            const Index size = network_.conic[g].A.rows();
            const double outside = step.multiplier.segment(row, size).norm() / network_.conic[g].lambda - 1.0;
            if (outside > worst) {
                worst = outside;
                module = g;
                module_row = row;
            }
            row += size;
        }
        if (module < network_.conic.size()) {
            leave_zero(model, step, module, module_row);
            return true;
        }
        if (unit < 0) return false;
        sign_[layer](unit) = side;
        pass_forward();
        model = make_model();
        step = newton_direction(model);
        return true;
    }

    /// Module g leaves u = 0: with P the projection off the other held rows and N = P L⁻¹Aᵀ, the r on the sphere that
    /// minimises ‖P L⁻¹g + N r‖ solves (NᵀN + μI) r = −NᵀP L⁻¹g, μ > 0; then A d = μ r.
    void leave_zero(Model& model, Direction& step, std::size_t g, Index row) {
        const Conic& module = network_.conic[g];
        const Index size = module.A.rows(), rows = model.held.rows() - size;
        Matrix others(rows, network_.input_dim);
        others.topRows(row) = model.held.topRows(row);
        others.bottomRows(rows - row) = model.held.bottomRows(rows - row);
        const Eigen::LLT<Matrix> factor(model.hessian);
        Vector slope = factor.matrixL().solve(model.gradient);
        Matrix N = factor.matrixL().solve(module.A.transpose());
        if (rows > 0) {
            const Matrix M = factor.matrixL().solve(others.transpose());
            const Eigen::CompleteOrthogonalDecomposition<Matrix> cod(M);
            slope -= M * cod.solve(slope);
            N -= M * cod.solve(N);
        }
        const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(N.transpose() * N);
        const Vector weight = spectrum.eigenvectors().transpose() * (-(N.transpose() * slope));
        const auto length = [&](double mu) {
            return weight.cwiseQuotient((spectrum.eigenvalues().cwiseMax(0.0).array() + mu).matrix()).norm();
        };
        double low = 0.0, high = weight.norm() / module.lambda;  // ‖r(high)‖ ≤ λ
        for (int k = 0; k < 200 && high - low > 1e-15 * high; ++k) {
            const double middle = 0.5 * (low + high);
            (length(middle) > module.lambda ? low : high) = middle;
        }
        const Vector r = spectrum.eigenvectors() *
                         weight.cwiseQuotient((spectrum.eigenvalues().cwiseMax(0.0).array() + high).matrix());
        step.d = factor.matrixU().solve(-(slope + N * r));
        module_held_[g] = false;
        leaving_ = g;
    }

    /// Where the step is as long as the way to u_g = 0: the step that ends there, taken if the model would stay there
    /// (‖r_g‖ ≤ λ) and F falls all the way.
    bool try_to_vanish(const Model& model, const Vector& d) {
        for (std::size_t g = 0; g < network_.conic.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (module_held_[g] || module.lambda == 0.0 || leaving_ == g) continue;
            if ((module.A * d).norm() < 0.5 * trace_.u[g].norm()) continue;
            Model zero = model;
            add_module(zero, g, -1.0);
            const Index rows = zero.held.rows(), size = module.A.rows();
            zero.held.conservativeResize(rows + size, Eigen::NoChange);
            zero.held.bottomRows(size) = module.A;
            zero.held_value.conservativeResize(rows + size);
            zero.held_value.tail(size) = trace_.u[g];
            const Direction step = newton_direction(zero);
            if (step.multiplier.tail(size).norm() > module.lambda) continue;
            if ((module.A * step.d + trace_.u[g]).norm() > 1e-9 * trace_.u[g].norm()) continue;  // cannot vanish
            if (advance(step.d, g)) return true;
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
        affine_rate_ =
            network_.v.dot(d) + network_.c.dot((sign_.back().array() > 0).select(rate_.back(), 0.0).matrix());
        for (std::size_t h = 0; h < network_.quadratic.size(); ++h) {
            const Vector w = network_.quadratic[h].B * d;
            affine_rate_ += network_.quadratic[h].alpha * trace_.q[h].dot(w);
        }
        affine_rate_ += problem_.beta * (x_ - problem_.y).dot(d);
        curvature_rate_ = d.dot(curvature_ * d);
        conic_rate_.clear();
        for (std::size_t g = 0; g < network_.conic.size(); ++g) {
            const double lambda = module_held_[g] ? 0.0 : network_.conic[g].lambda;
            const Vector w = network_.conic[g].A * d;
            conic_rate_.push_back(
                {lambda, trace_.u[g].squaredNorm(), trace_.u[g].dot(w), w.squaredNorm(), leaving_ == g});
        }
    }

    /// dF/dt at x + t d, on the branch.
    double slope(double t) const {
        double sum = affine_rate_ + t * curvature_rate_;
        for (const auto& [lambda, uu, uw, ww, from_zero] : conic_rate_) {
            if (lambda == 0.0 || ww == 0.0) continue;
            const double squared = uu + t * (2.0 * uw + t * ww);
            sum += from_zero || squared <= 0.0 ? lambda * std::sqrt(ww) : lambda * (uw + t * ww) / std::sqrt(squared);
        }
        return sum;
    }

    /// The zero of the slope in (0, last], where it is not negative.
    double minimiser(double last) const {
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

    /// Minimises F along d, kink by kink; with `target` no further than to x + d, where that module's u vanishes. False where
    /// F does not fall.
    bool advance(const Vector& d, std::optional<std::size_t> target) {
        bool moved = false;
        double done = 0.0;  // share of d behind us
        const double size = d.norm();
        if (!(size > 0.0) || !d.allFinite()) {
            leaving_.reset();
            return false;
        }
        for (Index crossed = 0; crossed <= 4 * total_units(network_); ++crossed) {
            make_rates(d);
            if (!(slope(0.0) < 0.0)) break;
            double end = std::numeric_limits<double>::infinity();
            std::size_t layer = 0;
            Index unit = -1;
            for (std::size_t l = 0; l < sign_.size(); ++l)
                for (Index i = 0; i < sign_[l].size(); ++i) {
                    const double rate = rate_[l](i), a = trace_.a[l](i);
                    if (sign_[l](i) == 0 || rate * sign_[l](i) >= 0.0) continue;
                    const double t = a * sign_[l](i) <= 0.0 ? 0.0 : -a / rate;
                    if (t < end) {
                        end = t;
                        layer = l;
                        unit = i;
                    }
                }
            const double stop = target ? std::min(end, 1.0 - done) : end;
            if (std::isfinite(stop) && slope(stop) < 0.0) {
                x_ += stop * d;
                done += stop;
                moved = moved || stop > 0.0;
                if (target && stop < end) {  // arrived
                    module_held_[*target] = true;
                    pass_forward();
                    break;
                }
                if (stop > 0.0) leaving_.reset();
                const std::int8_t before = sign_[layer](unit);
                sign_[layer](unit) = static_cast<std::int8_t>(-before);
                pass_forward();
                make_rates(d);
                // Past the kink F would rise: stay on it. So too where the other masks make held units move: then their
                // multipliers must be asked first which side to take.
                if (!(slope(0.0) < 0.0) || held_moves(d)) {
                    sign_[layer](unit) = 0;
                    pass_forward();
                    moved = true;
                    break;
                }
                moved = true;
                continue;
            }
            const double t = minimiser(stop);
            x_ += t * d;
            moved = true;
            pass_forward();
            break;
        }
        leaving_.reset();
        hold_vanished();
        return moved;
    }

    /// A residual that the line search has brought to zero (along d its norm has a kink where u and Ad are parallel, as
    /// always with one row) is held: nothing but rounding is left of it.
    void hold_vanished() {
        for (std::size_t g = 0; g < network_.conic.size(); ++g) {
            const Conic& module = network_.conic[g];
            if (module_held_[g] || module.lambda == 0.0) continue;
            const double unit = RoundingBound(4 * network_.input_dim).relative;
            if (trace_.u[g].norm() <= unit * (module.A.cwiseAbs() * x_.cwiseAbs() + module.d.cwiseAbs()).norm())
                module_held_[g] = true;
        }
    }

    /// Whether a held unit would leave its zero along d: the masks below it have changed.
    bool held_moves(const Vector& d) const {
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0 && std::abs(rate_[l](i)) > 1e-12 * d.norm()) return true;
        return false;
    }

    // ---- what is held ------------------------------------------------------------------------------------------------

    Index held_unit_count() const {
        Index count = 0;
        for (const auto& signs : sign_)
            count += (signs.array() == 0).count();
        return count;
    }
    std::vector<std::pair<Index, Index>> held_units() const {
        std::vector<std::pair<Index, Index>> units;
        for (std::size_t l = 0; l < sign_.size(); ++l)
            for (Index i = 0; i < sign_[l].size(); ++i)
                if (sign_[l](i) == 0) units.emplace_back(static_cast<Index>(l), i);
        return units;
    }
    std::vector<Index> held_modules() const {
        std::vector<Index> modules;
        for (std::size_t g = 0; g < module_held_.size(); ++g)
            if (module_held_[g]) modules.push_back(static_cast<Index>(g));
        return modules;
    }

    struct ConicRate {
        double lambda, uu, uw, ww;
        bool from_zero;
    };

    const InferenceProblem& problem_;
    const Network& network_;
    const WhiteBoxOptions& options_;
    std::vector<Vector> box_;
    Matrix curvature_;  ///< Σ αBᵀB + βI
    Vector x_;
    std::vector<Pattern::Signs> sign_;  ///< 0: held
    std::vector<bool> module_held_;
    std::optional<std::size_t> leaving_;  ///< the module that leaves u = 0 with the next step
    Trace<double> trace_;
    std::vector<Matrix> jacobian_;
    std::vector<Vector> rate_;
    double affine_rate_ = 0.0, curvature_rate_ = 0.0;
    std::vector<ConicRate> conic_rate_;
};

}  // namespace

WhiteBoxResult white_box_inference(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    return Search(problem, options).run();
}

}  // namespace certicone
