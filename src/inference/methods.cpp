#include "inference/methods.hpp"

#include <Eigen/Cholesky>
#include <chrono>

#include "geometry/autodiff.hpp"

namespace certicone {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The result of `compute`, with the time it took added to `seconds`.
template <class Compute>
auto timed(double& seconds, Compute compute) {
    const Clock::time_point begin = Clock::now();
    auto result = compute();
    seconds += seconds_since(begin);
    return result;
}

/// x_{k+1} = x_k + η_k d_k with d_k = direction(x_k, ∇F(x_k)) and η_k by backtracking to the Armijo condition.
template <class Direction>
MethodResult descend(const QueryObjective& objective, Derivatives source, const MethodOptions& options, int iterations,
                     double first_step, Direction direction) {
    const Clock::time_point begin = Clock::now();
    MethodResult result;
    result.x = objective.query();
    const auto gradient_at = [&](const Vector& x) {
        return timed(result.derivative_seconds, [&] { return objective.gradient(x, source); });
    };
    Vector gradient = gradient_at(result.x);
    result.value = objective.value(result.x);
    result.evaluations = 1;
    while (result.iterations < iterations) {
        ++result.iterations;
        if (gradient.norm() <= options.tolerance) break;
        const Vector d = direction(result, gradient);
        const double slope = gradient.dot(d);
        double step = first_step;
        Vector next = result.x + step * d;
        double next_value = objective.value(next);
        ++result.evaluations;
        int rejected = 0;
        // A direction that is not a number (a vanishing conic residual has no Hessian) ends at the fallback as well.
        while (!(next_value <= result.value + options.armijo * step * slope)) {
            ++rejected;
            if (rejected < options.backtracks) {
                step *= options.shrink;
                next = result.x + step * d;
            } else {
                next = result.x - options.fallback * gradient;
            }
            next_value = objective.value(next);
            ++result.evaluations;
            if (rejected == options.backtracks) break;
        }
        result.backtracks += rejected;
        result.x = std::move(next);
        result.value = next_value;
        gradient = gradient_at(result.x);
    }
    result.gradient_norm = gradient.norm();
    result.seconds = seconds_since(begin);
    return result;
}

}  // namespace

double QueryObjective::value(const Vector& x) const {
    return certicone::value<double>(*network_, x) + 0.5 * beta_ * (x - y_).squaredNorm();
}

Vector QueryObjective::gradient(const Vector& x, Derivatives source) const {
    Vector gradient = source == Derivatives::autodiff
                          ? autodiff_gradient(*network_, x)
                          : readout(*network_, canonical_selector(*network_, evaluate(*network_, x)));
    gradient += beta_ * (x - y_);
    return gradient;
}

Matrix QueryObjective::hessian(const Vector& x, Derivatives source) const {
    Matrix hessian =
        source == Derivatives::autodiff ? autodiff_hessian(*network_, x) : curvature_->hessian(evaluate(*network_, x));
    hessian.diagonal().array() += beta_;
    return hessian;
}

MethodResult gradient_descent(const QueryObjective& objective, Derivatives source, const MethodOptions& options) {
    return descend(objective, source, options, options.gradient_iterations, options.gradient_step,
                   [](MethodResult&, const Vector& gradient) { return Vector(-gradient); });
}

MethodResult newton(const QueryObjective& objective, Derivatives source, const MethodOptions& options) {
    return descend(objective, source, options, options.newton_iterations, options.newton_step,
                   [&](MethodResult& result, const Vector& gradient) {
                       Matrix hessian =
                           timed(result.derivative_seconds, [&] { return objective.hessian(result.x, source); });
                       hessian.diagonal().array() += options.damping;
                       return Vector(-hessian.ldlt().solve(gradient));
                   });
}

MethodResult lbfgs(const QueryObjective& objective, Derivatives source, const MethodOptions& options) {
    const Clock::time_point begin = Clock::now();
    MethodResult result;
    LbfgsResult end = lbfgs(
        [&](const Vector& x, Vector& gradient) {
            gradient = timed(result.derivative_seconds, [&] { return objective.gradient(x, source); });
            return objective.value(x);
        },
        objective.query(), options.lbfgs);
    result.seconds = seconds_since(begin);
    result.gradient_norm = objective.gradient(end.x, source).norm();
    result.x = std::move(end.x);
    result.value = end.value;
    result.iterations = end.iterations;
    result.evaluations = end.evaluations;
    return result;
}

std::string_view to_string(Method method) {
    switch (method) {
        case Method::white_box_gd: return "WhiteBox-GD";
        case Method::white_box_newton: return "WhiteBox-Newton";
        case Method::autodiff_gd: return "AD-GD";
        case Method::autodiff_newton: return "AD-Newton";
        case Method::lbfgs: return "L-BFGS";
    }
    return "";
}

MethodResult run_method(Method method, const QueryObjective& objective, const MethodOptions& options) {
    switch (method) {
        case Method::white_box_gd: return gradient_descent(objective, Derivatives::closed_form, options);
        case Method::white_box_newton: return newton(objective, Derivatives::closed_form, options);
        case Method::autodiff_gd: return gradient_descent(objective, Derivatives::autodiff, options);
        case Method::autodiff_newton: return newton(objective, Derivatives::autodiff, options);
        case Method::lbfgs: return lbfgs(objective, Derivatives::autodiff, options);
    }
    return {};
}

}  // namespace certicone
