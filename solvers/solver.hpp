// One interface for every solver. A backend only translates: program in, answer back into the convention of
// conic/program.hpp. Programs and options are checked once, in `open`; what a solver claims stands beside what we
// measure.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conic/program.hpp"

namespace certicone::solvers {

struct Capabilities {
    std::vector<conic::Cone> cones;
    bool quadratic_objective = false;
    bool updates_b = false;
    bool updates_c = false;
    bool warm_start = false;
};

/// Whether something can be used, and if not, why and what to do.
struct Readiness {
    bool ready = false;
    std::string reason;
};

struct Settings {
    double eps_abs = 1e-9;
    double eps_rel = 1e-9;
    long max_iterations = 0;                     ///< 0: the backend's default
    double time_limit = 0.0;                     ///< seconds a solve; 0: none
    std::map<std::string, std::string> options;  ///< the backend's own, by name; unknown names are errors
};

/// Throws InputError naming the setting that makes no sense.
void validate(const Settings& settings);

enum class Status { Solved, Inaccurate, Infeasible, Unbounded, IterationLimit, TimeLimit, Interrupted, Failed };
std::string_view to_string(Status status);

/// What the solver says of its own answer.
struct Claim {
    Status status = Status::Failed;
    std::string text;  ///< the solver's own word
    long iterations = 0;
    double seconds = 0.0;
    double primal_objective = 0.0;
    double dual_objective = 0.0;
    double primal_residual = std::numeric_limits<double>::quiet_NaN();  ///< by its own rule; NaN where it has none
    double dual_residual = std::numeric_limits<double>::quiet_NaN();
};

/// What we find in it: residuals in the largest entry, cone distances Euclidean, largest block.
struct Measured {
    double primal_residual = 0.0;  ///< ‖Ax + s − b‖_∞
    double dual_residual = 0.0;    ///< ‖Px + Aᵀy + c‖_∞
    double primal_cone = 0.0;      ///< distance of s from K
    double dual_cone = 0.0;        ///< distance of y from K*
    double primal_objective = 0.0;
    double dual_objective = 0.0;
    double gap = 0.0;  ///< |primal − dual objective|
};

struct Solution {
    Vector x, s, y;
    Claim claimed;
    Measured measured;
};

Measured measure(const conic::ConicProgram& program, const Vector& x, const Vector& s, const Vector& y);

/// A program set up in a solver. b and c may change; A, P and the cones stay. One object serves one thread.
class Workspace {
  public:
    virtual ~Workspace() = default;

    void update_b(const Vector& b);
    void update_c(const Vector& c);
    /// Starts from the last answer when `warm` and the solver can.
    Solution solve(bool warm = true);

    const conic::ConicProgram& program() const { return program_; }

  protected:
    explicit Workspace(conic::ConicProgram program) : program_(std::move(program)) {}

  private:
    /// x, s, y and the claim for program(); `b_changed` and `c_changed` say what is new since the last call.
    virtual Solution run(bool warm, bool b_changed, bool c_changed) = 0;

    conic::ConicProgram program_;
    bool b_changed_ = false, c_changed_ = false;
};

struct Option {
    std::string_view name;
    std::string_view meaning;
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string_view name() const = 0;
    virtual std::string version() const = 0;
    virtual Capabilities capabilities() const = 0;
    virtual std::span<const Option> options() const = 0;
    virtual Readiness available() const = 0;                   ///< built in
    virtual Readiness enabled() const { return available(); }  ///< usable now (a licence was found, …)

    /// The front door: checks availability, program, cones and options, then sets the solver up.
    std::unique_ptr<Workspace> open(conic::ConicProgram program, const Settings& settings) const;

  private:
    virtual std::unique_ptr<Workspace> setup(conic::ConicProgram program, const Settings& settings) const = 0;
};

/// Every backend, built in or not, in order of preference.
std::span<const Backend* const> backends();
/// "A+B" is the pair of solvers/separable.hpp. Throws InputError for a name that no backend has (listing those there are).
const Backend& backend(std::string_view name);

/// Why the backend cannot take the program: "does not support the second-order cone of block 'conic[0].cone'". None where
/// it can.
std::optional<std::string> obstacle(const Backend& backend, const conic::ConicProgram& program);

/// Throws SolverUnavailable, with the reason, for a backend that is not available or not enabled.
void require_usable(const Backend& backend);

/// Throws InputError, naming the cone and a solver that has it, for a program that the backend cannot take.
void require_support(const Backend& backend, const conic::ConicProgram& program);

/// The value of a backend's own option as a number; `fallback` where it is not given. Throws InputError otherwise.
double number_option(const Settings& settings, std::string_view name, double fallback);

}  // namespace certicone::solvers
