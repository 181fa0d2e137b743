// The local affine–curvature branch of Theorem 3: f(x) = āᵀx + b̄ + Σ α/2‖q(x)‖² + Σ λ‖u(x)‖ near a nondegenerate
// point, how far "near" reaches, and the curvature there.
#pragma once

#include <optional>

#include "geometry/multipliers.hpp"

namespace certicone {

/// The ReLU part on the branch of x: slope ā = v + Σ Wᵀν̂ and offset b̄ = b0 + Σ ν̂ᵀb (lct_local_decomposition).
AffineSupport relu_branch(const Network& network, const Multipliers& canonical);

/// The radius ρ of Theorem 3, computed.
struct BranchRadius {
    /// min |a_{ℓ,i}| / ‖J_{ℓ,i}‖ with J the gradient of a_{ℓ,i} on the branch: exactly the largest ball in which no
    /// preactivation changes its sign. Infinite where no unit can change.
    double relu;
    Index layer = -1, unit = -1;  ///< the unit that changes first; −1 where none does
    /// min ‖u_g‖ / ‖A_g‖₂: within it no conic residual vanishes (a lower bound of the distance to u_g = 0).
    double conic;
    Index module = -1;
    /// The point where the first unit's preactivation is zero on the branch: at distance `relu` from x.
    Vector boundary;

    double radius() const { return std::min(relu, conic); }
};

/// Quantities that depend on the network alone, formed once: Σ αBᵀB, AᵀA and ‖A‖₂ of each conic module.
class Curvature {
  public:
    explicit Curvature(const Network& network);

    /// ∇²f (lct_local_hessian) in O(d0²) a conic module: Σ αBᵀB + Σ (λ/‖u‖)(AᵀA − (Aᵀû)(Aᵀû)ᵀ).
    /// Precondition: no conic residual vanishes at `state` (modules with λ = 0 excepted).
    Matrix hessian(const LocalState& state) const;
    void hessian(const LocalState& state, Matrix& result) const;

    BranchRadius branch_radius(const LocalState& state) const;

  private:
    const Network* network_;
    Matrix quadratic_;
    std::vector<Matrix> gram_;
    Vector spectral_norm_;
};

double smallest_eigenvalue(const Matrix& hessian);

/// A point just past the ReLU radius whose pattern differs from that of `state` (checked exactly); none where the
/// radius is infinite, or so small that no double lies within 1 % past it.
std::optional<Vector> branch_witness(const Network& network, const LocalState& state, const BranchRadius& radius);

}  // namespace certicone
