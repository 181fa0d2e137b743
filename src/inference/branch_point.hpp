// A point x and the branch that the search is on there: the masks of the units, what is held at zero, and all that follows
// from them by one pass forward. Double or DoubleDouble.
#pragma once

#include "inference/problem.hpp"
#include "inference/scalar_products.hpp"

namespace certicone {

template <class Scalar>
struct BranchPoint {
    BranchPoint(const InferenceProblem& problem, const Vector& start);

    /// Preactivations by the masks of the branch: a held unit passes nothing on, whatever rounding left of it.
    void pass_forward();

    /// u ≠ 0 and λ > 0: the module has a gradient and a Hessian here.
    bool smooth(std::size_t g) const;

    /// ∇Φ(x).
    VectorOf<Scalar> objective_gradient() const;

    /// The last resort, where many kinks meet in one point and rounding keeps them apart: all units and modules that are zero
    /// up to `vanished` of what they are summed from, for the largest x on the way, count as zero. The proof tells whether
    /// they may. False where there are no more.
    bool gather_kinks(double vanished);

    /// A residual that a step from `before` has brought to zero (along d its norm has a kink where u and Ad are parallel, as
    /// always with one row) is held: nothing but rounding is left of it, that of u itself and that of x.
    void hold_vanished(const VectorOf<Scalar>& before);

    const InferenceProblem& problem;
    const Network& network;
    std::vector<Vector> box;     ///< the largest each ν can be
    MatrixOf<Scalar> curvature;  ///< Q + Σ αBᵀB
    VectorOf<Scalar> x;
    Vector largest;                    ///< |x| on the way, entry by entry
    std::vector<Pattern::Signs> sign;  ///< 0: held
    std::vector<Pattern::Signs> from;  ///< the side a held unit came from; 0 where its ν was inside
    std::vector<bool> held, leaving;   ///< modules with u = 0; those that leave it with the next step
    Trace<Scalar> trace;
};

}  // namespace certicone
