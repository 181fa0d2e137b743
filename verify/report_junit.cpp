#include "verify/report_junit.hpp"

#include <fmt/ostream.h>

#include <map>

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
    std::map<std::string, int> seen;  // two claims of one id, solver and class
    for (const Finding& finding : point.findings) {
        std::ostream& out = cases_->stream();
        std::string name = fmt::format("{} {} point {} ({})", finding.id, finding.solver, point.index, finding.level);
        if (const int number = ++seen[name]; number > 1) name += fmt::format(" #{}", number);
        fmt::print(out, "<testcase classname=\"{}\" name=\"{}\"", xml_escaped(header_.name), xml_escaped(name));
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
    if (const std::string accuracy = in_words(summary.accuracy); !accuracy.empty()) property("certified", accuracy);
    for (const auto& [name, value] : header_.environment)
        property(name, value);
    out_ << "</properties>\n";
    cases_->copy_to(out_);
    cases_.reset();
    out_ << "</testsuite>\n";
}

void JunitReport::finish(Index not_begun) {
    if (not_begun > 0)
        fmt::print(
            out_,
            "<testsuite name=\"not begun\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\n"
            "<testcase classname=\"not begun\" name=\"networks\"><skipped message=\"interrupted: {}\"/></testcase>\n"
            "</testsuite>\n",
            what_is_missing({}, not_begun));
    out_ << "</testsuites>\n";
}

}  // namespace certicone::verify
