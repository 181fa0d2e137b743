// The summary table on the terminal.
#pragma once

#include <ostream>

#include "verify/report.hpp"
#include "verify/report_tally.hpp"

namespace certicone::verify {

/// One line a network, check and solver: how many points passed, and the point that came closest to its bound. Checks
/// that did not pass follow with their place and reason (the first five of each kind), the total last.
class TableReport : public Report {
  public:
    TableReport(std::ostream& out, bool colour) : out_(out), colour_(colour) {}
    void begin_network(const NetworkHeader& header) override;
    void point(const PointReport& point) override { networks_.back().add(point); }
    void end_network(const Summary&, double seconds) override { seconds_ += seconds; }
    void finish(Index not_begun = 0) override;

  private:
    std::ostream& out_;
    bool colour_;
    std::vector<Tally> networks_;
    double seconds_ = 0.0;
};

}  // namespace certicone::verify
