// Networks that first-order solvers find hard: large growth from layer to layer, and units that cannot matter (ub = 0).
// Through dual-box scaling SCS solves both to the same relative accuracy as any other.
#include <doctest/doctest.h>

#include "geometry/gap.hpp"
#include "geometry/optimal_set.hpp"
#include "random_networks.hpp"
#include "verify/certify.hpp"
#include "verify/sessions.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// Six layers of width 24 over 8 inputs, with one module of each kind; each entry of U and c is zero with probability
/// `zeros`, else uniform in [0, largest] (U) or [0, 1] (c).
Network deep(double largest, double zeros, Random& random) {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Network network = random_network({8, {24, 24, 24, 24, 24, 24}, {5}, {5}, 1.0}, random);
    const auto draw = [&](double most) { return uniform(random) < zeros ? 0.0 : most * uniform(random); };
    for (std::size_t l = 1; l < network.layers.size(); ++l)
        network.layers[l].U = network.layers[l].U.unaryExpr([&](double) { return draw(largest); });
    network.c = network.c.unaryExpr([&](double) { return draw(1.0); });
    return network;
}

/// The largest figures over a few points, relative to f: objective, and the gap of the repaired multipliers.
void check_scs(const Network& network, Random& random) {
    verify::ValueFunctionSession session(network, solvers::backend("scs"), {});
    for (int point = 0; point < 3; ++point) {
        const Vector x = random_vector(8, random);
        const LocalState state = evaluate(network, x);
        const verify::ScaledAnswer answer = session.solve(x);
        INFO("f = " << state.value << ", " << answer.solution.claimed.iterations << " iterations");
        REQUIRE(answer.solution.claimed.status == solvers::Status::Solved);
        // In scaled units every entry of the optimal pair is at most 1 and each residual at most 2e-9.
        const double bound = 2e-9 * static_cast<double>(answer.program->rows() + answer.program->columns());
        CHECK(std::abs(answer.objective(answer.solution.measured.primal_objective) - state.value) <=
              bound * answer.scaling->primal);
        const Multipliers feasible = repair_to_feasible(network, answer.xi);
        CHECK(duality_gap(network, state, feasible).total <= 2.0 * bound * answer.scaling->primal);
        CHECK(answer.scaling->primal <= 2.0 * std::abs(state.value));  // so both are relative to f
        double error = 0.0, size = 0.0;
        const Multipliers canonical = canonical_selector(network, state);
        for (std::size_t l = 0; l < canonical.nu.size(); ++l) {
            error = std::max(error, (answer.xi.nu[l] - canonical.nu[l]).norm());
            size = std::max(size, canonical.nu[l].norm());
        }
        CHECK(error <= bound * size);
    }
}

}  // namespace

TEST_CASE("growth to 1e7 and beyond") {
    Random random(1);
    for (int k = 0; k < 2; ++k) {
        const Network network = deep(1.5, 0.0, random);
        CHECK(evaluate(network, random_vector(8, random)).value > 1e6);
        check_scs(network, random);
    }
}

TEST_CASE("60 % zeros in U and c") {
    Random random(2);
    for (int k = 0; k < 2; ++k) {
        const Network network = deep(0.2, 0.6, random);
        CHECK((conic::dual_box(network).back().array() == 0.0).any());
        check_scs(network, random);
    }
}

TEST_CASE("certify passes on both with the default solvers, every check") {
    Random random(3);
    for (const Network& network : {deep(1.5, 0.0, random), deep(0.2, 0.6, random)}) {
        const Matrix points = verify::sample_points(8, 4, 1);
        for (const verify::PointReport& report : verify::certify(network, points, {}))
            for (const verify::Finding& finding : report.findings) {
                INFO(finding.id << " " << finding.solver << " " << finding.where << ": " << finding.reason);
                CHECK(finding.outcome == verify::Outcome::Passed);
            }
    }
}
