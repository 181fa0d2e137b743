#include "verify/report_markdown.hpp"

#include <fmt/ostream.h>

namespace certicone::verify {

std::string markdown_escaped(std::string_view text) {
    std::string escaped;
    for (const char c : one_line(text, std::string::npos)) {
        if (std::string_view("\\`*_[]<>|&#~!$@").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

void MarkdownReport::begin_network(const NetworkHeader& header) {
    networks_.emplace_back();
    networks_.back().header = header;
}

void MarkdownReport::finish(Index not_begun) {
    const auto escaped = markdown_escaped;
    Summary total;
    for (const Tally& network : networks_)
        total.add(network.summary);
    fmt::print(out_, "## Certicone: {}\n\n{}\n\n", verdict(total, not_begun), counts(total));
    if (const std::string missing = what_is_missing(total, not_begun); !missing.empty())
        fmt::print(out_, "interrupted: {}\n\n", missing);
    if (const std::string accuracy = in_words(total.accuracy); !accuracy.empty())
        fmt::print(out_, "Accuracy: {}\n\n", accuracy);
    out_ << "| network | points | check | solver | class | passed | failed | skipped | closest to its bound |\n"
            "|---|--:|---|---|---|--:|--:|--:|---|\n";
    for (const Tally& network : networks_)
        for (const Tally::Row& row : network.rows) {
            fmt::print(out_, "| {} | {} | {} | {} | {} | {} | {} | {} | ", escaped(network.header.name),
                       network.summary.points, escaped(row.id), escaped(row.solver), row.level, row.passed, row.failed,
                       row.skipped);
            if (row.closest)
                fmt::print(out_, "{:.1e} {} {:.1e} at point {}, {} ", row.closest->figure,
                           row.closest->figure <= row.closest->bound ? "≤" : "\\>", row.closest->bound,
                           row.closest_point, escaped(row.closest->where));
            out_ << "|\n";
        }

    if (total.failed + total.skipped > 0) {
        fmt::print(out_, "\n<details{}><summary>{} failed, {} skipped</summary>\n\n", total.failed > 0 ? " open" : "",
                   total.failed, total.skipped);
        for (const Tally& network : networks_) {
            for (const auto& [point, finding] : network.misses)
                fmt::print(out_, "- **{}** {} point {}: {} ({}): {}\n", to_string(finding.outcome),
                           escaped(network.header.name), point, escaped(finding.id), escaped(finding.solver),
                           escaped(explanation(finding)));
            for (const auto& [kind, count] : network.of_kind)
                if (const auto& [outcome, id, solver] = kind; count > Tally::kShown)
                    fmt::print(out_, "- {} {} more {}: {} ({})\n", escaped(network.header.name), count - Tally::kShown,
                               to_string(outcome), escaped(id), escaped(solver));
        }
        out_ << "\n</details>\n";
    }

    out_ << "\n<details><summary>Environment</summary>\n\n| | |\n|---|---|\n";
    if (!networks_.empty())
        for (const auto& [name, value] : networks_.front().header.environment)
            fmt::print(out_, "| {} | {} |\n", escaped(name), escaped(value));
    for (const Tally& network : networks_)
        fmt::print(out_, "| {} | sha256 {}; points: {}, sha256 {} |\n", escaped(network.header.name),
                   network.header.sha256, escaped(network.header.points_from), network.header.points_sha256);
    out_ << "\n</details>\n";
}

}  // namespace certicone::verify
