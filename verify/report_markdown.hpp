// Markdown for the summary page of a CI job.
#pragma once

#include <ostream>

#include "verify/report.hpp"
#include "verify/report_tally.hpp"

namespace certicone::verify {

/// The verdict, the rows of the table, then folded: what did not pass, and the environment.
class MarkdownReport : public Report {
  public:
    explicit MarkdownReport(std::ostream& out) : out_(out) {}
    void begin_network(const NetworkHeader& header) override;
    void point(const PointReport& point) override { networks_.back().add(point); }
    void end_network(const Summary&, double) override {}
    void finish(Index not_begun = 0) override;

  private:
    std::ostream& out_;
    std::vector<Tally> networks_;
};

/// `text` so that Markdown shows it as it is, in running text and in table cells.
std::string markdown_escaped(std::string_view text);

}  // namespace certicone::verify
