// A network at a point in exact arithmetic: everything the paper claims there, as dyadic numbers where it is rational and as
// canonical enclosures of `bits` significant bits where square roots enter (docs/certificate.md has the definitions).
#pragma once

#include <optional>

#include "geometry/multipliers.hpp"
#include "support/enclosure.hpp"

namespace certicone {

struct ExactPoint {
    const Network* network = nullptr;
    VectorOf<Dyadic> x;
    Trace<Dyadic> trace;
    Pattern pattern;
    std::vector<VectorOf<Dyadic>> nu;  ///< ν̂
    std::vector<Dyadic> uu;            ///< ‖u_g‖²
};

/// The network must outlive the result.
ExactPoint exact_point(const Network& network, const Vector& x);

/// ub_ℓ(ν).
VectorOf<Dyadic> exact_upper_bound(const Network& network, const std::vector<VectorOf<Dyadic>>& nu, std::size_t layer);

/// f(x).
Enclosure enclose_value(const ExactPoint& point, slong bits);

/// cᵀz_L − Σ ν̂ᵀ(Wx + b): the gap of the canonical selector's ReLU block, 0 by Theorem 1.
Dyadic canonical_relu_gap(const ExactPoint& point);

/// G(ξ̂), entry by entry.
std::vector<Enclosure> enclose_subgradient(const ExactPoint& point, slong bits);

/// f'(x; d).
Enclosure enclose_directional(const ExactPoint& point, const Vector& direction, slong bits);

/// The multipliers that D*(x) leaves free: units with a = 0 whose bound can be positive, modules with u = 0 and λ > 0. D*(x) is
/// one point just if there are none.
struct FreeChoices {
    std::vector<std::pair<Index, Index>> units;
    std::vector<Index> modules;
};
FreeChoices free_choices(const ExactPoint& point);

/// Theorem 3's ball: where the first unit changes its sign, and within which no conic residual vanishes (‖u‖/‖A‖_F, whose square
/// is rational). Nothing where there is no such unit or module.
struct ExactBranch {
    std::optional<std::pair<Index, Index>> unit;
    Enclosure relu;
    std::optional<Index> module;
    Enclosure conic;
};
/// The point must be nondegenerate. Rows of the Jacobian in doubles with an error bound leave few units to be compared exactly.
ExactBranch enclose_branch(const ExactPoint& point, slong bits);

/// ∇²f: what depends on the network alone is formed once.
class ExactCurvature {
  public:
    explicit ExactCurvature(const Network& network);
    /// Row i holds H_ii … H_{i,d0−1}. The point must be nondegenerate.
    std::vector<std::vector<Enclosure>> enclose_hessian(const ExactPoint& point, slong bits) const;

  private:
    using Triangle = std::vector<std::vector<Dyadic>>;
    Triangle quadratic_;          ///< Σ α BᵀB
    std::vector<Triangle> gram_;  ///< AᵀA of each conic module
};

}  // namespace certicone
