// `certify` on 5,000 random networks (tests/stress_family.hpp): closed forms at level exact, a share with the default solvers.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "bench.hpp"
#include "tests/stress_run.hpp"

namespace certicone::bench {

namespace {

bool report(const char* what, const test::StressCount& count, double seconds) {
    fmt::print(
        "{}: {} networks, {} points ({} degenerate; {} more overflow), {} checks: {} passed, {} failed, {} answers of "
        "solvers "
        "refused, {} skipped; {:.0f} s\n",
        what, count.networks, count.summary.points, count.summary.degenerate, count.refused, count.summary.checks,
        count.summary.passed, count.failures.size(), count.unsolved.size(), count.summary.skipped, seconds);
    for (const auto& [reason, times] : count.skipped)
        fmt::print("  {:>6} skipped: {}\n", times, reason);
    for (const std::string& answer : count.unsolved)
        fmt::print("  the solver's doing: {}\n", answer);
    for (const std::string& failure : count.failures)
        fmt::print("  FAILED {}\n", failure);
    std::fflush(stdout);
    return count.failures.empty();
}

bool run(const char* what, std::uint64_t first, Index count, const verify::CertifyOptions& options,
         test::StressMember (*member)(std::uint64_t)) {
    const auto begin = std::chrono::steady_clock::now();
    const test::StressCount counted = test::run_stress(first, count, options, member);
    return report(what, counted, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

void bench_stress() {
    fmt::print("== stress: no check may fail ==\n");
    // Another range of numbers, or fewer: CERTICONE_STRESS=first,count
    unsigned long long first = 0;
    long count = 5000;
    if (const char* range = std::getenv("CERTICONE_STRESS")) std::sscanf(range, "%llu,%ld", &first, &count);
    verify::CertifyOptions options;
    options.solvers.clear();
    options.level = verify::Level::Exact;
    bool right = run("closed forms, level exact", first, count, options, &test::StressFamily::member);
    right &= run("scales to 1e-320 and 1e320, closed forms, level exact", first, count / 5, options,
                 &test::StressFamily::extreme_member);
    options.solvers = {verify::default_solver()};
    right &= run(("with " + options.solvers.front()).c_str(), first, count / 10, options, &test::StressFamily::member);
    if (!right) throw std::runtime_error("a check fails on a right network");
}

}  // namespace certicone::bench
