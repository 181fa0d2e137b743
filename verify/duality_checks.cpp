#include "verify/duality_checks.hpp"

#include <fmt/format.h>

#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "verify/answer.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

Finding check_closed_form_duality(const Point& point, double tolerance) {
    const Network& network = point.network;
    const LocalState& state = point.state;
    const double dual = point.subject.psi(network, state.x, point.canonical);
    double bound = 2.0 * point.rounding + rounding_of_psi(network, state.x, point.canonical);
    if (tolerance > 0.0) {
        const std::vector<Vector> box = conic::dual_box(network);
        for (const auto& [layer, unit] : state.pattern.degenerate_units()) {
            const auto l = static_cast<std::size_t>(layer);
            bound += box[l](unit) * std::abs(state.trace.a[l](unit));
        }
        for (const Index g : state.pattern.degenerate_modules())
            bound += network.conic[static_cast<std::size_t>(g)].lambda * state.conic_norm(g);
    }
    Finding finding = judged("theorem1.strong_duality", "closed form", std::abs(state.value - dual), bound, "f - Psi",
                             "rounding of both sides");
    finding.accuracy.offer(Quantity::Value, bound, point.scale);
    return finding;
}

Finding check_solver_duality(const Point& point, const ReferencePair& reference, const ScaledAnswer& answer,
                             const solvers::Settings& settings, const std::string& solver) {
    const std::string id = "theorem1.strong_duality";
    const solvers::Solution& solution = answer.solution;
    if (const auto broken = broken_promise(*answer.program, solution, settings)) return failed(id, solver, *broken);

    // The reference pair in the units of the scaled program.
    const conic::Scaling& scaling = *answer.scaling;
    const Vector x = reference.x.cwiseQuotient(scaling.column) / scaling.primal;
    const Vector y = scaling.objective * reference.y.cwiseQuotient(scaling.row);
    const Vector s = answer.program->b - answer.program->A * x;
    const Residuals found = residuals(*answer.program, solution);
    double primal_side = y.cwiseAbs().dot(found.primal), dual_side = x.cwiseAbs().dot(found.dual);
    for (std::size_t k = 0; k < answer.program->blocks.size(); ++k) {
        const conic::Block& block = answer.program->blocks[k];
        dual_side += found.cone(static_cast<Index>(k)) * s.segment(block.begin, block.size).norm();
    }
    const double bound =
        scaling.unscale_objective(std::max(primal_side, dual_side) + solution.measured.gap + found.objective_rounding) +
        point.rounding;

    const double value = point.state.value;
    double read = psi(point.network, point.state.x, answer.xi);
    for (std::size_t h = 0; h < answer.xi.p.size(); ++h)
        read += answer.xi.p[h].squaredNorm() / (2.0 * point.network.quadratic[h].alpha) -
                answer.squares(static_cast<Index>(h));
    Worst worst;
    worst.offer(std::abs(answer.objective(solution.measured.primal_objective) - value), bound,
                [] { return "primal objective"; });
    worst.offer(std::abs(answer.objective(solution.measured.dual_objective) - value), bound,
                [] { return "dual objective"; });
    worst.offer(std::abs(read - value), bound + rounding_of_psi(point.network, point.state.x, answer.xi),
                [] { return "Psi at its multipliers"; });
    Finding finding = worst.finding(id, solver, "weak duality with the measured residuals and gap");
    finding.accuracy.offer(Quantity::Value, bound, point.scale);
    finding.leave_open(bound, point.scale);
    return finding;
}

namespace {

/// What the gap identity's own terms leave of each multiplier, relative to its range: [0, ub] of ν, the ball of r, and the
/// sizes that p = αq is summed from.
Accuracy accuracy_of_multipliers(const Network& network, const LocalState& state, const Multipliers& feasible) {
    const DistanceBound bound = distance_bound(network, state, duality_gap(network, state, feasible));
    const std::vector<Vector> box = conic::dual_box(network);
    const double chain = RoundingBound(total_units(network) + 2 * static_cast<Index>(network.layers.size())).relative;
    const double residual = RoundingBound(network.input_dim).relative;
    Accuracy accuracy;
    for (std::size_t l = 0; l < box.size(); ++l)
        for (Index i = 0; i < box[l].size(); ++i)
            accuracy.offer(Quantity::Nu, std::min(bound.nu[l](i) + chain * box[l](i), box[l](i)), box[l](i));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        const double size = module.alpha * size_of_affine(module.B, state.x, module.e).norm();
        accuracy.offer(Quantity::P, bound.p(static_cast<Index>(h)) + residual * size, size);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        const auto at = static_cast<Index>(g);
        if (module.lambda == 0.0 || state.pattern.conic_zero[g]) continue;
        const double wrong = size_of_affine(module.A, state.x, module.d).norm() / state.conic_norm(at);
        accuracy.offer(Quantity::R,
                       std::min(bound.r(at) + residual * module.lambda * (1.0 + wrong), 2.0 * module.lambda),
                       module.lambda);
    }
    return accuracy;
}

}  // namespace

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
    // Rounding: ν̂ follows a chain of one sum a layer, p̂ = αq and r̂ = λu/‖u‖ are as wrong as q and u.
    const double chain = RoundingBound(total_units(network) + 2 * static_cast<Index>(network.layers.size())).relative;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        for (Index i = 0; i < feasible.nu[l].size(); ++i)
            worst.offer(std::abs(feasible.nu[l](i) - optimal.nu[l](i)),
                        std::min(bound.nu[l](i), box[l](i)) + chain * box[l](i),
                        [&] { return fmt::format("nu[{}][{}]", l, i); });
    const double residual = RoundingBound(network.input_dim).relative;
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        worst.offer(norm<double>(feasible.p[h] - optimal.p[h]),
                    bound.p(static_cast<Index>(h)) +
                        residual * module.alpha * norm<double>(size_of_products(module.B, state.x, module.e)),
                    [&] { return fmt::format("p[{}]", h); });
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        const double length = state.conic_norm(static_cast<Index>(g));
        const double wrong =
            state.pattern.conic_zero[g] ? 0.0 : norm<double>(size_of_products(module.A, state.x, module.d)) / length;
        worst.offer(norm<double>(feasible.r[g] - optimal.r[g]),
                    bound.r(static_cast<Index>(g)) + residual * module.lambda * (1.0 + wrong),
                    [&] { return fmt::format("r[{}]", g); });
    }
    Finding finding = worst.finding(id, solver, fmt::format("the gap identity with the measured gap {:.2e}", gap));
    finding.accuracy = accuracy_of_multipliers(network, state, feasible);
    const double scale = scale_of_value(network, state.x);
    finding.accuracy.offer(Quantity::Value, gap, scale);
    finding.leave_open(gap, scale);
    return finding;
}

}  // namespace certicone::verify
