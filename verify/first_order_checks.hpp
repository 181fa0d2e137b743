// First-order geometry in closed form: Theorem 2, Proposition 2 (gradient) and Proposition 3.
#pragma once

#include <span>

#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

/// Theorem 2: f(x') ≥ f(x) + G(ξ)ᵀ(x' − x) at the neighbours, for every ξ ∈ D*(x) given and the canonical one.
Finding check_subgradient(const Point& point, std::span<const Multipliers> optimal);

/// Theorem 2: f'(x; d) against one-sided differences. On a short step δ (verify/point.hpp) every preactivation is affine,
/// so f(x+δ) − f(x) = f'(x;δ) + ½ Σ α‖Bδ‖² + Σ λ·rest, 0 ≤ rest ≤ ‖Aδ‖²/‖u‖ (and 0 where u = 0): the bound knows the step.
Finding check_directional(const Point& point);

/// Theorem 2: the support functions of ∂f(x) and of {G(ξ): ξ ∈ D*(x)} agree. The forward sweep's f'(x;d) is attained by an
/// element of D*(x) (so ∂f(x) is not larger) and exceeded by none (so it is not smaller).
Finding check_subdifferential(const Point& point, std::span<const Multipliers> optimal);

/// Theorem 2: the Minkowski sum. f'(x;d) is the sum of the derivatives of the parts, each a network of its own.
class Parts {
  public:
    explicit Parts(const Network& network);
    Finding check_decomposition(const Point& point) const;

  private:
    std::vector<std::pair<std::string, Network>> parts_;
};

/// Proposition 2: at a nondegenerate point G(ξ̂) is the gradient, against automatic differentiation of the forward pass.
Finding check_gradient(const Point& point);

/// Proposition 3: ξ̂ and G(ξ̂) along sequences into x approach D*(x) and ∂f(x), at the rate that the modules allow:
/// ν̂ stays in its part of D*(x), ‖p̂(x+δ) − p̂(x)‖ = α‖Bδ‖, ‖r̂(x+δ) − r̂(x)‖ ≤ 2λ‖Aδ‖/‖u‖, and r is in its ball where u = 0.
Finding check_closed_graph(const Point& point);

}  // namespace certicone::verify
