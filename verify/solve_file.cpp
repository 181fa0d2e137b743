#include "verify/solve_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "conic/equilibrate.hpp"
#include "conic/power_of_two.hpp"
#include "conic/presolve.hpp"
#include "solvers/finite.hpp"
#include "support/error.hpp"
#include "verify/answer.hpp"
#include "verify/examiner.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

namespace {

using conic::ConicProgram;

/// How optimal a closed-form pair must be found to belong to an instance; a solver's may have a gap of its tolerance.
constexpr double kPairTolerance = 1e-8;

double largest(const Vector& vector) { return vector.size() == 0 ? 0.0 : vector.lpNorm<Eigen::Infinity>(); }

/// Σ_k ‖v_k‖ w_k over the blocks.
double by_blocks(const ConicProgram& program, const Vector& rows, const Vector& weight) {
    double sum = 0.0;
    for (std::size_t k = 0; k < program.blocks.size(); ++k)
        sum += rows.segment(program.blocks[k].begin, program.blocks[k].size).norm() * weight(static_cast<Index>(k));
    return sum;
}

/// What the residuals of (x, s, y) can move an objective by, against another pair.
double worth(const ConicProgram& program, const Residuals& residuals, const Vector& x, const Vector& s,
             const Vector& y) {
    return y.cwiseAbs().dot(residuals.primal) + x.cwiseAbs().dot(residuals.dual) +
           by_blocks(program, s, residuals.cone) + residuals.objective_rounding;
}

/// What gap and stationarity leave of the objective in doubt: |p − d| + |x|ᵀ|c + Aᵀy|.
double in_doubt(const ConicProgram& program, const solvers::Solution& found) {
    const double sum =
        found.measured.gap + found.x.cwiseAbs().dot((program.c + program.A.transpose() * found.y).cwiseAbs());
    return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

/// An answer that keeps what was asked for, as measured, is better than one that does not; then the one that leaves less
/// in doubt.
struct Quality {
    bool kept = false;
    double doubt = std::numeric_limits<double>::infinity();

    Quality() = default;
    Quality(const ConicProgram& program, const solvers::Solution& found, const solvers::Settings& settings)
        : kept(!broken_promise(program, found, settings)), doubt(in_doubt(program, found)) {}
    bool better_than(const Quality& other) const { return kept != other.kept ? kept : doubt < other.doubt; }
};

/// σ for which the largest of the slacks that were found is one, by a power of two: b may be far larger, and what a tolerance
/// on its units leaves of them too much.
double size_of_slacks(const conic::Scaling& scaling, const solvers::Solution& answer) {
    const double size = largest(answer.s);
    return size > 0.0 && std::isfinite(size) ? scaling.primal * conic::power_of_two(size) : scaling.primal;
}

std::string mismatch_of(const ConicProgram& program, const solvers::Solution& pair) {
    const conic::SparseMatrix A = program.A.cwiseAbs();
    const Vector x = pair.x.cwiseAbs(), y = pair.y.cwiseAbs();
    const double primal = std::max(largest(A * x), largest(program.b));
    const double dual = std::max({largest(A.transpose() * y), largest(program.c), largest(y)});
    const double value = program.c.cwiseAbs().dot(x) + program.b.cwiseAbs().dot(y) + std::abs(program.c0);
    const std::tuple<const char*, double, double> figures[] = {
        {"distance from the cones", pair.measured.primal_cone, primal},
        {"dual residual", pair.measured.dual_residual, dual},
        {"distance from the dual cones", pair.measured.dual_cone, dual},
        {"gap", pair.measured.gap, value},
    };
    for (const auto& [name, amount, size] : figures)
        if (!(amount <= kPairTolerance * size))
            return fmt::format("the stored pair is not optimal here: its {} is {:.1e}, relative to {:.1e}", name,
                               amount, size);
    return {};
}

}  // namespace

solvers::Solution solve_model(const formats::CbfModel& model, const solvers::Backend& backend,
                              const solvers::Settings& settings) {
    return solve_from_file(model.program, backend, settings);
}

solvers::Solution solve_from_file(const ConicProgram& program, const solvers::Backend& backend,
                                  const solvers::Settings& settings) {
    const conic::Presolved presolved(program);
    const ConicProgram& left = presolved.program();
    const auto restore = [&](solvers::Solution solution, const Vector& x, const Vector& y) {
        solution.x = presolved.x(x);
        solution.y = presolved.y(solution.x, y);
        solution.s = program.b - program.A * solution.x;
        solution.measured = solvers::measure(program, solution.x, solution.s, solution.y);
        solution.claimed.primal_objective = solution.measured.primal_objective;
        solution.claimed.dual_objective = solution.measured.dual_objective;
        solvers::refuse_not_finite(program, solution);
        return solution;
    };
    if (left.columns() == 0 && left.rows() == 0) {
        solvers::Solution known;
        known.claimed.status = solvers::Status::Solved;
        known.claimed.text = "solved by presolve";
        return restore(known, Vector(), Vector());
    }
    conic::Scaling scaling = conic::equilibrate(left);
    solvers::Settings stricter = for_scaled_program(backend, settings);
    std::optional<solvers::Solution> best;
    Quality best_quality;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const solvers::Solution answer = backend.open(conic::scaled(left, scaling), stricter)->solve();
        solvers::Solution found = restore(answer, scaling.unscale_x(answer.x), scaling.unscale_y(answer.y));
        const bool solved = found.claimed.status == solvers::Status::Solved;
        if (attempt > 0 && !solved) found.claimed = best->claimed;  // it was solved at the tolerance that was asked for
        const Quality quality(program, found, settings);
        if (!best || quality.better_than(best_quality)) {
            best = std::move(found);
            best_quality = quality;
        }
        const double enough = 0.1 * settings.eps_rel * std::abs(best->measured.primal_objective);
        if ((attempt == 0 && !solved) || (best_quality.kept && best_quality.doubt <= enough)) break;
        stricter.eps_abs *= 1e-2;
        stricter.eps_rel *= 1e-2;
        scaling.primal = size_of_slacks(scaling, answer);
    }
    return *best;
}

DefaultAnswer solve_by_default(const ConicProgram& program, const solvers::Settings& settings) {
    std::optional<DefaultAnswer> best;
    Quality best_quality;
    solvers::Settings limited = settings;
    for (const std::string& name : {default_solver(), std::string("osqp+scs"), std::string("scs")}) {
        const solvers::Backend& backend = solvers::backend(name);
        if (!backend.enabled().ready) continue;
        solvers::Solution found = solve_from_file(program, backend, limited);
        const solvers::Status status = found.claimed.status;
        const Quality quality(program, found, settings);
        const double size = std::abs(found.measured.primal_objective);
        if (!best || quality.better_than(best_quality)) {
            best = {&backend, std::move(found)};
            best_quality = quality;
        }
        if (status == solvers::Status::Infeasible || status == solvers::Status::Unbounded) break;
        if (quality.kept && quality.doubt <= 10.0 * settings.eps_rel * size + 1e-12) break;
        if (limited.time_limit == 0.0) limited.time_limit = 10.0;
    }
    if (!best) solvers::require_usable(solvers::backend("scs"));  // which says what is missing
    return *best;
}

KnownComparison compare_with_known(const formats::CbfModel& model, const solvers::Solution& answer,
                                   const StoredSolution& stored) {
    const ConicProgram& program = model.program;
    if (stored.x.size() != program.columns() || stored.y.size() != static_cast<Index>(model.row.size()))
        throw InputError(fmt::format("the stored pair has {} columns and {} rows, the instance {} and {}",
                                     stored.x.size(), stored.y.size(), program.columns(), model.row.size()));
    solvers::Solution known;
    known.x = stored.x;
    known.s = program.b - program.A * stored.x;
    known.y = model.back(stored.y);
    known.measured = solvers::measure(program, known.x, known.s, known.y);

    KnownComparison result;
    result.mismatch = mismatch_of(program, known);
    const double value = model.objective(stored.objective);  // of the program: a minimum
    if (result.mismatch.empty() &&
        !(std::abs(value - known.measured.primal_objective) <= kPairTolerance * std::max(1.0, std::abs(value))))
        result.mismatch = fmt::format("the stored objective is {:.17g}, but the stored point gives {:.17g}",
                                      stored.objective, model.objective(known.measured.primal_objective));
    result.objective_error = std::abs(program.c.dot(answer.x) - program.c.dot(known.x));
    result.membership = std::abs(known.s.dot(answer.y));
    // cᵀx + bᵀy: the constant, which may be far larger, cancels in |p − d|.
    const auto gap = [&](const solvers::Solution& pair) {
        return std::abs(program.c.dot(pair.x) + program.b.dot(pair.y));
    };
    result.bound = gap(answer) + worth(program, residuals(program, answer), known.x, known.s, known.y) + gap(known) +
                   worth(program, residuals(program, known), answer.x, answer.s, answer.y);
    const Vector y = model.multipliers(answer.y);
    const double size = largest(stored.y);
    result.dual_distance = largest(y - stored.y) / (size > 0.0 ? size : 1.0);
    const double terms = std::max(largest(program.A.cwiseAbs().transpose() * answer.y.cwiseAbs()), largest(program.c));
    result.dual_residual = terms > 0.0 ? answer.measured.dual_residual / terms : 0.0;
    result.dual_cone = answer.measured.dual_cone / std::max(largest(answer.y), 1e-300);
    return result;
}

}  // namespace certicone::verify
