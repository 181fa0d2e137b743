#include "verify/report_tally.hpp"

namespace certicone::verify {

namespace {

double quotient(const Finding& finding) { return finding.figure == 0.0 ? 0.0 : finding.figure / finding.bound; }

}  // namespace

void Tally::add(const PointReport& point) {
    summary.add(point);
    for (const Finding& finding : point.findings) {
        const auto [at, is_new] = row_of_.try_emplace({finding.id, finding.solver, finding.level}, rows.size());
        if (is_new) rows.push_back({finding.id, finding.solver, finding.level, 0, 0, 0, {}, 0});
        Row& row = rows[at->second];
        ++(finding.outcome == Outcome::Passed   ? row.passed
           : finding.outcome == Outcome::Failed ? row.failed
                                                : row.skipped);
        if (std::isfinite(finding.figure) && !std::isnan(quotient(finding)) &&
            (!row.closest || quotient(finding) > quotient(*row.closest))) {
            row.closest = finding;
            row.closest_point = point.index;
        }
        if (finding.outcome != Outcome::Passed && ++of_kind[{finding.outcome, finding.id, finding.solver}] <= kShown)
            misses.push_back({point.index, finding});
    }
}

}  // namespace certicone::verify
