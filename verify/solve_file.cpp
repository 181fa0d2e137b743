#include "verify/solve_file.hpp"

#include <fmt/format.h>

#include "conic/equilibrate.hpp"
#include "support/error.hpp"
#include "verify/answer.hpp"
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
            return fmt::format("the stored pair is not optimal here: its {} is {:.1e}, relative to {:.1e}", name, amount,
                               size);
    return {};
}

}  // namespace

solvers::Solution solve_model(const formats::CbfModel& model, const solvers::Backend& backend,
                              const solvers::Settings& settings) {
    const ConicProgram& program = model.program;
    const conic::Scaling scaling = conic::equilibrate(program);
    solvers::Solution solution =
        backend.open(conic::scaled(program, scaling), for_scaled_program(backend, settings))->solve();
    solution.x = scaling.unscale_x(solution.x);
    solution.s = scaling.unscale_s(solution.s);
    solution.y = scaling.unscale_y(solution.y);
    solution.claimed.primal_objective = scaling.unscale_objective(solution.claimed.primal_objective) + program.c0;
    solution.claimed.dual_objective = scaling.unscale_objective(solution.claimed.dual_objective) + program.c0;
    solution.measured = solvers::measure(program, solution.x, solution.s, solution.y);
    return solution;
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
    if (result.mismatch.empty() && !(std::abs(value - known.measured.primal_objective) <=
                                     kPairTolerance * std::max(1.0, std::abs(value))))
        result.mismatch = fmt::format("the stored objective is {:.17g}, but the stored point gives {:.17g}",
                                      stored.objective, model.objective(known.measured.primal_objective));
    result.objective_error = std::abs(answer.measured.primal_objective - known.measured.primal_objective);
    result.membership = std::abs(known.s.dot(answer.y));
    result.bound = answer.measured.gap + worth(program, residuals(program, answer), known.x, known.s, known.y) +
                   known.measured.gap + worth(program, residuals(program, known), answer.x, answer.s, answer.y);
    const Vector y = model.multipliers(answer.y);
    const double size = largest(stored.y);
    result.dual_distance = largest(y - stored.y) / (size > 0.0 ? size : 1.0);
    const double terms = std::max(largest(program.A.cwiseAbs().transpose() * answer.y.cwiseAbs()), largest(program.c));
    result.dual_residual = terms > 0.0 ? answer.measured.dual_residual / terms : 0.0;
    result.dual_cone = answer.measured.dual_cone / std::max(largest(answer.y), 1e-300);
    return result;
}

}  // namespace certicone::verify
