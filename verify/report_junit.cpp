#include "verify/report_junit.hpp"

#include <fmt/ostream.h>

namespace certicone::verify {

std::string xml_escaped(std::string_view text) {
    const std::string line = one_line(text, std::string::npos);
    std::string escaped;
    for (std::size_t k = 0; k < line.size(); ++k) {
        if (const auto next = std::string_view(line).substr(k, 3); next == "\xEF\xBF\xBE" || next == "\xEF\xBF\xBF") {
            escaped += '?';  // U+FFFE, U+FFFF
            k += 2;
            continue;
        }
        switch (line[k]) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            default: escaped += line[k];
        }
    }
    return escaped;
}

JunitReport::JunitReport(std::ostream& out) : out_(out) {
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
}

void JunitReport::begin_network(const NetworkHeader& header) {
    header_ = header;
    cases_ = std::make_unique<Spool>();
}

void JunitReport::point(const PointReport& point) {
    for (const Finding& finding : point.findings) {
        std::ostream& out = cases_->stream();
        fmt::print(out, "<testcase classname=\"{}\" name=\"{} {} point {} ({})\"", xml_escaped(header_.name),
                   xml_escaped(finding.id), xml_escaped(finding.solver), point.index, finding.level);
        if (finding.outcome == Outcome::Passed)
            out << "/>\n";
        else
            fmt::print(out, "><{} message=\"{}\"/></testcase>\n",
                       finding.outcome == Outcome::Failed ? "failure" : "skipped", xml_escaped(explanation(finding)));
    }
}

void JunitReport::end_network(const Summary& summary, double) {
    fmt::print(out_, "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n<properties>\n",
               xml_escaped(header_.name), summary.checks, summary.failed, summary.skipped);
    const auto property = [&](std::string_view name, std::string_view value) {
        fmt::print(out_, "<property name=\"{}\" value=\"{}\"/>\n", xml_escaped(name), xml_escaped(value));
    };
    property("network_sha256", header_.sha256);
    property("points", header_.points_from);
    property("points_sha256", header_.points_sha256);
    for (const auto& [name, value] : header_.environment)
        property(name, value);
    out_ << "</properties>\n";
    cases_->copy_to(out_);
    cases_.reset();
    out_ << "</testsuite>\n";
}

void JunitReport::finish() { out_ << "</testsuites>\n"; }

}  // namespace certicone::verify
