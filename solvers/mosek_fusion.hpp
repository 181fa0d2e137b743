// MOSEK through its Fusion C++ interface. Models can be built, updated and written without a licence; solving needs one.
//
// How a ConicProgram becomes a Fusion model: each entry of `variables` is a free variable of its name, each block one
// constraint of its name,
//
//   block                  constraint              y of the block
//   Zero                   Ax = b                  −dual()
//   Nonnegative            Ax ≤ b                  −dual()
//   SecondOrder            b − Ax ∈ Q              dual()
//   RotatedSecondOrder     b − Ax ∈ Qr             dual()
//
// since MOSEK's dual reads Aᵀy' + Fᵀẏ = c with F = −A where ours reads Aᵀy = −c. Fusion has no second-order cone in one
// row and no rotated one in two: these are Ax ≤ b. A quadratic objective becomes a rotated cone first
// (conic/linear_objective.hpp).
//
// Names: .task files garble what is not printable ASCII, so it becomes '_'; Fusion takes no name twice, so the second is
// 'name~2'. In files element k of a variable or of linear rows is 'name[k]', a cone is 'name[]'.
#pragma once

#include <memory>
#include <string>

#include "solvers/solver.hpp"

namespace certicone::solvers {

const Backend& mosek_fusion_backend();

/// A program as a Fusion model: built once, then updated. One object serves one thread. Every failure is an InputError,
/// or SolverUnavailable where a licence is missing, with MOSEK's own message.
class FusionModel {
  public:
    virtual ~FusionModel() = default;

    virtual void update_b(const Vector& b) = 0;
    virtual void update_c(const Vector& c) = 0;
    virtual void update_constant(double c0) = 0;

    /// Writes .ptf, .task, .task.gz, .jtask or .cbf.
    virtual void write(const std::string& file) = 0;

    /// x, s, y and the claim, whose objectives include c0.
    virtual Solution solve(const Settings& settings) = 0;
    /// Puts the pair (x, y) in MOSEK's place as its interior solution and reads it back the way an answer is read; for
    /// tests. Only without a licence: Fusion takes up a task's solution after a call of the optimizer and at no other time, and
    /// with a licence that call would put its own answer in the pair's place. Throws InputError there.
    virtual Solution reread(const Vector& x, const Vector& y) = 0;
};

/// Throws SolverUnavailable where Fusion is not built in.
std::unique_ptr<FusionModel> fusion_model(const conic::ConicProgram& program);

/// Writes a program as the model that Fusion builds of it.
inline void write_fusion_model(const conic::ConicProgram& program, const std::string& file) {
    fusion_model(program)->write(file);
}

}  // namespace certicone::solvers
