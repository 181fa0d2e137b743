#include "verify/duality_checks.hpp"

#include <fmt/format.h>

#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"

namespace certicone::verify {

namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// The largest entry of a row vector where solvers measure it: with rotated cones mapped to second-order cones by
/// (t, s) ↦ ((t+s)/√2, (t−s)/√2). The map is orthogonal, but it moves the largest entry by up to √2.
double largest_row(const conic::ConicProgram& program, Vector rows) {
    for (const conic::Block& block : program.blocks) {
        if (block.cone != conic::Cone::RotatedSecondOrder) continue;
        const double t = rows(block.begin), s = rows(block.begin + 1);
        rows(block.begin) = (t + s) * std::sqrt(0.5);
        rows(block.begin + 1) = (t - s) * std::sqrt(0.5);
    }
    return rows.lpNorm<Eigen::Infinity>();
}

/// Residuals recomputed entry by entry, each with what rounding may have added to it.
struct Residuals {
    Vector primal, dual;  ///< |ρ_p|, |ρ_d|, rounding included
    double largest_primal = 0.0, largest_dual = 0.0;
    double primal_limit = 0.0;  ///< what the asked tolerances allow for the largest ones, rounding included
    double dual_limit = 0.0;
    double gap_limit = 0.0;
    double objective_rounding = 0.0;
};

Residuals residuals(const conic::ConicProgram& program, const solvers::Solution& solution,
                    const solvers::Settings& settings) {
    const conic::SparseMatrix size_of_A = program.A.cwiseAbs();
    const Vector Ax = program.A * solution.x, Aty = program.A.transpose() * solution.y;
    const double roundings = kUnit * static_cast<double>(program.rows() + program.columns() + 8);
    Residuals result;
    const Vector primal_rounding =
        roundings * (size_of_A * solution.x.cwiseAbs() + solution.s.cwiseAbs() + program.b.cwiseAbs());
    const Vector dual_rounding = roundings * (size_of_A.transpose() * solution.y.cwiseAbs() + program.c.cwiseAbs());
    result.primal = (Ax + solution.s - program.b).cwiseAbs() + primal_rounding;
    result.dual = (Aty + program.c).cwiseAbs() + dual_rounding;

    result.largest_primal = largest_row(program, Ax + solution.s - program.b);
    result.largest_dual = (Aty + program.c).lpNorm<Eigen::Infinity>();
    const double primal_size =
        std::max({largest_row(program, Ax), largest_row(program, solution.s), largest_row(program, program.b)});
    const double dual_size = std::max(Aty.lpNorm<Eigen::Infinity>(), program.c.lpNorm<Eigen::Infinity>());
    const double cx = program.c.dot(solution.x), by = program.b.dot(solution.y);
    result.objective_rounding =
        roundings * (program.c.cwiseAbs().dot(solution.x.cwiseAbs()) + program.b.cwiseAbs().dot(solution.y.cwiseAbs()));
    result.primal_limit =
        settings.eps_abs + settings.eps_rel * primal_size + 2.0 * primal_rounding.lpNorm<Eigen::Infinity>();
    result.dual_limit = settings.eps_abs + settings.eps_rel * dual_size + 2.0 * dual_rounding.lpNorm<Eigen::Infinity>();
    result.gap_limit =
        settings.eps_abs + settings.eps_rel * std::max(std::abs(cx), std::abs(by)) + 2.0 * result.objective_rounding;
    return result;
}

/// A block's distance from its closed form beside the bound; the pair with the largest quotient is kept.
struct Worst {
    double distance = 0.0, bound = 0.0, quotient = -1.0;
    std::string where;

    void offer(double new_distance, double new_bound, auto&& name) {
        const double new_quotient = new_distance == 0.0 ? 0.0 : new_distance / new_bound;
        if (new_quotient <= quotient) return;
        distance = new_distance;
        bound = new_bound;
        quotient = new_quotient;
        where = name();
    }
};

}  // namespace

Finding check_closed_form_duality(const Network& network, const LocalState& state, const Multipliers& canonical) {
    const double dual = psi(network, state.x, canonical);
    const double bound =
        2.0 * rounding_of_value(network, state.x, canonical) + rounding_of_psi(network, state.x, canonical);
    return judged("theorem1.strong_duality", "closed form", std::abs(state.value - dual), bound, "f - Psi",
                  "rounding of both sides");
}

Finding check_solver_duality(const conic::ValueFunction& value_function, const LocalState& state,
                             const Multipliers& canonical, const ScaledAnswer& answer,
                             const solvers::Settings& settings, const std::string& solver) {
    const std::string id = "theorem1.strong_duality";
    const solvers::Solution& solution = answer.solution;
    const solvers::Measured& measured = solution.measured;
    if (solution.claimed.status != solvers::Status::Solved)
        return failed(id, solver,
                      fmt::format("the solver ends with '{}' after {} iterations", solution.claimed.text,
                                  solution.claimed.iterations));

    const Residuals found = residuals(*answer.program, solution, settings);
    const auto exceeds = [&](std::string_view what, double value, double limit) {
        return failed(id, solver,
                      fmt::format("claims '{}', but its {} is {:.2e} where {:.2e} was asked for", solution.claimed.text,
                                  what, value, limit));
    };
    // Cone membership has no tolerance in the solver: its iterates are projections. What rounding adds is of the size
    // of the block's entries.
    const double cone_limit = 64.0 * kUnit * std::max({1.0, solution.s.norm(), solution.y.norm()});
    if (!(found.largest_primal <= found.primal_limit))
        return exceeds("primal residual", found.largest_primal, found.primal_limit);
    if (!(found.largest_dual <= found.dual_limit))
        return exceeds("dual residual", found.largest_dual, found.dual_limit);
    if (!(measured.gap <= found.gap_limit)) return exceeds("gap", measured.gap, found.gap_limit);
    if (!(std::max(measured.primal_cone, measured.dual_cone) <= cone_limit))
        return exceeds("distance from the cone", std::max(measured.primal_cone, measured.dual_cone), cone_limit);

    // The closed-form pair in the units of the scaled program.
    const conic::Scaling& scaling = *answer.scaling;
    const Vector x_star = value_function.primal(state).cwiseQuotient(scaling.column) / scaling.primal;
    const Vector y_star = value_function.dual(canonical).cwiseQuotient(scaling.row);
    const Vector s_star = answer.program->b - answer.program->A * x_star;
    const double blocks = std::sqrt(static_cast<double>(answer.program->blocks.size()));
    const double primal_side = y_star.cwiseAbs().dot(found.primal) + y_star.norm() * blocks * measured.primal_cone;
    const double dual_side = x_star.cwiseAbs().dot(found.dual) + s_star.norm() * blocks * measured.dual_cone;
    const double bound = scaling.primal * (std::max(primal_side, dual_side) + measured.gap + found.objective_rounding) +
                         rounding_of_value(value_function.network(), state.x, canonical);

    const double primal_error = std::abs(answer.objective(measured.primal_objective) - state.value);
    const double dual_error = std::abs(answer.objective(measured.dual_objective) - state.value);
    return judged(id, solver, std::max(primal_error, dual_error), bound,
                  primal_error > dual_error ? "primal objective" : "dual objective",
                  "weak duality with the measured residuals and gap");
}

Finding check_membership(const Network& network, const LocalState& state, const Multipliers& canonical,
                         const Multipliers& solver_xi, const std::string& solver) {
    const std::string id = "proposition1.membership";
    const Multipliers feasible = repair_to_feasible(network, solver_xi);
    const Multipliers optimal = repair_to_optimal(network, state, feasible);

    // The gap by subtraction, so that the check does not lean on the identity whose consequence it tests.
    const double gap = std::abs(state.value - psi(network, state.x, feasible)) +
                       2.0 * rounding_of_value(network, state.x, canonical) +
                       rounding_of_psi(network, state.x, feasible);
    Gap all;
    for (const Vector& nu : feasible.nu)
        all.relu.push_back(Vector::Constant(nu.size(), gap));
    all.quadratic = Vector::Constant(static_cast<Index>(network.quadratic.size()), gap);
    all.conic = Vector::Constant(static_cast<Index>(network.conic.size()), gap);
    const DistanceBound bound = distance_bound(network, state, all);

    Worst worst;
    const std::vector<Vector> box = conic::dual_box(network);
    const double chain = kUnit * static_cast<double>(8 * total_units(network));  // rounding of the backward recursion
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        for (Index i = 0; i < feasible.nu[l].size(); ++i)
            worst.offer(std::abs(feasible.nu[l](i) - optimal.nu[l](i)),
                        std::min(bound.nu[l](i), box[l](i)) + chain * box[l](i),
                        [&] { return fmt::format("nu[{}][{}]", l, i); });
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        worst.offer((feasible.p[h] - optimal.p[h]).norm(),
                    bound.p(static_cast<Index>(h)) + 8.0 * kUnit * optimal.p[h].norm(),
                    [&] { return fmt::format("p[{}]", h); });
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        worst.offer((feasible.r[g] - optimal.r[g]).norm(),
                    bound.r(static_cast<Index>(g)) + 8.0 * kUnit * network.conic[g].lambda,
                    [&] { return fmt::format("r[{}]", g); });
    return judged(id, solver, worst.distance, worst.bound, worst.where,
                  fmt::format("the gap identity with the measured gap {:.2e}", gap));
}

}  // namespace certicone::verify
