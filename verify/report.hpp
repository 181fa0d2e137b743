// Reports render findings as they come; they never compute. Several networks follow one another.
#pragma once

#include <fstream>
#include <functional>
#include <memory>

#include "support/file.hpp"
#include "verify/finding.hpp"

namespace certicone::verify {

class Report {
  public:
    virtual ~Report() = default;
    virtual void begin_network(const NetworkHeader& header) = 0;
    virtual void point(const PointReport& point) = 0;
    virtual void end_network(const Summary& summary, double seconds) = 0;
    /// After the last network; after an interrupt there may be some that were not begun.
    virtual void finish(Index not_begun = 0) = 0;
};

/// A temporary file without a name: large output waits in it and is gone whatever happens.
class Spool {
  public:
    Spool();
    std::ostream& stream() { return file_; }
    /// Throws InputError when something could not be kept.
    void copy_to(std::ostream& out);

  private:
    std::fstream file_;
};

/// Where a report goes: a file, or standard output for "-". Either gets all of it at commit(), or nothing.
class Output {
  public:
    explicit Output(const std::string& path);
    std::ostream& stream() { return file_ ? file_->stream() : spool_->stream(); }
    void commit();

  private:
    std::unique_ptr<AtomicFile> file_;
    std::unique_ptr<Spool> spool_;
};

/// "certified" where every point of every network was examined and no check failed; "NOT CERTIFIED", "interrupted" or
/// "nothing was checked".
std::string_view verdict(const Summary& summary, Index not_begun = 0);
/// "5 of 50 points were examined, 2 networks were not begun"; empty where all were.
std::string what_is_missing(const Summary& summary, Index not_begun);
/// "381 points (1 degenerate), 1143 checks: 1143 passed, 0 failed, 0 skipped"
std::string counts(const Summary& summary);
/// Why a check did not pass: "3.1e-03 > 2.0e-09 at nu[0][1]; …", or the reason alone where nothing was measured.
std::string explanation(const Finding& finding);

}  // namespace certicone::verify
