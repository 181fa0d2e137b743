// Changes of units, and among them dual-box scaling (design §2): the one in which every multiplier of the value-function
// program is of size one and every primal quantity is a contribution to f.
//
//   Ã = R A C,  b̃ = R b / σ,  c̃ = κ C c,  P̃ = κσ C P C;
//   x = σ C x̃,  s = σ R⁻¹ s̃,  y = R ỹ / κ,  objective − c0 = (σ/κ) · objectivẽ
//
// For the value function κ = 1 and
//
//   ReLU rows (ℓ,i)   R = ub_{ℓ,i}, C = 1/ub_{ℓ,i}, with ub the bounds for ν = ub throughout (where ub = 0 the unit
//                     cannot matter: R small enough that its row sums to at most 1): then
//                     0 ≤ ν̃ ≤ 1, c̃ = 1, and every Ũ has column sums 1.
//   quadratic h       the cone's rows (s, 1, η) by (α, ατ², ατ), its link by ατ, so that c̃ = 1 and p̃ = q/τ. The
//                     automorphism (s/τ, τ, η) of the rotated cone balances it: with τ = ‖q(x)‖/√2 all of b̃ and ỹ of
//                     the module are of one size, whatever α and ‖q‖ are.
//   conic g           all rows by λ: c̃ = 1, r̃ = û.
//   σ                 the largest entry of R b: the solver's absolute tolerance becomes relative to the problem.
//
// Ã, c̃ and the cones do not depend on x (τ and σ cancel there): a new x changes b̃ alone.
#pragma once

#include "conic/value_function.hpp"

namespace certicone::conic {

struct Scaling {
    Vector row;              ///< R
    Vector column;           ///< C
    double primal = 1.0;     ///< σ
    double objective = 1.0;  ///< κ

    Vector scaled_b(const Vector& b) const { return row.cwiseProduct(b) / primal; }
    Vector scaled_c(const Vector& c) const { return objective * column.cwiseProduct(c); }
    Vector scaled_x(const Vector& x) const { return x.cwiseQuotient(column) / primal; }
    Vector scaled_y(const Vector& y) const { return objective * y.cwiseQuotient(row); }
    Vector unscale_x(const Vector& x) const { return primal * column.cwiseProduct(x); }
    Vector unscale_s(const Vector& s) const { return primal * s.cwiseQuotient(row); }
    Vector unscale_y(const Vector& y) const { return row.cwiseProduct(y) / objective; }
    double unscale_objective(double value) const { return primal / objective * value; }
};

/// The scaling that changes nothing.
Scaling no_scaling(const ConicProgram& program);

/// The program in the units of `scaling`; c0 is kept out of it (0).
ConicProgram scaled(const ConicProgram& program, const Scaling& scaling);

/// The nearest one by powers of two, in which nothing is rounded; cones stay cones.
Scaling by_powers_of_two(const ConicProgram& program, const Scaling& scaling);

/// ub with ν = ub throughout: ub_L = c, ub_ℓ = U_{ℓ+1}ᵀ ub_{ℓ+1}: the largest value each ν can take.
std::vector<Vector> dual_box(const Network& network);

/// The scaling for the point that `value_function` is set to.
class DualBoxScaling {
  public:
    explicit DualBoxScaling(const ValueFunction& value_function);
    const Scaling& at_current_point();

  private:
    const ValueFunction* value_function_;
    std::vector<Vector> box_;
    Scaling scaling_;
};

}  // namespace certicone::conic
