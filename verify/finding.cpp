#include "verify/finding.hpp"

#include <cmath>

namespace certicone::verify {

std::string_view to_string(Outcome outcome) {
    switch (outcome) {
        case Outcome::Passed: return "passed";
        case Outcome::Failed: return "failed";
        case Outcome::Skipped: return "skipped";
    }
    return "unknown";
}

Finding judged(std::string id, std::string solver, double figure, double bound, std::string where, std::string reason) {
    return {std::move(id),
            std::move(solver),
            std::isfinite(figure) && std::isfinite(bound) && figure <= bound ? Outcome::Passed : Outcome::Failed,
            figure,
            bound,
            "numeric",
            std::move(where),
            std::move(reason)};
}

Finding failed(std::string id, std::string solver, std::string reason) {
    Finding finding;
    finding.id = std::move(id);
    finding.solver = std::move(solver);
    finding.outcome = Outcome::Failed;
    finding.figure = std::numeric_limits<double>::quiet_NaN();
    finding.bound = std::numeric_limits<double>::quiet_NaN();
    finding.reason = std::move(reason);
    return finding;
}

Finding skipped(std::string id, std::string solver, std::string reason) {
    Finding finding = failed(std::move(id), std::move(solver), std::move(reason));
    finding.outcome = Outcome::Skipped;
    return finding;
}

void fail_skipped(PointReport& point) {
    for (Finding& finding : point.findings)
        if (finding.outcome == Outcome::Skipped) finding.outcome = Outcome::Failed;
}

void Summary::add(const PointReport& point) {
    ++points;
    if (!point.degenerate_units.empty() || !point.degenerate_modules.empty()) ++degenerate;
    for (const Finding& finding : point.findings) {
        ++checks;
        ++(finding.outcome == Outcome::Passed ? passed : finding.outcome == Outcome::Failed ? failed : skipped);
    }
}

void Summary::add(const Summary& other) {
    points += other.points;
    degenerate += other.degenerate;
    checks += other.checks;
    passed += other.passed;
    failed += other.failed;
    skipped += other.skipped;
}

}  // namespace certicone::verify
