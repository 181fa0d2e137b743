// What the checks found: typed results with a place. Checks make them, reports only render them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "geometry/local_state.hpp"
#include "verify/accuracy.hpp"

namespace certicone::verify {

enum class Outcome { Passed, Failed, Skipped };
std::string_view to_string(Outcome outcome);

/// One check at one point. It passes when figure ≤ bound; the bound is derived, and `reason` says from what.
struct Finding {
    std::string id;      ///< "theorem1.strong_duality"
    std::string solver;  ///< "closed form", "scs", …
    Outcome outcome = Outcome::Skipped;
    double figure = 0.0;
    double bound = 0.0;
    std::string level = "numeric";  ///< "numeric", "rigorous" or "exact"
    std::string where;              ///< the unit, module or quantity that came closest to its bound
    std::string reason;             ///< what the bound rests on; for failed and skipped checks, why
    Accuracy accuracy = {};         ///< what its bounds say of f, nu, … (docs/certification.md, "Accuracy")
    double open = 0.0;              ///< the share of its scale that a solver leaves open of f, of the gap or of f'

    /// One more claim of what is left open.
    void leave_open(double amount, double scale);
};

/// Passed when figure ≤ bound; a figure or bound that is not finite fails, for nothing follows from it.
Finding judged(std::string id, std::string solver, double figure, double bound, std::string where, std::string reason);
/// What could not be judged, at the level at which it would have been.
Finding failed(std::string id, std::string solver, std::string reason, std::string level = "numeric");
Finding skipped(std::string id, std::string solver, std::string reason, std::string level = "numeric");

struct PointReport {
    Index index = 0;
    Vector x;
    std::vector<std::pair<Index, Index>> degenerate_units;
    std::vector<Index> degenerate_modules;
    std::vector<Finding> findings;
    std::string certificate = {};  ///< the point's claims (verify/certificate.hpp), where one was asked for
    bool examined = true;          ///< false after an interrupt: nothing was looked at here
};

/// For `--strict`: what was skipped has failed, with its reason.
void fail_skipped(PointReport& point);

/// What is less accurate than asked has failed: any quantity that a finding speaks of. Where nothing is asked, what a
/// solver leaves open is held to kFloor.
void fail_loose(PointReport& point, std::optional<double> accuracy);

struct Summary {
    Index points = 0, examined = 0, degenerate = 0, checks = 0, passed = 0, failed = 0, skipped = 0;
    Accuracy accuracy;

    void add(const PointReport& point);
    void add(const Summary& other);
};

/// What a report says of a network before its points.
struct NetworkHeader {
    std::string name;
    std::string sha256;
    std::string points_from;    ///< a file, or how they were sampled
    std::string points_sha256;  ///< of the file, or of the sampled doubles
    std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace certicone::verify
