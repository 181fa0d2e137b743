// The five methods of Experiment 4 for min F_y(x) = f(x) + β/2 ‖x − y‖² (exp4_inference_problem), as the paper's
// appendix describes them; their parameters are the paper's as the project's brief gives them. What neither states was
// fitted to the paper's printed figures (docs/paper.md) and is marked "fitted" below. None of them proves its result; at a kink none of them can even tell that it has arrived.
#pragma once

#include <array>
#include <string_view>

#include "geometry/branch.hpp"
#include "inference/lbfgs.hpp"

namespace certicone {

/// Where derivatives come from: the readout and the Hessian formula (app_whitebox_grad_F, app_whitebox_hessian_F), or
/// automatic differentiation of the forward pass.
enum class Derivatives { closed_form, autodiff };

/// F_y. Refers to the network and its curvature; both must outlive it.
class QueryObjective {
  public:
    QueryObjective(const Network& network, const Curvature& curvature, Vector y, double beta)
        : network_(&network), curvature_(&curvature), y_(std::move(y)), beta_(beta) {}

    double value(const Vector& x) const;
    Vector gradient(const Vector& x, Derivatives source) const;
    /// Precondition for the closed form: no conic residual vanishes at x.
    Matrix hessian(const Vector& x, Derivatives source) const;

    const Network& network() const { return *network_; }
    const Vector& query() const { return y_; }
    double beta() const { return beta_; }

  private:
    const Network* network_;
    const Curvature* curvature_;
    Vector y_;
    double beta_;
};

/// All methods start at x = y (fitted).
struct MethodOptions {
    double tolerance = 1e-8;  ///< on ‖∇F‖
    double armijo = 1e-4;
    int backtracks = 30;     ///< at most, an iteration
    double shrink = 0.5;     ///< of the step a backtrack (fitted)
    double fallback = 1e-4;  ///< where all backtracks fail, x − fallback·∇F, by Newton too (fitted)
    int gradient_iterations = 800;
    double gradient_step = 0.1;
    int newton_iterations = 50;
    double newton_step = 1.0;
    double damping = 1e-10;  ///< ε of (app_whitebox_newton_direction)
    LbfgsOptions lbfgs;
};

struct MethodResult {
    Vector x;
    double value = 0.0, gradient_norm = 0.0;
    int iterations = 0;   ///< the one that finds ‖∇F‖ ≤ tolerance included, as the paper counts
    int backtracks = 0;   ///< rejected steps
    int evaluations = 0;  ///< of F
    double derivative_seconds = 0.0, seconds = 0.0;
};

MethodResult gradient_descent(const QueryObjective& objective, Derivatives source, const MethodOptions& options = {});
MethodResult newton(const QueryObjective& objective, Derivatives source, const MethodOptions& options = {});
MethodResult lbfgs(const QueryObjective& objective, Derivatives source, const MethodOptions& options = {});

enum class Method { white_box_gd, white_box_newton, autodiff_gd, autodiff_newton, lbfgs };
inline constexpr std::array kMethods{Method::white_box_gd, Method::white_box_newton, Method::autodiff_gd,
                                     Method::autodiff_newton, Method::lbfgs};

std::string_view to_string(Method method);  ///< "WhiteBox-GD", "AD-Newton", "L-BFGS" …

/// L-BFGS is run as the paper ran it, by automatic differentiation.
MethodResult run_method(Method method, const QueryObjective& objective, const MethodOptions& options = {});

}  // namespace certicone
