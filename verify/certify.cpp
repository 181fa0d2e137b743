#include "verify/certify.hpp"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <numbers>
#include <random>

#include "formats/clarabel_json.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "verify/duality_checks.hpp"
#include "verify/interrupt.hpp"
#include "verify/parallel.hpp"

namespace certicone::verify {

namespace {

constexpr Index kRun = 16;  // points that share a set-up and warm starts

using Sessions = std::vector<std::pair<std::string, std::unique_ptr<ValueFunctionSession>>>;

Sessions open_sessions(const Network& network, const CertifyOptions& options) {
    Sessions sessions;
    for (const std::string& name : options.solvers)
        sessions.emplace_back(
            name, std::make_unique<ValueFunctionSession>(network, solvers::backend(name), options.settings));
    return sessions;
}

PointReport interrupted_point(Index index, const Vector& x, const CertifyOptions& options) {
    PointReport report;
    report.index = index;
    report.x = x;
    report.findings.push_back(skipped("theorem1.strong_duality", "closed form", "interrupted"));
    for (const std::string& name : options.solvers) {
        report.findings.push_back(skipped("theorem1.strong_duality", name, "interrupted"));
        report.findings.push_back(skipped("proposition1.membership", name, "interrupted"));
    }
    return report;
}

PointReport certify_point(const Network& network, Index index, const Vector& x, const CertifyOptions& options,
                          Sessions& sessions) {
    PointReport report;
    report.index = index;
    report.x = x;
    LocalState state;
    try {
        state = evaluate(network, x, options.tolerance);
    } catch (const InputError& error) {
        throw InputError(fmt::format("point {}: {}", index, error.what()));
    }
    const Multipliers canonical = canonical_selector(network, state);
    report.degenerate_units = state.pattern.degenerate_units();
    report.degenerate_modules = state.pattern.degenerate_modules();
    report.findings.push_back(check_closed_form_duality(network, state, canonical));
    for (const auto& [name, session] : sessions) {
        const ScaledAnswer answer = session->solve(x);
        if (!options.dump.empty())
            write_file_atomically(fmt::format("{}.value-function.point{}.{}.json", options.dump, index, name),
                                  [&](std::ostream& out) { formats::write_clarabel_json(out, *answer.program); });
        if (answer.solution.claimed.status == solvers::Status::Interrupted) {
            take_over_interrupt();
            return interrupted_point(index, x, options);
        }
        report.findings.push_back(
            check_solver_duality(session->value_function(), state, canonical, answer, options.settings, name));
        report.findings.push_back(check_membership(network, state, canonical, answer.xi, name));
    }
    return report;
}

}  // namespace

std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const std::function<void(Index)>& progress) {
    for (const std::string& name : options.solvers)
        solvers::require_usable(solvers::backend(name));
    solvers::validate(options.settings);

    std::vector<PointReport> reports(static_cast<std::size_t>(points.cols()));
    std::mutex mutex;
    Index done = 0;
    in_chunks(points.cols(), kRun, options.threads, [&](Index begin, Index end) {
        Sessions sessions = open_sessions(network, options);
        for (Index j = begin; j < end; ++j) {
            const auto slot = static_cast<std::size_t>(j);
            if (interrupted() != 0) {
                reports[slot] = interrupted_point(j, points.col(j), options);
                continue;
            }
            reports[slot] = certify_point(network, j, points.col(j), options, sessions);
            const std::lock_guard lock(mutex);
            ++done;
            if (progress) progress(done);
        }
    });
    return reports;
}

Matrix sample_points(Index dim, Index count, std::uint64_t seed) {
    // Box–Muller on the generator's own bits: std::normal_distribution differs between standard libraries.
    std::mt19937_64 random(seed);
    const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
    return Matrix::NullaryExpr(dim, count, [&](Index, Index) {
        const double radius = std::sqrt(-2.0 * std::log(uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    });
}

std::vector<std::pair<std::string, std::string>> environment() {
    std::vector<std::pair<std::string, std::string>> entries{
        {"certicone", CERTICONE_VERSION},
        {"compiler", __VERSION__},
        {"eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
    };
    for (const solvers::Backend* backend : solvers::backends())
        if (backend->available().ready) entries.emplace_back(backend->name(), backend->version());
    return entries;
}

}  // namespace certicone::verify
