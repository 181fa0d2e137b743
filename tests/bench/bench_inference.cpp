// Certified inference: time a query against our L-BFGS on Experiment 4, and 1,000 random networks to the end.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "bench.hpp"
#include "inference/methods.hpp"
#include "inference/white_box.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "tests/inference_family.hpp"

namespace certicone::bench {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void bench_experiment4() {
    const std::string folder = CERTICONE_DATA_DIR "/paper/";
    const Network network = read_network(folder + "exp4.network.json");
    const Matrix queries = read_points(folder + "exp4.queries.json", network.input_dim);
    const Curvature curvature(network);
    constexpr double beta = 10.0;
    constexpr int rounds = 20;
    double white_box = 0.0, closed_form = 0.0, autodiff = 0.0, worst = 0.0;
    for (int round = 0; round < rounds; ++round)
        for (Index q = 0; q < queries.cols(); ++q) {
            auto start = Clock::now();
            const WhiteBoxResult result = white_box_inference(proximity(network, beta, queries.col(q)));
            white_box += milliseconds_since(start);
            worst = std::max(worst, result.certificate.relative_gap());
            const QueryObjective objective(network, curvature, queries.col(q), beta);
            start = Clock::now();
            lbfgs(objective, Derivatives::closed_form);
            closed_form += milliseconds_since(start);
            if (round > 0) continue;
            start = Clock::now();
            lbfgs(objective, Derivatives::autodiff);
            autodiff += milliseconds_since(start);
        }
    const double count = rounds * static_cast<double>(queries.cols());
    fmt::print(
        "Experiment 4, ms a query: white-box {:.3f} (proved to {:.0e}), L-BFGS by closed forms {:.3f}, by automatic "
        "differentiation {:.3f} (no proof)\n",
        white_box / count, worst, closed_form / count, autodiff / static_cast<double>(queries.cols()));
    fmt::print("white-box / L-BFGS by closed forms: {:.2f}\n\n", white_box / closed_form);
}

void bench_family() {
    constexpr unsigned count = 1000;
    std::vector<double> gaps, milliseconds;
    std::vector<Index> iterations;
    Index failures = 0, kinks = 0;
    for (unsigned seed = 0; seed < count; ++seed) {
        const test::FamilyMember member = test::family_member(seed);
        const auto start = Clock::now();
        const WhiteBoxResult result = white_box_inference(proximity(member.network, member.beta, member.y));
        milliseconds.push_back(milliseconds_since(start));
        gaps.push_back(result.certificate.relative_gap());
        iterations.push_back(result.iterations);
        kinks += result.kinks.empty() && result.zero_modules.empty() ? 0 : 1;
        if (!(gaps.back() <= 1e-10)) {
            ++failures;
            fmt::print("NOT closed: seed {}, relative gap {:.1e}\n", seed, gaps.back());
        }
    }
    for (auto* figures : {&gaps, &milliseconds})
        std::sort(figures->begin(), figures->end());
    std::sort(iterations.begin(), iterations.end());
    fmt::print(
        "{} random networks (d0 to 50, width to 128, depth to 4, beta 1e-3 to 1e3): {} above 1e-10, {} at kinks\n",
        count, failures, kinks);
    const auto at = [&](const auto& sorted, double share) {
        return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
    };
    fmt::print("  {:<14} {:>9} {:>9} {:>9}\n", "", "median", "99 %", "largest");
    fmt::print("  {:<14} {:>9.1e} {:>9.1e} {:>9.1e}\n", "relative gap", at(gaps, 0.5), at(gaps, 0.99), gaps.back());
    fmt::print("  {:<14} {:>9} {:>9} {:>9}\n", "iterations", at(iterations, 0.5), at(iterations, 0.99),
               iterations.back());
    fmt::print("  {:<14} {:>9.2f} {:>9.2f} {:>9.2f}\n\n", "ms", at(milliseconds, 0.5), at(milliseconds, 0.99),
               milliseconds.back());
}

}  // namespace

void bench_inference() {
    fmt::print("== certified inference ==\n");
    bench_experiment4();
    bench_family();
}

}  // namespace certicone::bench
