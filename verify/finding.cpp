#include "verify/finding.hpp"

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
            figure <= bound ? Outcome::Passed : Outcome::Failed,
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

Summary NetworkReport::summary() const {
    Summary sum;
    sum.points = static_cast<Index>(points.size());
    for (const PointReport& point : points) {
        for (const Finding& finding : point.findings) {
            ++sum.checks;
            ++(finding.outcome == Outcome::Passed   ? sum.passed
               : finding.outcome == Outcome::Failed ? sum.failed
                                                    : sum.skipped);
        }
    }
    return sum;
}

}  // namespace certicone::verify
