// JUnit XML, which every CI shows: a suite a network, a test case a check.
#pragma once

#include <ostream>

#include "verify/report.hpp"

namespace certicone::verify {

class JunitReport : public Report {
  public:
    explicit JunitReport(std::ostream& out);
    void begin_network(const NetworkHeader& header) override;
    void point(const PointReport& point) override;
    void end_network(const Summary& summary, double seconds) override;
    void finish(Index not_begun = 0) override;

  private:
    std::ostream& out_;
    NetworkHeader header_;
    std::unique_ptr<Spool> cases_;  ///< of the current suite: its head holds the counts
};

/// `text` for an attribute in double quotes or for content. What XML 1.0 cannot hold becomes a blank or '?'.
std::string xml_escaped(std::string_view text);

}  // namespace certicone::verify
