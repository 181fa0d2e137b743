#include "verify/certify.hpp"

#include <fmt/format.h>

#include <memory>
#include <numbers>
#include <random>

#include "support/error.hpp"
#include "verify/duality_checks.hpp"

namespace certicone::verify {

std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const std::function<void(Index)>& progress) {
    std::vector<std::pair<std::string, std::unique_ptr<ValueFunctionSession>>> sessions;
    for (const std::string& name : options.solvers) {
        const solvers::Backend& backend = solvers::backend(name);
        for (const solvers::Readiness& readiness : {backend.available(), backend.enabled()})
            if (!readiness.ready) throw SolverUnavailable(fmt::format("solver '{}': {}", name, readiness.reason));
        sessions.emplace_back(name, std::make_unique<ValueFunctionSession>(network, backend, options.settings));
    }

    std::vector<PointReport> reports;
    for (Index j = 0; j < points.cols(); ++j) {
        PointReport report;
        report.index = j;
        report.x = points.col(j);
        LocalState state;
        try {
            state = evaluate(network, report.x, options.tolerance);
        } catch (const InputError& error) {
            throw InputError(fmt::format("point {}: {}", j, error.what()));
        }
        const Multipliers canonical = canonical_selector(network, state);
        report.degenerate_units = state.pattern.degenerate_units();
        report.degenerate_modules = state.pattern.degenerate_modules();
        report.findings.push_back(check_closed_form_duality(network, state, canonical));
        for (const auto& [name, session] : sessions) {
            const ScaledAnswer answer = session->solve(report.x);
            report.findings.push_back(
                check_solver_duality(session->value_function(), state, canonical, answer, options.settings, name));
            report.findings.push_back(check_membership(network, state, canonical, answer.xi, name));
        }
        reports.push_back(std::move(report));
        if (progress) progress(j + 1);
    }
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
