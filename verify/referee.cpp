#include "verify/referee.hpp"

#include <fmt/format.h>

#include "geometry/rounding.hpp"
#include "support/error.hpp"

namespace certicone::verify {

namespace {

/// The largest sum of absolute values behind one row of the program: |W||x| + |U||z| + |b| and its likes.
double row_size(const Network& network, const LocalState& state) {
    double size = 0.0;
    const auto offer = [&](const Vector& rows) {
        if (rows.size() > 0) size = std::max(size, rows.maxCoeff());
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Vector rows = size_of_products(network.layers[l].W, state.x, network.layers[l].b);
        if (l > 0) rows += network.layers[l].U * state.trace.z[l - 1];
        offer(rows);
    }
    for (const Quadratic& module : network.quadratic) {
        const Vector rows = size_of_products(module.B, state.x, module.e);
        offer(rows);
        size = std::max({size, rows.squaredNorm(), 1.0});  // the 1 in (s, 1, η)
    }
    for (const Conic& module : network.conic) {
        const Vector rows = size_of_products(module.A, state.x, module.d);
        offer(rows);
        size = std::max(size, rows.norm());
    }
    return size;
}

/// How far a preactivation that was decided exactly may be from its row's sum, in which the layers below are rounded.
double of_exact_units(const Network& network, const LocalState& state) {
    double largest = 0.0;
    const std::vector<Vector> errors = preactivation_errors(network, state.x, state.trace);
    for (std::size_t l = 0; l < errors.size(); ++l)
        for (Index i = 0; i < errors[l].size(); ++i)
            if (!(std::abs(state.trace.a[l](i)) > errors[l](i))) largest = std::max(largest, errors[l](i));
    return largest;
}

}  // namespace

Finding Referee::check(const LocalState& state, const Multipliers& canonical) {
    const Network& network = value_function_.network();
    value_function_.set_point(state.x);
    const conic::ConicProgram& program = value_function_.program();
    task_.update_b(program.b);
    task_.update_constant(program.c0);
    const Vector x = value_function_.primal(state), y = value_function_.dual(canonical);
    if (!x.allFinite() || !y.allFinite())
        return failed("theorem1.strong_duality", kName, "the closed-form pair is not finite");
    const solvers::mosek::Judgement found = task_.judge(x, program.b - program.A * x, y);

    const double gamma = RoundingBound(program.rows() + program.columns() + network.input_dim).relative;
    const double rounding = 2.0 * rounding_of_value(network, state.x, canonical) +
                            rounding_of_psi(network, state.x, canonical) + gamma * found.objective_scale;
    const double primal_bound = gamma * row_size(network, state) + of_exact_units(network, state);
    const double dual_bound = gamma * found.dual_scale;
    const std::tuple<std::string_view, double, double, double> figures[] = {
        {"gap", found.gap, rounding, found.objective_scale},
        {"primal constraints", found.primal_constraint, primal_bound, found.primal_scale},
        {"primal variables", found.primal_variable, primal_bound, found.primal_scale},
        {"primal cones", found.primal_cone, primal_bound, found.primal_scale},
        {"slack", found.slack, primal_bound, found.primal_scale},
        {"dual constraints", found.dual_constraint, dual_bound, found.dual_scale},
        {"dual variables", found.dual_variable, dual_bound, found.dual_scale},
        {"dual cones", found.dual_cone, dual_bound, found.dual_scale},
    };
    double figure = 0.0, bound = 0.0, worst = -1.0;
    std::string_view where;
    for (const auto& [name, amount, limit, scale] : figures) {
        const double share = amount == 0.0 ? 0.0 : amount / limit;
        if (share <= worst) continue;
        worst = share;
        where = name;
        figure = amount == 0.0 ? 0.0 : amount / scale;
        bound = scale > 0.0 ? limit / scale : 0.0;
        if (std::isnan(share)) break;
    }
    return judged("theorem1.strong_duality", kName, figure, bound, std::string(where),
                  "MOSEK's own gap and violations of the closed-form pair, relative; rounding of both sides");
}

bool with_referee(const std::string& choice) {
    if (choice == "none") return false;
    const solvers::Readiness runtime = solvers::mosek::runtime();
    if (choice == "auto") return runtime.ready;
    if (choice != "mosek") throw InputError(fmt::format("--referee {}: it is mosek, none or auto", choice));
    if (!runtime.ready) throw SolverUnavailable(fmt::format("--referee mosek: not available: {}", runtime.reason));
    return true;
}

}  // namespace certicone::verify
