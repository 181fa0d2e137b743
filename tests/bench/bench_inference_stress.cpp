// Inference on problems that nobody chose: random networks (tests/stress_family.hpp, tests/inference_family.hpp), and variants of the
// suite's that leave the mathematics alone and change the rounding (tests/inference_variants.hpp). None may stay open.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench.hpp"
#include "inference/white_box.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "tests/inference_variants.hpp"
#include "tests/stress_family.hpp"
#include "verify/parallel.hpp"

namespace certicone::bench {

namespace {

struct Count {
    Index proved = 0, with_rest = 0, to_rounding = 0;
    std::vector<std::string> open;
    double worst = 0.0, slowest = 0.0;  ///< relative gap; ms

    void add(const Count& other) {
        proved += other.proved;
        with_rest += other.with_rest;
        to_rounding += other.to_rounding;
        open.insert(open.end(), other.open.begin(), other.open.end());
        worst = std::max(worst, other.worst);
        slowest = std::max(slowest, other.slowest);
    }
};

void solve(const InferenceProblem& problem, const std::string& name, Count& count, int rounding = FE_TONEAREST) {
    const auto start = std::chrono::steady_clock::now();
    std::fesetround(rounding);
    const InferenceCertificate found = white_box_inference(problem).certificate;
    std::fesetround(FE_TONEAREST);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    count.slowest = std::max(count.slowest, took.count());
    switch (closed(problem, found, 1e-10)) {
        case Closed::proved:
            ++count.proved;
            count.worst = std::max(count.worst, found.gap == 0.0 ? 0.0 : found.relative_gap());
            if (found.rest.size() > 0) ++count.with_rest;
            break;
        case Closed::to_rounding: ++count.to_rounding; break;
        case Closed::open:
            count.open.push_back(fmt::format("{}: F {:.6e}, gap {:.1e}, summed from {:.1e}", name, found.value,
                                             found.gap, inference_size(problem, found.x)));
    }
}

bool report(const char* what, const Count& count) {
    const Index all = count.proved + count.to_rounding + static_cast<Index>(count.open.size());
    fmt::print(
        "{}: {} queries, {} proved to 1e-10 ({} of them at x + x_rest), {} with F* = 0 closed to rounding, {} OPEN; "
        "largest "
        "relative gap {:.1e}, slowest {:.0f} ms\n",
        what, all, count.proved, count.with_rest, count.to_rounding, count.open.size(), count.worst, count.slowest);
    for (const std::string& line : count.open)
        fmt::print("  OPEN {}\n", line);
    std::fflush(stdout);
    return count.open.empty();
}

bool random_networks(std::uint64_t first, Index networks) {
    Count total;
    verify::in_order<Count>(
        networks, 4, 0,
        [&](Index begin, Index end, const auto& give) {
            for (Index k = begin; k < end; ++k) {
                const std::uint64_t number = first + static_cast<std::uint64_t>(k);
                const test::StressMember member = test::StressFamily::member(number);
                const double beta = std::pow(10.0, static_cast<double>(number * 37 % 701) / 100.0 - 4.0);
                Count count;
                for (Index j = 0; j < member.points.cols(); ++j)
                    solve(proximity(member.network, beta, member.points.col(j)),
                          fmt::format("{}, beta {:.2e}, query {}", member.network.name, beta, j), count);
                give(std::move(count));
            }
        },
        [&](const Count& count) { total.add(count); }, [](Index) { return Count(); });
    return report(fmt::format("{} random networks, beta from 1e-4 to 1e3", networks).c_str(), total);
}

bool variants(Index wanted) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(CERTICONE_DATA_DIR "/suite"))
        if (entry.path().string().ends_with(".network.json")) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::mt19937_64 random(2026);
    Count count;
    for (Index k = 0; k < wanted; ++k) {
        const std::filesystem::path& file = files[static_cast<std::size_t>(k) % files.size()];
        const Network network = read_network(file);
        const std::string stem = file.string().substr(0, file.string().size() - std::string(".network.json").size());
        const Matrix points = read_points(stem + ".points.json", network.input_dim);
        const Index round = k / static_cast<Index>(files.size());
        const double beta = std::pow(10.0, 2.0 * static_cast<double>(round % 4) - 4.0);
        const auto variant =
            test::inference_variant(proximity(network, beta, points.col(round % points.cols())), random);
        solve(variant.at(), fmt::format("{}, beta {:.0e}, query {}", network.name, beta, round % points.cols()), count,
              variant.rounding);
    }
    return report("variants of the suite's networks", count);
}

}  // namespace

void bench_inference_stress() {
    fmt::print("== inference stress: nothing may stay open ==\n");
    // Another range of numbers, or fewer: CERTICONE_STRESS=first,count
    unsigned long long first = 0;
    long count = 5000;
    if (const char* range = std::getenv("CERTICONE_STRESS")) std::sscanf(range, "%llu,%ld", &first, &count);
    bool right = variants(std::max<Index>(43, count / 2));
    right &= random_networks(first, count);
    if (!right) throw std::runtime_error("a query stays open");
}

}  // namespace certicone::bench
