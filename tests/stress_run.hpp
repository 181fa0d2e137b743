// A stress run of `certify`: whatever the network, no check of it may fail, for every network is right.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>

#include "stress_family.hpp"
#include "support/error.hpp"
#include "verify/examiner.hpp"
#include "verify/parallel.hpp"

namespace certicone::test {

struct StressCount {
    verify::Summary summary;
    Index networks = 0, refused = 0;       ///< points where the forward pass overflows
    std::map<std::string, Index> skipped;  ///< "id: reason"
    std::vector<std::string> failures;     ///< one line each
    std::vector<std::string> unsolved;     ///< answers that were refused: a solver did not keep its word

    void add(const Network& network, const verify::PointReport& report) {
        summary.add(report);
        for (const verify::Finding& finding : report.findings) {
            if (finding.outcome == verify::Outcome::Skipped)  // without what comes after ": "
                ++skipped[finding.id + ": " + finding.reason.substr(0, finding.reason.find(": "))];
            if (finding.outcome == verify::Outcome::Failed && finding.solver != "closed form" &&
                std::isnan(finding.figure))
                unsolved.push_back(fmt::format("{}, point {}: {} ({}): {}", network.name, report.index, finding.id,
                                               finding.solver, finding.reason));
            else if (finding.outcome == verify::Outcome::Failed)
                failures.push_back(fmt::format("{}, point {}: {} ({}, {}) {:.17g} > {:.17g} at {}: {}", network.name,
                                               report.index, finding.id, finding.solver, finding.level, finding.figure,
                                               finding.bound, finding.where, finding.reason));
        }
    }

    void add(const StressCount& other) {
        summary.add(other.summary);
        networks += other.networks;
        refused += other.refused;
        for (const auto& [reason, count] : other.skipped)
            skipped[reason] += count;
        failures.insert(failures.end(), other.failures.begin(), other.failures.end());
        unsolved.insert(unsolved.end(), other.unsolved.begin(), other.unsolved.end());
    }
};

/// `count` members from number `first` on, over all cores.
inline StressCount run_stress(std::uint64_t first, Index count, const verify::CertifyOptions& options,
                              const std::function<StressMember(std::uint64_t)>& member = &StressFamily::member) {
    StressCount total;
    verify::in_order<StressCount>(
        count, 4, options.threads,
        [&](Index begin, Index end, const auto& give) {
            for (Index k = begin; k < end; ++k) {
                const StressMember stress = member(first + static_cast<std::uint64_t>(k));
                StressCount counted;
                ++counted.networks;
                verify::Examiner examiner(stress.network, options);
                for (Index j = 0; j < stress.points.cols(); ++j)
                    try {
                        counted.add(stress.network, examiner.examine(j, stress.points.col(j)));
                    } catch (const InputError&) {
                        ++counted.refused;
                    }
                give(std::move(counted));
            }
        },
        [&](const StressCount& counted) { total.add(counted); }, [](Index) { return StressCount(); });
    return total;
}

}  // namespace certicone::test
