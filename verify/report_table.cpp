#include "verify/report_table.hpp"

#include <fmt/color.h>
#include <fmt/ostream.h>

namespace certicone::verify {

namespace {

constexpr fmt::terminal_color kGreen = fmt::terminal_color::green, kRed = fmt::terminal_color::red,
                              kYellow = fmt::terminal_color::yellow;

std::string in_colour(bool on, fmt::terminal_color colour, std::string text) {
    return on ? fmt::format(fmt::fg(colour), "{}", text) : text;
}

fmt::terminal_color colour_of(Outcome outcome) {
    return outcome == Outcome::Passed ? kGreen : outcome == Outcome::Failed ? kRed : kYellow;
}

}  // namespace

void TableReport::begin_network(const NetworkHeader& header) {
    networks_.emplace_back();
    networks_.back().header = header;
    networks_.back().header.name = one_line(header.name);
}

void TableReport::finish(Index not_begun) {
    std::size_t name_width = 7, id_width = 5, solver_width = 6;
    Summary total;
    for (const Tally& network : networks_) {
        total.add(network.summary);
        name_width = std::max(name_width, network.header.name.size());
        for (const Tally::Row& row : network.rows) {
            id_width = std::max(id_width, row.id.size());
            solver_width = std::max(solver_width, row.solver.size());
        }
    }
    fmt::print(out_, "{:<{}}  {:>6}  {:<{}}  {:<{}}  {:<8}  {:>6} {:>6} {:>7}   {}\n", "network", name_width, "points",
               "check", id_width, "solver", solver_width, "class", "passed", "failed", "skipped",
               "closest to its bound");
    for (const Tally& network : networks_)
        for (const Tally::Row& row : network.rows) {
            fmt::print(out_, "{:<{}}  {:>6}  {:<{}}  {:<{}}  {:<8}  {:>6} {} {}", network.header.name, name_width,
                       network.summary.points, row.id, id_width, row.solver, solver_width, row.level, row.passed,
                       in_colour(colour_ && row.failed > 0, kRed, fmt::format("{:>6}", row.failed)),
                       in_colour(colour_ && row.skipped > 0, kYellow, fmt::format("{:>7}", row.skipped)));
            if (row.closest)
                fmt::print(out_, "   {:.1e} {} {:.1e} at point {}, {}", row.closest->figure,
                           row.closest->figure <= row.closest->bound ? "<=" : ">", row.closest->bound,
                           row.closest_point, row.closest->where);
            fmt::print(out_, "\n");
        }
    for (const Tally& network : networks_) {
        for (const auto& [point, finding] : network.misses)
            fmt::print(out_, "{}: {} point {}: {} ({}): {}\n",
                       in_colour(colour_, colour_of(finding.outcome), std::string(to_string(finding.outcome))),
                       network.header.name, point, finding.id, finding.solver, explanation(finding));
        for (const auto& [kind, count] : network.of_kind)
            if (const auto& [outcome, id, solver] = kind; count > Tally::kShown)
                fmt::print(out_, "{} {} more: {} ({}), {} in all; --json has them\n", count - Tally::kShown,
                           to_string(outcome), id, solver, count);
    }
    const std::string missing = what_is_missing(total, not_begun), accuracy = in_words(total.accuracy);
    const Outcome outcome = total.failed > 0                      ? Outcome::Failed
                            : total.passed > 0 && missing.empty() ? Outcome::Passed
                                                                  : Outcome::Skipped;
    const std::string word = in_colour(colour_, colour_of(outcome), std::string(verdict(total, not_begun)));
    if (!missing.empty()) fmt::print(out_, "interrupted: {}\n", missing);
    if (!accuracy.empty()) fmt::print(out_, "{}: {}\n", word, accuracy);
    fmt::print(out_, "{}: {} in {:.1f} s\n", word, counts(total), seconds_);
}

}  // namespace certicone::verify
