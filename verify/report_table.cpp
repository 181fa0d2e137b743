#include "verify/report_table.hpp"

#include <fmt/ostream.h>

#include <map>
#include <set>

namespace certicone::verify {

namespace {

struct Row {
    Index passed = 0, failed = 0, skipped = 0;
    const Finding* worst = nullptr;  ///< largest figure / bound among the judged ones
    Index worst_point = 0;
};

double quotient(const Finding& finding) { return finding.figure == 0.0 ? 0.0 : finding.figure / finding.bound; }

}  // namespace

void write_table(std::ostream& out, const std::vector<NetworkReport>& reports) {
    std::size_t name_width = 7, id_width = 5, solver_width = 6;
    for (const NetworkReport& report : reports) {
        name_width = std::max(name_width, report.name.size());
        for (const PointReport& point : report.points)
            for (const Finding& finding : point.findings) {
                id_width = std::max(id_width, finding.id.size());
                solver_width = std::max(solver_width, finding.solver.size());
            }
    }
    fmt::print(out, "{:<{}}  {:>6}  {:<{}}  {:<{}}  {:>6} {:>6} {:>7}   {}\n", "network", name_width, "points", "check",
               id_width, "solver", solver_width, "passed", "failed", "skipped", "closest to its bound");
    Summary total;
    Index degenerate = 0;
    double seconds = 0.0;
    for (const NetworkReport& report : reports) {
        std::map<std::pair<std::string, std::string>, Row> rows;
        std::vector<std::pair<std::string, std::string>> order;
        for (const PointReport& point : report.points) {
            if (!point.degenerate_units.empty() || !point.degenerate_modules.empty()) ++degenerate;
            for (const Finding& finding : point.findings) {
                const std::pair key{finding.id, finding.solver};
                if (!rows.contains(key)) order.push_back(key);
                Row& row = rows[key];
                ++(finding.outcome == Outcome::Passed   ? row.passed
                   : finding.outcome == Outcome::Failed ? row.failed
                                                        : row.skipped);
                if (!std::isfinite(finding.figure)) continue;
                if (!row.worst || quotient(finding) > quotient(*row.worst)) {
                    row.worst = &finding;
                    row.worst_point = point.index;
                }
            }
        }
        for (const auto& key : order) {
            const Row& row = rows.at(key);
            fmt::print(out, "{:<{}}  {:>6}  {:<{}}  {:<{}}  {:>6} {:>6} {:>7}", report.name, name_width,
                       report.points.size(), key.first, id_width, key.second, solver_width, row.passed, row.failed,
                       row.skipped);
            if (row.worst)
                fmt::print(out, "   {:.1e} <= {:.1e} at point {}, {}", row.worst->figure, row.worst->bound,
                           row.worst_point, row.worst->where);
            fmt::print(out, "\n");
        }
        const Summary sum = report.summary();
        total.points += sum.points;
        total.checks += sum.checks;
        total.passed += sum.passed;
        total.failed += sum.failed;
        total.skipped += sum.skipped;
        seconds += report.seconds;
    }

    constexpr Index kShown = 5;
    for (const NetworkReport& report : reports) {
        std::map<std::string, Index> shown;
        for (const PointReport& point : report.points)
            for (const Finding& finding : point.findings) {
                if (finding.outcome == Outcome::Passed) continue;
                const Index count = ++shown[finding.id + finding.solver];
                if (count > kShown) continue;
                if (std::isfinite(finding.figure))
                    fmt::print(out, "{}: {} point {}: {} ({}): {:.3e} > {:.3e} at {}; {}\n", to_string(finding.outcome),
                               report.name, point.index, finding.id, finding.solver, finding.figure, finding.bound,
                               finding.where, finding.reason);
                else
                    fmt::print(out, "{}: {} point {}: {} ({}): {}\n", to_string(finding.outcome), report.name,
                               point.index, finding.id, finding.solver, finding.reason);
                if (count == kShown) fmt::print(out, "  (further ones of this kind are in --json)\n");
            }
    }
    fmt::print(out, "{}: {} points ({} degenerate), {} checks: {} passed, {} failed, {} skipped in {:.1f} s\n",
               total.failed > 0   ? "NOT CERTIFIED"
               : total.passed > 0 ? "certified"
                                  : "nothing was checked",
               total.points, degenerate, total.checks, total.passed, total.failed, total.skipped, seconds);
}

}  // namespace certicone::verify
