// All checks at once: time on the paper's largest network, and memory against the number of points.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <string>

#include "bench.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "solvers/mosek_runtime.hpp"
#include "verify/certify.hpp"

namespace certicone::bench {

namespace {

/// The largest resident size of this process so far, in MiB.
double peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024.0;
    return 0.0;
}

}  // namespace

void bench_certify() {
    fmt::print("\nCertification with all checks, default solvers ({}), all cores\n\n", verify::default_solver());
    verify::CertifyOptions options;
    options.referee = solvers::mosek::runtime().ready;
    for (const char* name : {"exp1", "exp2", "exp4"}) {
        const std::string stem = fmt::format("{}/paper/{}", CERTICONE_DATA_DIR, name);
        const Network network = read_network(stem + ".network.json");
        const Matrix points =
            read_points(stem + (name == std::string("exp4") ? ".queries.json" : ".points.json"), network.input_dim);
        Index checks = 0, failed = 0;
        const auto begin = std::chrono::steady_clock::now();
        verify::certify(network, points, options, [&](const verify::PointReport& report) {
            for (const verify::Finding& finding : report.findings) {
                ++checks;
                if (finding.outcome != verify::Outcome::Passed) ++failed;
            }
        });
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        fmt::print("{}: {} points, {} checks, {} not passed, {:.1f} s, {:.1f} ms a point\n", name, points.cols(),
                   checks, failed, seconds.count(), 1e3 * seconds.count() / static_cast<double>(points.cols()));
    }
    const Network network = read_network(std::string(CERTICONE_DATA_DIR) + "/paper/exp3.network.json");
    for (const Index count : {1'000, 5'000, 20'000}) {
        verify::certify(network, verify::sample_points(network.input_dim, count, 1), options,
                        [](const verify::PointReport&) {});
        fmt::print("exp3, {} points: peak memory of the process {:.0f} MiB\n", count, peak_memory());
    }
}

}  // namespace certicone::bench
