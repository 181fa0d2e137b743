// All checks at a point of a network. One object serves one thread and keeps the solvers' workspaces from point to point.
#pragma once

#include <memory>

#include "solvers/solver.hpp"
#include "verify/finding.hpp"
#include "verify/subject.hpp"

namespace certicone::verify {

/// "highs+clarabel" where both can be used, else "scs".
std::string default_solver();

/// How far the doubles and the solvers are trusted: by rounding analysis, not at all but for enclosures, not at all.
enum class Level { Numeric, Rigorous, Exact };
std::string_view to_string(Level level);

struct CertifyOptions {
    std::vector<std::string> solvers{default_solver()};
    bool referee = false;  ///< MOSEK judges the closed-form pair of each point (verify/referee.hpp)
    solvers::Settings settings;
    double tolerance = 0.0;          ///< for degeneracy; 0: exact
    std::uint64_t seed = 0;          ///< of the directions, neighbours and random multipliers that checks draw
    std::optional<double> accuracy;  ///< what is certified less accurately has failed; none: fail_loose's floor
    Level level = Level::Numeric;    ///< each adds its findings to those of the ones before
    bool certificate = false;        ///< write the claims of each point into its report
    Index bits = 64;                 ///< of the square roots in enclosures
    Index threads = 0;               ///< 0: all cores
    std::string dump;  ///< every solve is written to "<dump>.<program>.point<j>.<solver>.json"; empty: none
    /// Where names of solvers are looked up; tests put solvers of their own here.
    std::function<const solvers::Backend*(std::string_view)> find_backend = [](std::string_view name) {
        return &solvers::backend(name);
    };
};

/// Throws SolverUnavailable or InputError where the solvers or their settings cannot be used.
void require_usable(const CertifyOptions& options);

/// The report of a point that nobody looks at: its checks are skipped, with this reason.
PointReport not_examined(Index index, const Vector& x, const CertifyOptions& options, const std::string& reason);

class Examiner {
  public:
    /// Throws SolverUnavailable or InputError when a solver cannot be used. Both arguments must outlive the object.
    Examiner(const Network& network, const CertifyOptions& options, const Subject& subject = {});
    ~Examiner();

    /// Throws PointError ("point 3: …") where the forward pass overflows. When the user interrupts a solver, every check of
    /// the point is skipped (and verify/interrupt.hpp knows).
    PointReport examine(Index index, const Vector& x);

  private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace certicone::verify
