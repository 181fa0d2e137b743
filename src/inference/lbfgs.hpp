// L-BFGS with a strong Wolfe line search, in the variant of torch.optim.LBFGS, which the paper's Torch-LBFGS calls: steps,
// tests and constants in its order, so that its evaluations can be counted against it.
#pragma once

#include <functional>

#include "network/network.hpp"

namespace certicone {

struct LbfgsOptions {
    int iterations = 300;
    int evaluations = 375;       ///< torch: 5/4 of the iterations
    int history = 100;           ///< torch's default (fitted: at least 20)
    double gradient = 1e-8;      ///< stops at ‖g‖_∞ ≤ gradient
    double change = 1e-14;       ///< stops at a step or a decrease this small (fitted, docs/paper.md)
    double bracket = 1e-9;       ///< torch's line search stops at a bracket this small, whatever `change` is
    int line_search_steps = 25;  ///< torch's
    double armijo = 1e-4, wolfe = 0.9;
};

struct LbfgsResult {
    Vector x;
    double value = 0.0;
    int iterations = 0, evaluations = 0;
};

/// F(x), with its gradient written to the second argument.
using ValueAndGradient = std::function<double(const Vector&, Vector&)>;

LbfgsResult lbfgs(const ValueAndGradient& function, const Vector& start, const LbfgsOptions& options = {});

}  // namespace certicone
