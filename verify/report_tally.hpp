// Findings counted by check, solver and class: what the table and the Markdown report show. Its size does not grow with the
// number of points.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "verify/finding.hpp"

namespace certicone::verify {

struct Tally {
    struct Row {
        std::string id, solver, level;
        Index passed = 0, failed = 0, skipped = 0;
        std::optional<Finding> closest;  ///< largest figure/bound among the judged ones
        Index closest_point = 0;
    };
    /// A check that did not pass.
    struct Miss {
        Index point = 0;
        Finding finding;
    };
    using Kind = std::tuple<Outcome, std::string, std::string>;  ///< outcome, id, solver
    static constexpr Index kShown = 5;

    NetworkHeader header;
    Summary summary;
    std::vector<Row> rows;          ///< in order of first appearance
    std::vector<Miss> misses;       ///< the first five of each kind, in order of points
    std::map<Kind, Index> of_kind;  ///< how many there are

    void add(const PointReport& point);

  private:
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> row_of_;
};

}  // namespace certicone::verify
