#include "verify/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

namespace certicone::verify {

Spool::Spool() {
    std::string name = (std::filesystem::temp_directory_path() / "certicone-XXXXXX").string();
    const int created = ::mkstemp(name.data());
    if (created < 0) fail_input(name, "cannot write a temporary file");
    file_.open(name, std::ios::binary | std::ios::in | std::ios::out);
    ::unlink(name.c_str());
    ::close(created);
}

void Spool::copy_to(std::ostream& out) {
    if (!file_.flush()) fail_input({}, "cannot write a temporary file: is the disk full?");
    file_.seekg(0);
    std::vector<char> block(1 << 16);
    while (file_.read(block.data(), static_cast<std::streamsize>(block.size())), file_.gcount() > 0)
        out.write(block.data(), file_.gcount());
}

Output::Output(const std::string& path) {
    if (path == "-")
        spool_ = std::make_unique<Spool>();
    else
        file_ = std::make_unique<AtomicFile>(path);
}

void Output::commit() {
    if (file_) return file_->commit();
    spool_->copy_to(std::cout);
    if (!std::cout.flush()) fail_input({}, "cannot write to standard output");
}

std::string_view verdict(const Summary& summary, Index not_begun) {
    if (summary.failed > 0) return "NOT CERTIFIED";
    if (!what_is_missing(summary, not_begun).empty()) return "interrupted";
    return summary.passed > 0 ? "certified" : "nothing was checked";
}

std::string what_is_missing(const Summary& summary, Index not_begun) {
    std::string text;
    if (summary.examined < summary.points)
        text = fmt::format("{} of {} points were examined", summary.examined, summary.points);
    if (not_begun > 0)
        text += fmt::format("{}{} network{} not begun", text.empty() ? "" : ", ", not_begun,
                            not_begun == 1 ? " was" : "s were");
    return text;
}

std::string counts(const Summary& summary) {
    return fmt::format("{} points ({} degenerate), {} checks: {} passed, {} failed, {} skipped", summary.points,
                       summary.degenerate, summary.checks, summary.passed, summary.failed, summary.skipped);
}

std::string explanation(const Finding& finding) {
    if (!std::isfinite(finding.figure) || finding.figure <= finding.bound) return finding.reason;
    return fmt::format("{:.3e} > {:.3e} at {}; {}", finding.figure, finding.bound, finding.where, finding.reason);
}

}  // namespace certicone::verify
