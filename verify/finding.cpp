#include "verify/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

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

Finding failed(std::string id, std::string solver, std::string reason, std::string level) {
    Finding finding;
    finding.id = std::move(id);
    finding.solver = std::move(solver);
    finding.outcome = Outcome::Failed;
    finding.figure = std::numeric_limits<double>::quiet_NaN();
    finding.bound = std::numeric_limits<double>::quiet_NaN();
    finding.level = std::move(level);
    finding.reason = std::move(reason);
    return finding;
}

Finding skipped(std::string id, std::string solver, std::string reason, std::string level) {
    Finding finding = failed(std::move(id), std::move(solver), std::move(reason), std::move(level));
    finding.outcome = Outcome::Skipped;
    return finding;
}

void fail_skipped(PointReport& point) {
    for (Finding& finding : point.findings)
        if (finding.outcome == Outcome::Skipped) finding.outcome = Outcome::Failed;
}

void Finding::leave_open(double amount, double scale) {
    if (scale == 0.0 || amount == 0.0) return;
    const double share = amount / scale;
    open = share >= 0.0 ? std::max(open, share) : std::numeric_limits<double>::infinity();
}

void fail_loose(PointReport& point, std::optional<double> accuracy) {
    for (Finding& finding : point.findings) {
        if (finding.outcome != Outcome::Passed) continue;
        std::string loose;
        if (!accuracy && finding.open > kFloor)
            loose = fmt::format("leaves {:.1e} of its scale open, where {:.0e} is allowed", finding.open, kFloor);
        for (std::size_t k = 0; accuracy && loose.empty() && k < kQuantities; ++k) {
            const auto quantity = static_cast<Quantity>(k);
            if (const std::optional<double> share = finding.accuracy.of(quantity); share && *share > *accuracy)
                loose = fmt::format("{} to {:.1e}, where {:.1e} was asked for", to_string(quantity), *share, *accuracy);
        }
        if (loose.empty()) continue;
        finding.outcome = Outcome::Failed;
        finding.reason = fmt::format("{}; {}", loose, finding.reason);
    }
}

void Summary::add(const PointReport& point) {
    ++points;
    if (point.examined) ++examined;
    if (!point.degenerate_units.empty() || !point.degenerate_modules.empty()) ++degenerate;
    for (const Finding& finding : point.findings) {
        ++checks;
        ++(finding.outcome == Outcome::Passed ? passed : finding.outcome == Outcome::Failed ? failed : skipped);
        accuracy.add(finding.accuracy);
    }
}

void Summary::add(const Summary& other) {
    points += other.points;
    examined += other.examined;
    degenerate += other.degenerate;
    checks += other.checks;
    passed += other.passed;
    failed += other.failed;
    skipped += other.skipped;
    accuracy.add(other.accuracy);
}

}  // namespace certicone::verify
