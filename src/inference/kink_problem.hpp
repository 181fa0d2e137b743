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

#include "inference/scalar_products.hpp"

namespace certicone {

/// Where a unit of K stands in [0, ub]: with `inside` it stays on its kink.
enum class Side { inactive, inside, active };

template <class Scalar>
struct KinkProblem {
    VectorOf<Scalar> h;
    MatrixOf<Scalar> N;     ///< one column a unit, units in the order of their layers
    MatrixOf<Scalar> T;     ///< T(j,k), nonzero for j in a layer above k's
    VectorOf<Scalar> base;  ///< ≥ 0
    std::vector<MatrixOf<Scalar>> R;
    std::vector<double> lambda;

    /// How ub changes with ν.
    VectorOf<Scalar> through_layers(const VectorOf<Scalar>& nu) const {
        return T.size() > 0 ? VectorOf<Scalar>(T.transpose() * nu) : VectorOf<Scalar>(0);
    }
    VectorOf<Scalar> upper_bound(const VectorOf<Scalar>& nu) const { return base + through_layers(nu); }
};

template <class Scalar>
struct KinkSolution {
    std::vector<Side> side;     ///< of each unit
    VectorOf<Scalar> nu;        ///< feasible
    std::vector<bool> leaving;  ///< r_g on its sphere, for good: u_g leaves zero
    std::vector<VectorOf<Scalar>> r;
    VectorOf<Scalar> residual;  ///< h + Nν + Σ R r
    bool solved = false;
};

/// By a primal active-set method from the sides, ν and r of `start`, which must be feasible. With all units at a side ν is
/// the backward recursion with that mask; the free ones and all r solve a least-squares problem over the balls
/// (ball_least_squares.hpp); a bound of ν in the way is taken, one whose unit would go to its wrong side is given up.
template <class Scalar>
KinkSolution<Scalar> solve_kink_problem(const KinkProblem<Scalar>& problem, KinkSolution<Scalar> start);

/// The columns of N for the units inside, with what hangs on them through the active ones: L⁻¹ times their gradients.
template <class Scalar>
MatrixOf<Scalar> inside_columns(const KinkProblem<Scalar>& problem, const std::vector<Side>& side);

}  // namespace certicone
