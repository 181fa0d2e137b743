// The geometry at a kink: of all elements of D*(x) the one whose residual is smallest in the norm of H⁻¹.
//
// With H = LLᵀ the curvature of the smooth part, K the units with a = 0 and V the modules with u = 0 at x, every element of D*(x)
// is given by ν_k, k ∈ K, and r_g, g ∈ V:
//
//   minimise ½ ‖h + Nν + Σ_g R_g r_g‖²   subject to  0 ≤ ν_k ≤ ub_k(ν) = base_k + Σ_j T_jk ν_j,  ‖r_g‖ ≤ λ_g,
//
// h = L⁻¹(gradient with all of K and V masked out), N = L⁻¹Jᵀ with J_k = ∂a_k/∂x, T_jk = ∂a_j/∂z_k and base_k = ∂F/∂z_k
// under the same masks. By duality d = −L⁻ᵀ(h + Nν + Rr) minimises F'(x;d) + ½dᵀHd: d = 0 proves x optimal, else d is a
// descent direction with F'(x;d) = −‖h + Nν + Rr‖², along which units strictly inside their range stay at a = 0, units at
// 0 go to a ≤ 0 and units at ub to a ≥ 0.
#pragma once

#include <vector>

#include "network/network.hpp"

namespace certicone {

/// Where a unit of K stands in [0, ub]: with `inside` it stays on its kink.
enum class Side { inactive, inside, active };

struct KinkProblem {
    Vector h;
    Matrix N;     ///< one column a unit, units in the order of their layers
    Matrix T;     ///< T(j,k), nonzero for j in a layer above k's
    Vector base;  ///< ≥ 0
    std::vector<Matrix> R;
    std::vector<double> lambda;

    /// How ub changes with ν.
    Vector through_layers(const Vector& nu) const { return T.size() > 0 ? Vector(T.transpose() * nu) : Vector(0); }
    Vector upper_bound(const Vector& nu) const { return base + through_layers(nu); }
};

struct KinkSolution {
    std::vector<Side> side;     ///< of each unit
    Vector nu;                  ///< feasible
    std::vector<bool> leaving;  ///< r_g on its sphere, for good: u_g leaves zero
    std::vector<Vector> r;
    Vector residual;  ///< h + Nν + Σ R r
    bool solved = false;
};

/// By a primal active-set method from the sides, ν and r of `start`, which must be feasible. With all units at a side ν is
/// the backward recursion with that mask; the free ones solve a least-squares problem; a bound in the way is taken, a
/// bound whose unit would go to its wrong side is given up. A module leaving zero moves on its sphere in turn with the rest.
KinkSolution solve_kink_problem(const KinkProblem& problem, KinkSolution start);

/// The columns of N for the units inside, with what hangs on them through the active ones: L⁻¹ times their gradients.
Matrix inside_columns(const KinkProblem& problem, const std::vector<Side>& side);

}  // namespace certicone
