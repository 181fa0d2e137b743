// MOSEK's runtime library libmosek64, loaded at run time: no header, nothing to link. Without a licence it is a referee:
// it judges primal–dual pairs and reads and writes files; with one it also solves (backend "mosek").
//
// How a ConicProgram becomes a MOSEK task (docs/solvers.md has the table of signs): columns are free variables; rows of
// Zero and Nonnegative blocks are constraints Ax = b, Ax ≤ b, in order; every other block is one affine conic constraint
// b − Ax ∈ K. MOSEK's dual Aᵀy' + Fᵀẏ = c then has y' = −y on the linear rows and ẏ = y on the cones. A quadratic
// objective becomes a rotated cone first (conic/linear_objective.hpp).
#pragma once

#include <memory>
#include <string>

#include "conic/linear_objective.hpp"
#include "solvers/solver.hpp"

namespace certicone::solvers::mosek {

/// Whether the library was found, is a version we know (10.2 or 11) and has every symbol we call; the reason says where
/// it is or what is wrong. Looked for once, in this order: CERTICONE_MOSEK_LIBRARY (a file), MOSEK_ROOT and MOSEK_DIR
/// (an installation), .deps/mosek (`make deps`), the system.
Readiness runtime();
/// "11.2.7"; "-" without the library.
std::string runtime_version();
/// Whether a licence lets it optimise: asked by optimising an empty problem, once. The reason is MOSEK's own message.
Readiness licence();
/// Whether a response code of MOSEK says that the licence is missing, expired or out of reach.
bool is_licence_code(int code);

/// What MOSEK finds in a primal–dual pair.
struct Judgement {
    double primal_objective = 0.0, dual_objective = 0.0;
    double gap = 0.0;  ///< |primal − dual objective|
    /// Violations as MOSEK measures them, of linear constraints, of bounds (or, for the dual, of stationarity), of cones.
    double primal_constraint = 0.0, primal_variable = 0.0, primal_cone = 0.0;
    double dual_constraint = 0.0, dual_variable = 0.0, dual_cone = 0.0;
    double slack = 0.0;  ///< ‖Ax + s − b‖_∞, measured by us: MOSEK has no s of its own
    /// Sizes of what was summed: max(|A||x|, |b|), max(|A|ᵀ|y|, |c|, |y|), |c|ᵀ|x| + |b|ᵀ|y| + |c0|.
    double primal_scale = 0.0, dual_scale = 0.0, objective_scale = 0.0;

    /// The largest of gap and violations, each relative to its scale, and its name.
    double relative() const;
    std::string_view worst() const;
};

/// What a file holds.
struct Shape {
    Index variables = 0, constraints = 0, cones = 0;
    Index nonzeros = 0;       ///< of the linear constraints
    Index cone_rows = 0;      ///< of all cones together
    Index cone_nonzeros = 0;  ///< of F
};

/// A MOSEK task. One object serves one thread.
class Task {
  public:
    /// Throws SolverUnavailable without the library.
    explicit Task(const conic::ConicProgram& program);
    /// Reads .cbf, .ptf, .task, .task.gz or .jtask; throws InputError with MOSEK's message.
    explicit Task(const std::string& file);
    ~Task();
    Task(Task&&) noexcept;
    Task& operator=(Task&&) noexcept;

    void update_b(const Vector& b);
    void update_c(const Vector& c);
    void update_constant(double c0);
    void write(const std::string& file) const;
    Shape shape() const;

    /// Judges (x, y) of the program this task was built from, with s beside.
    Judgement judge(const Vector& x, const Vector& s, const Vector& y);

    /// Solves; the answer in the convention of conic/program.hpp. For programs only.
    Solution solve(const Settings& settings);

    /// A task that was not built from a ConicProgram (a file, a Fusion model): the pair in MOSEK's own variables and
    /// multipliers, `y` for the linear constraints, `doty` for the affine conic constraints, `sx` for the bounds of the
    /// variables (slx − sux). Scales are left at 0.
    Judgement judge_native(const Vector& x, const Vector& y, const Vector& doty, const Vector& sx);
    /// Index of a variable or constraint by its name in the task; −1 where there is none.
    Index variable(const std::string& name) const;
    Index constraint(const std::string& name) const;
    Index cone(const std::string& name) const;

  private:
    struct Data;
    std::unique_ptr<Data> data_;
};

/// MOSEK's opinion of one pair of any program.
Judgement judge(const conic::ConicProgram& program, const Vector& x, const Vector& s, const Vector& y);

}  // namespace certicone::solvers::mosek

namespace certicone::solvers {
const Backend& mosek_backend();
}
