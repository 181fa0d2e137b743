#include "verify/known_solution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conic/dual_program.hpp"
#include "geometry/freedom.hpp"
#include "geometry/max_readout.hpp"
#include "inference/white_box.hpp"
#include "support/error.hpp"

namespace certicone::verify {

namespace {

using conic::ConicProgram;

std::string unit_name(std::size_t l, Index i) { return fmt::format("unit {} of layer {}", i, l); }

KnownProgram in_units(const ConicProgram& program, const conic::Scaling& scaling) {
    return {program, conic::by_powers_of_two(program, scaling), {}};
}

void close(KnownSolution& known) {
    known.dual_dimension = 0;
    for (const Freedom& freedom : known.free)
        known.dual_dimension += freedom.dimension;
    known.dual_unique = known.dual_dimension == 0;
}

/// For programs over D*(x): at a = 0 both multipliers of a unit may grow together where the unit does not matter. A rise of
/// y⁺ passes where a>0, and where a=0 and ȧ ≥ 0 (below, y⁻ absorbs it).
void free_rays(const Network& network, const LocalState& state, const conic::OptimalSetProgram& program,
               KnownSolution& known) {
    const std::vector<Vector> rate = program.rates(known.x);
    const UnitFlags needed = matters(network, [&](std::size_t l, Index i) {
        const int sign = state.pattern.sign[l](i);
        return sign > 0 || (sign == 0 && rate[l](i) >= 0.0);
    });
    for (const auto& [layer, unit] : state.pattern.degenerate_units()) {
        const auto l = static_cast<std::size_t>(layer);
        if (needed[l](unit)) continue;
        known.free.push_back(
            {"ray", unit_name(l, unit), {program.lower_row(l, unit), program.upper_row(l, unit)}, {}, 1});
    }
    close(known);
}

}  // namespace

KnownProgram known_value(const Network& network, const LocalState& state, bool relu_only) {
    const conic::Parts parts = relu_only ? conic::Parts::relu_backbone() : conic::Parts::all(network);
    conic::ValueFunction value_function(network, parts);
    value_function.set_point(state.x);
    const Multipliers xi = canonical_selector(network, state);
    KnownProgram result = in_units(value_function.program(), conic::DualBoxScaling(value_function).at_current_point());
    KnownSolution& known = result.known;
    known.x = value_function.primal(state);
    known.y = value_function.dual(xi);
    known.objective =
        relu_only ? network.c.dot(state.trace.z.back()) + (network.v.dot(state.x) + network.b0) : state.value;
    const UnitFlags positive = positive_bounds(network, state.pattern);
    const conic::ValueFunction::Layout& layout = value_function.layout();
    for (const auto& [layer, unit] : state.pattern.degenerate_units()) {
        const auto l = static_cast<std::size_t>(layer);
        if (!positive[l](unit)) continue;
        known.free.push_back({"interval",
                              unit_name(l, unit),
                              {layout.relu[l] + unit, layout.bound[l] + unit},
                              upper_bound(network, xi.nu, l)(unit),
                              1});
    }
    for (const Index module : state.pattern.degenerate_modules()) {
        const auto g = static_cast<std::size_t>(module);
        if (layout.t[g] < 0) continue;
        Freedom ball{"ball", fmt::format("conic module {}", g), {}, network.conic[g].lambda, network.conic[g].A.rows()};
        for (Index k = 0; k < ball.dimension; ++k)
            ball.rows.push_back(layout.conic_link[g] + k);
        known.free.push_back(std::move(ball));
    }
    close(known);
    return result;
}

KnownProgram known_dual(const Network& network, const LocalState& state) {
    conic::DualProgram dual(network);
    dual.set_point(state.x);
    KnownProgram result = in_units(dual.program(), dual.scaling());
    KnownSolution& known = result.known;
    known.x = dual.primal(canonical_selector(network, state));
    known.y = dual.dual(state);
    known.objective = -state.value;
    const UnitFlags positive = positive_bounds(network, state.pattern);
    for (std::size_t l = 0; l < positive.size(); ++l) {
        const Index lower = dual.program().block(fmt::format("nu[{}].lower", l)).begin;
        const Index upper = dual.program().block(fmt::format("nu[{}].upper", l)).begin;
        for (Index i = 0; i < positive[l].size(); ++i)
            if (!positive[l](i)) known.free.push_back({"ray", unit_name(l, i), {lower + i, upper + i}, {}, 1});
    }
    close(known);
    return result;
}

KnownProgram known_max_readout(const Network& network, const LocalState& state, const Vector& direction) {
    conic::OptimalSetProgram program(network, state, conic::Goal::MaxReadout);
    program.set_direction(direction);
    const MaxReadout best = max_readout(network, state, direction);
    KnownProgram result = in_units(program.program(), program.scaling());
    result.known.objective = -best.value;
    result.known.x = program.primal(best.xi);
    result.known.y = program.dual(result.known.x);
    free_rays(network, state, program, result.known);
    return result;
}

KnownProgram known_min_norm(const Network& network, const LocalState& state) {
    const conic::OptimalSetProgram program(network, state, conic::Goal::MinNorm);
    const Multipliers xi = canonical_selector(network, state);
    KnownProgram result = in_units(program.program(), program.scaling());
    result.known.objective = 0.5 * squared_norm(xi);
    result.known.x = program.primal(xi);
    result.known.y = program.dual(result.known.x);
    free_rays(network, state, program, result.known);
    return result;
}

KnownProgram known_inference(const Network& network, double beta, const Vector& query) {
    return known_inference(proximity(network, beta, query));
}

KnownProgram known_inference(const InferenceProblem& problem) {
    const Network& network = *problem.network;
    conic::InferenceProgram inference(problem);
    // The gap is the square of the residual of stationarity, which is what a reader of the pair looks at: as small as it gets.
    const WhiteBoxResult answer = white_box_inference(problem, {.relative_gap = 1e-24});
    if (answer.infeasible)
        throw InputError(
            fmt::format("no x within {:.3g} of the query keeps to the constraints: there is no optimal pair",
                        answer.infeasible->radius));
    const InferenceCertificate& found = answer.certificate;
    // Units of the minimum, unless everything vanishes there: the objective must have a size in them.
    inference.set_query(found.x);
    conic::Scaling scaling = inference.scaling();
    inference.set_query(problem.y);
    if (scaling.primal < 1e-3 * std::abs(found.value - inference.program().c0)) scaling = inference.scaling();
    KnownProgram result = in_units(inference.program(), scaling);
    KnownSolution& known = result.known;
    known.source = "white-box";
    known.gap = std::max(0.0, found.gap);
    known.objective = found.value;
    known.x = inference.primal(evaluate(network, found.x));
    known.y.resize(inference.program().rows());
    known.y << conic::ValueFunction(network).dual(found.xi), found.mu;
    return result;
}

}  // namespace certicone::verify
