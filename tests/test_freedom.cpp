// The dimension of the sets of optimal multipliers, against ranks of sampled elements and the suite's exact answers.
#include <doctest/doctest.h>

#include <Eigen/QR>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "geometry/freedom.hpp"
#include "geometry/optimal_set.hpp"
#include "hand_networks.hpp"
#include "known_programs.hpp"
#include "solvers/solver.hpp"
#include "support/file.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// Everything that varies in ξ, one after the other.
Vector flat(const Multipliers& xi) {
    std::vector<double> all;
    for (const auto* part : {&xi.nu, &xi.p, &xi.r})
        for (const Vector& block : *part)
            all.insert(all.end(), block.begin(), block.end());
    return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}

/// The dimension of the affine hull of sampled elements of D*(x).
Index sampled_dimension(const Network& network, const LocalState& state) {
    Random random(5);
    const Vector origin = flat(canonical_selector(network, state));
    Matrix differences(origin.size(), 60);
    for (Index k = 0; k < differences.cols(); ++k)
        differences.col(k) = flat(random_optimal(network, state, random)) - origin;
    Eigen::ColPivHouseholderQR<Matrix> rank(differences);
    rank.setThreshold(1e-11);
    return rank.rank();
}

}  // namespace

TEST_CASE("the dimension of D*(x) is that of its sampled elements") {
    Random random(11);
    Index with_freedom = 0;
    for (int round = 0; round < 60; ++round) {
        const PointedNetwork made = degenerate_network({3, {4, 3, 3}, {2}, {2, 3}}, random);
        const LocalState state = evaluate(made.network, made.x);
        const Index dimension = optimal_set_dimension(made.network, state.pattern);
        CHECK(dimension == sampled_dimension(made.network, state));
        CHECK(verify::known_value(made.network, state).known.dual_dimension == dimension);
        if (dimension > 0) ++with_freedom;
    }
    CHECK(with_freedom > 30);
}

TEST_CASE("uniqueness is what the suite's exact arithmetic says") {
    Index points_seen = 0;
    for (const std::string& file : data_networks()) {
        if (file.find("/suite/") == std::string::npos) continue;
        const Network network = read_network(file);
        const std::string beside = verify::points_beside(file);
        const Matrix points = read_points(beside, network.input_dim);
        const auto expected = nlohmann::json::parse(read_file(beside))["expected"];
        for (Index j = 0; j < points.cols(); ++j) {
            CAPTURE(network.name);
            CAPTURE(j);
            const verify::KnownSolution known = verify::known_value(network, evaluate(network, points.col(j))).known;
            CHECK(known.dual_unique == expected[static_cast<std::size_t>(j)]["unique"].get<bool>());
            CHECK(known.free.empty() == *known.dual_unique);
            ++points_seen;
        }
    }
    CHECK(points_seen > 250);
}

TEST_CASE("multipliers that are not unique stay optimal along every freedom") {
    const auto defect = [](const conic::ConicProgram& program, const Vector& x, const Vector& y) {
        const Vector s = program.b - program.A * x;
        const solvers::Measured found = solvers::measure(program, x, s, y);
        return std::max({found.dual_residual, found.dual_cone, found.gap});
    };
    Random random(3);
    std::map<std::string, int> seen;
    for (int round = 0; round < 200; ++round) {
        PointedNetwork made = degenerate_network({3, {4, 3, 3}, {2}, {2}}, random);
        for (Index i = 0; i < made.network.c.size(); ++i)  // units that do not matter
            if (random() % 2 == 0) made.network.c(i) = 0.0;
        for (const NamedProgram& entry : known_programs(made.network, made.x, round)) {
            const verify::KnownSolution& known = entry.known.known;
            if (known.source != "closed form") continue;
            CAPTURE(entry.name);
            REQUIRE(defect(entry.known.program, known.x, known.y) < 1e-12);
            // Stationarity allows exactly the moves along the freedoms: their number is the dimension of what Aᵀy + c = 0 and
            // the face of the cones leave, which linear algebra can count where no cone is at its apex.
            for (const verify::Freedom& freedom : known.free) {
                ++seen[entry.program + " " + freedom.kind];
                if (freedom.kind == "interval") {
                    // The unit's own column ties the pair: y + ε, y' − ε; the layers below follow with ub.
                    CHECK(freedom.rows.size() == 2);
                    CHECK(known.y(freedom.rows[0]) + known.y(freedom.rows[1]) == doctest::Approx(*freedom.bound));
                }
                if (freedom.kind == "ball") CHECK(known.y(freedom.rows[0]) == 0.0);
            }
            CHECK(*known.dual_unique == known.free.empty());
        }
    }
    for (const char* kind :
         {"value interval", "value ball", "dual ray", "relu interval", "max-readout ray", "min-norm ray"})
        CHECK_MESSAGE(seen[kind] > 0, kind);
}

TEST_CASE("rays of the dual, max-readout and min-norm programs: exactly the units that are named can grow") {
    // For each unit with both rows the largest rise that keeps y optimal is found by the recursion itself: raise y⁺ and y⁻ of
    // the unit by ε, let the layers above follow by their rates, and see whether the dual objective changes.
    Random random(9);
    Index rays = 0, fixed = 0;
    for (int round = 0; round < 100; ++round) {
        PointedNetwork made = degenerate_network({3, {4, 3, 3}, {}, {}}, random);
        for (Index i = 0; i < made.network.c.size(); ++i)
            if (random() % 2 == 0) made.network.c(i) = 0.0;
        const Network& network = made.network;
        const LocalState state = evaluate(network, made.x);
        Generator generator(static_cast<std::uint64_t>(round));
        const Vector direction = draw_direction(network.input_dim, generator);
        conic::OptimalSetProgram program(network, state, conic::Goal::MaxReadout);
        program.set_direction(direction);
        const verify::KnownSolution known = verify::known_max_readout(network, state, direction).known;
        std::set<std::pair<Index, Index>> named;
        for (const verify::Freedom& freedom : known.free)
            named.emplace(freedom.rows[0], freedom.rows[1]);
        for (const auto& [layer, unit] : state.pattern.degenerate_units()) {
            const auto l = static_cast<std::size_t>(layer);
            // A tiny cost on this unit's y⁺ (its b is ub's offset) tells whether it can be had for nothing: raise and recompute.
            const double epsilon = 1e-7;
            std::vector<Vector> rise(network.layers.size());
            Vector lift = Vector::Zero(network.layers[l].units());
            lift(unit) = epsilon;
            double cost = l + 1 == network.layers.size() ? network.c.dot(lift) : 0.0;
            const std::vector<Vector> rate = program.rates(known.x);
            for (std::size_t above = l + 1; above < network.layers.size(); ++above) {
                const Vector pushed = network.layers[above].U * lift;
                lift = Vector::Zero(pushed.size());
                for (Index i = 0; i < pushed.size(); ++i) {
                    const int sign = state.pattern.sign[above](i);
                    if (sign > 0) lift(i) = pushed(i);
                    if (sign == 0) lift(i) = std::max(rate[above](i) + pushed(i), 0.0) - std::max(rate[above](i), 0.0);
                }
                if (above + 1 == network.layers.size()) cost = network.c.dot(lift);
            }
            const bool free = cost == 0.0;
            CHECK(free == named.contains({program.lower_row(l, unit), program.upper_row(l, unit)}));
            free ? ++rays : ++fixed;
        }
    }
    CHECK(rays > 20);
    CHECK(fixed > 20);
}
