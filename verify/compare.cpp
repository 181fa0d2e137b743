#include "verify/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "support/error.hpp"
#include "verify/answer.hpp"

namespace certicone::verify {

namespace {

constexpr double kShare = 1e-4;  // shares closer than this are called equal
constexpr Index kMostFree = 64;  // units for which the analytic centre is computed

/// The free entries of D*(x) that have room: units with a = 0, as positions in order of layers, and modules with u = 0.
struct Choices {
    std::vector<std::pair<std::size_t, Index>> units;
    std::vector<std::size_t> modules;
    std::vector<double> share;   ///< ν/ub(ν)
    std::vector<double> radius;  ///< ‖r‖/λ

    Choices(const Network& network, const LocalState& state, const Multipliers& xi) {
        for (std::size_t l = 0; l < network.layers.size(); ++l) {
            const Vector ub = upper_bound(network, xi.nu, l);
            for (Index i = 0; i < ub.size(); ++i)
                if (state.pattern.sign[l](i) == 0 && ub(i) > 0.0) {
                    units.emplace_back(l, i);
                    share.push_back(xi.nu[l](i) / ub(i));
                }
        }
        for (std::size_t g = 0; g < network.conic.size(); ++g)
            if (state.pattern.conic_zero[g] && network.conic[g].lambda > 0.0 && xi.r[g].size() > 0) {
                modules.push_back(g);
                radius.push_back(xi.r[g].norm() / network.conic[g].lambda);
            }
    }
};

/// Σ log ν + Σ log(ub(ν) − ν) over the multipliers that can be positive on D*(x): the barrier whose maximiser
/// interior-point methods approach.
double barrier(const Network& network, const LocalState& state, const Choices& choices,
               const std::vector<double>& share) {
    double sum = 0.0;
    std::size_t next = choices.units.size();
    select_backward(network, [&](std::size_t l, Index i, double ub) {
        const int sign = state.pattern.sign[l](i);
        if (ub <= 0.0) return 0.0;
        if (sign != 0) {
            sum += std::log(ub);
            return sign > 0 ? ub : 0.0;
        }
        const auto found = std::find(choices.units.begin(), choices.units.end(), std::pair{l, i});
        if (found == choices.units.end()) return 0.0;
        next = static_cast<std::size_t>(found - choices.units.begin());
        sum += 2.0 * std::log(ub) + std::log(share[next]) + std::log1p(-share[next]);
        return share[next] * ub;
    });
    return sum;
}

/// Shares ν/ub(ν) of the analytic centre, coordinate by coordinate (the barrier is concave in ν, and smooth).
std::vector<double> analytic_centre(const Network& network, const LocalState& state, const Choices& choices) {
    std::vector<double> share(choices.units.size(), 0.5);
    for (int sweep = 0; sweep < 20; ++sweep) {
        double moved = 0.0;
        for (double& entry : share) {
            const double before = entry;
            double low = 1e-9, high = 1.0 - 1e-9;
            for (int step = 0; step < 60; ++step) {
                const double left = low + 0.382 * (high - low), right = low + 0.618 * (high - low);
                entry = left;
                const double at_left = barrier(network, state, choices, share);
                entry = right;
                const double at_right = barrier(network, state, choices, share);
                (at_left < at_right ? low : high) = at_left < at_right ? left : right;
            }
            entry = 0.5 * (low + high);
            moved = std::max(moved, std::abs(entry - before));
        }
        if (moved < 0.1 * kShare) break;
    }
    return share;
}

bool near(double a, double b) { return std::abs(a - b) <= kShare; }

void add_owner(std::vector<GapOwner>& owners, std::string name, double gap) {
    if (gap > 0.0) owners.push_back({std::move(name), gap});
}

void compare_blocks(const Network& network, const LocalState& state, const Multipliers& feasible,
                    SolverComparison& result) {
    const Multipliers canonical = canonical_selector(network, state);
    const Multipliers optimal = repair_to_optimal(network, state, feasible);
    const Gap gap = duality_gap(network, state, feasible);
    const DistanceBound bound = distance_bound(network, state, gap);
    const std::vector<Vector> box = conic::dual_box(network);
    const double chain = RoundingBound(total_units(network) + 2 * static_cast<Index>(network.layers.size())).relative;
    const double residual = RoundingBound(network.input_dim).relative;
    result.gap = gap.total;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const std::string name = fmt::format("nu[{}]", l);
        result.blocks.push_back({name, feasible.nu[l].size(), (state.pattern.sign[l].array() == 0).count(),
                                 canonical.nu[l].norm(), (feasible.nu[l] - optimal.nu[l]).norm(),
                                 bound.nu[l].cwiseMin(box[l]).norm() + chain * box[l].norm(), gap.relu[l].sum()});
        for (Index i = 0; i < gap.relu[l].size(); ++i)
            add_owner(result.owners, fmt::format("unit {} of layer {}", i, l), gap.relu[l](i));
    }
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        const auto at = static_cast<Index>(h);
        result.blocks.push_back(
            {fmt::format("p[{}]", h), feasible.p[h].size(), 0, canonical.p[h].norm(),
             (feasible.p[h] - optimal.p[h]).norm(),
             bound.p(at) + residual * module.alpha * size_of_affine(module.B, state.x, module.e).norm(),
             gap.quadratic(at)});
        add_owner(result.owners, fmt::format("quadratic module {}", h), gap.quadratic(at));
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        const auto at = static_cast<Index>(g);
        const bool zero = state.pattern.conic_zero[g];
        const double wrong = zero ? 0.0 : size_of_affine(module.A, state.x, module.d).norm() / state.conic_norm(at);
        result.blocks.push_back({fmt::format("r[{}]", g), feasible.r[g].size(), zero ? feasible.r[g].size() : 0,
                                 canonical.r[g].norm(), (feasible.r[g] - optimal.r[g]).norm(),
                                 bound.r(at) + residual * module.lambda * (1.0 + wrong), gap.conic(at)});
        add_owner(result.owners, fmt::format("conic module {}", g), gap.conic(at));
    }
    const std::size_t kept = std::min<std::size_t>(3, result.owners.size());
    std::partial_sort(result.owners.begin(), result.owners.begin() + static_cast<std::ptrdiff_t>(kept),
                      result.owners.end(), [](const GapOwner& a, const GapOwner& b) { return a.gap > b.gap; });
    result.owners.resize(kept);
}

}  // namespace

bool SolverComparison::consistent() const {
    return broken.empty() &&
           std::all_of(blocks.begin(), blocks.end(), [](const BlockComparison& block) { return block.within(); });
}

std::string describe_element(const Network& network, const LocalState& state, const Multipliers& feasible) {
    const Choices chosen(network, state, feasible);
    const std::size_t count = chosen.share.size() + chosen.radius.size();
    if (count == 0) return "unique";
    const auto all = [](const std::vector<double>& values, auto&& holds) {
        return std::all_of(values.begin(), values.end(), holds);
    };
    const auto zero = [](double value) { return near(value, 0.0); };
    const auto end = [](double value) { return near(value, 0.0) || near(value, 1.0); };
    if (all(chosen.share, zero) && all(chosen.radius, zero)) return "minimum norm";
    if (all(chosen.share, end) && all(chosen.radius, [](double value) { return near(value, 1.0); })) return "vertex";
    if (all(chosen.radius, zero) && static_cast<Index>(chosen.share.size()) <= kMostFree) {
        const std::vector<double> centre = analytic_centre(network, state, chosen);
        bool same = true;
        for (std::size_t k = 0; k < centre.size(); ++k)
            same = same && std::abs(centre[k] - chosen.share[k]) <= 10.0 * kShare;
        if (same) return "analytic centre";
    }
    const auto at_end =
        std::count_if(chosen.share.begin(), chosen.share.end(), end) +
        std::count_if(chosen.radius.begin(), chosen.radius.end(), [](double r) { return near(r, 1.0); });
    if (at_end == 0) return "interior";
    return fmt::format("face: {} of {} choices at an end", at_end, count);
}

Comparer::Comparer(const Network& network, const CertifyOptions& options) : network_(network), options_(options) {
    require_usable(options);
    for (const std::string& name : options.solvers) {
        const solvers::Backend& backend = *options.find_backend(name);
        Session session{name, relu_block_for(network, backend), nullptr};
        if (session.block) session.name += " (ReLU block)";
        session.value_function = std::make_unique<ValueFunctionSession>(
            session.block ? session.block->network : network, backend, options.settings);
        sessions_.push_back(std::move(session));
        solvers::require_support(backend, sessions_.back().value_function->value_function().program());
    }
    if (options.referee) referee_ = std::make_unique<solvers::mosek::Task>(conic::ValueFunction(network).program());
}

PointComparison Comparer::compare(Index index, const Vector& x) {
    PointComparison result;
    result.index = index;
    result.x = x;
    LocalState whole;
    try {
        whole = evaluate(network_, x, options_.tolerance);
    } catch (const InputError& error) {
        throw PointError(fmt::format("point {}: {}", index, error.what()));
    }
    result.value = whole.value;
    result.degenerate_units = whole.pattern.degenerate_units();
    result.degenerate_modules = whole.pattern.degenerate_modules();
    for (const Session& session : sessions_) {
        const ScaledAnswer answer = session.value_function->solve(x);
        const Network& network = session.value_function->value_function().network();
        const LocalState state = session.block ? evaluate(network, x, options_.tolerance) : whole;
        SolverComparison comparison;
        comparison.solver = session.name;
        comparison.claimed = answer.solution.claimed;
        comparison.broken = broken_promise(*answer.program, answer.solution, options_.settings).value_or("");
        comparison.value_error = std::abs(answer.objective(answer.solution.measured.primal_objective) - state.value);
        const Multipliers feasible = repair_to_feasible(network, answer.xi);
        compare_blocks(network, state, feasible, comparison);
        comparison.element = describe_element(network, state, feasible);
        const solvers::Solution& solution = answer.solution;
        if (referee_ && !session.block && solution.x.allFinite() && solution.s.allFinite() && solution.y.allFinite()) {
            const conic::ConicProgram& program = session.value_function->value_function().program();
            referee_->update_b(program.b);
            referee_->update_constant(program.c0);
            const conic::Scaling& scaling = *answer.scaling;
            const solvers::mosek::Judgement judgement = referee_->judge(
                scaling.unscale_x(solution.x), scaling.unscale_s(solution.s), scaling.unscale_y(solution.y));
            comparison.referee = judgement.relative();
            comparison.referee_where = judgement.worst();
        }
        result.solvers.push_back(std::move(comparison));
    }
    return result;
}

}  // namespace certicone::verify
