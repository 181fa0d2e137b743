// `compare`: distances, bounds, owners of the gap, and which element of D*(x) a solver chose.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/compare.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

namespace {

const std::string suite = CERTICONE_DATA_DIR "/suite/";

}  // namespace

TEST_CASE("compare: elements of D*(x) by name") {
    // Experiment 3 at x = 0: ν₀ ∈ [0, 1.2] and ‖r‖ ≤ 1.3.
    const Network network = read_network(paper + "exp3.network.json");
    const LocalState state = evaluate(network, Vector::Zero(2));
    Multipliers xi = canonical_selector(network, state);
    CHECK(describe_element(network, state, xi) == "minimum norm");
    xi.nu[0](0) = 0.6;
    CHECK(describe_element(network, state, xi) == "analytic centre");
    xi.nu[0](0) = 0.3;
    CHECK(describe_element(network, state, xi) == "interior");
    xi.nu[0](0) = 1.2;
    CHECK(describe_element(network, state, xi) == "face: 1 of 2 choices at an end");
    xi.r[0] << 1.3, 0.0;
    CHECK(describe_element(network, state, xi) == "vertex");
    CHECK(describe_element(network, evaluate(network, Eigen::Vector2d(0.3, 0.2)), xi) == "unique");
}

TEST_CASE("compare: nested choices have their own centre") {
    // Two flat units in a row, 0 ≤ ν₁ ≤ ν₂ ≤ 1: log ν₁ + log(ν₂−ν₁) + log ν₂ + log(1−ν₂) is largest at (3/8, 3/4).
    Network chain;
    chain.input_dim = 1;
    chain.layers.resize(2);
    for (Layer& layer : chain.layers) {
        layer.W = Matrix::Zero(1, 1);
        layer.b = Vector::Zero(1);
    }
    chain.layers[1].U = Matrix::Ones(1, 1);
    chain.c = Vector::Ones(1);
    chain.v = Vector::Zero(1);
    const LocalState state = evaluate(chain, Vector::Ones(1));
    Multipliers xi = zero_multipliers(chain);
    const auto element = [&](double first, double second) {
        xi.nu[0](0) = first;
        xi.nu[1](0) = second;
        return describe_element(chain, state, xi);
    };
    CHECK(element(0.375, 0.75) == "analytic centre");
    CHECK(element(0.25, 0.5) == "interior");
    CHECK(element(0.0, 0.5) == "face: 1 of 2 choices at an end");
    CHECK(element(1.0, 1.0) == "vertex");
    CHECK(element(0.0, 0.0) == "minimum norm");

    const Network network = read_network(suite + "flat_unit_deep.network.json");
    const Matrix points = read_points(suite + "flat_unit_deep.points.json", network.input_dim);
    CertifyOptions options;
    options.solvers = {"clarabel", "highs+clarabel"};
    Comparer comparer(network, options);
    const PointComparison point = comparer.compare(0, points.col(0));
    REQUIRE(point.solvers.size() == 2);
    CHECK(point.solvers[0].element == "interior");  // an interior-point method, not centred to the last
    CHECK(point.solvers[1].element == "vertex");    // simplex
    for (const SolverComparison& solver : point.solvers) {
        CHECK(solver.consistent());
        CHECK(solver.blocks[0].set_valued > 0);
    }
}

TEST_CASE("compare: a wrong multiplier is further away than its bound or owns the gap") {
    const Network network = read_network(paper + "exp2.network.json");
    const Matrix points = read_points(paper + "exp2.points.json", network.input_dim);
    CertifyOptions options;
    options.solvers = {"highs+clarabel", "scs"};
    Comparer comparer(network, options);
    for (Index j = 0; j < 5; ++j) {
        const PointComparison point = comparer.compare(j, points.col(j));
        for (const SolverComparison& solver : point.solvers) {
            CHECK(solver.consistent());
            CHECK(solver.element == "unique");
            CHECK(solver.blocks.size() == 7);
            CHECK(!solver.owners.empty());
            double sum = 0.0;
            for (const BlockComparison& block : solver.blocks)
                sum += block.gap;
            CHECK(sum == doctest::Approx(solver.gap));
            CHECK(solver.owners[0].gap <= solver.gap * (1.0 + 1e-12));
        }
        CHECK(point.solvers[0].value_error <= 1e-7 * std::abs(point.value));
    }
    SolverComparison wrong;
    wrong.blocks.push_back({"nu[0]", 3, 0, 1.0, 1e-3, 1e-6, 0.0});
    CHECK(!wrong.consistent());
    wrong.blocks[0].bound = 1e-2;
    CHECK(wrong.consistent());
    wrong.broken = "claims 'solved', but …";
    CHECK(!wrong.consistent());
}

TEST_CASE("compare: the command, its JSON and its exit codes") {
    const std::string files = suite + "one_unit.network.json --points " + suite + "one_unit.points.json";
    const Run run = run_program("compare " + files + " --solver scs,highs+clarabel");
    INFO(run.out, run.err);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "set-valued: membership"));
    CHECK(contains(run.out, "element of D*(x):"));
    CHECK(contains(run.out, "consistent: 12 answers at 6 points"));
    const json document = json::parse(run_program("compare " + files + " --solver scs --json -").out);
    CHECK(document["format"] == "certicone-comparison/1");
    REQUIRE(document["points"].size() == 6);
    CHECK(document["points"][2]["solvers"][0]["blocks"][0]["set_valued"] == 1);
    CHECK(document["points"][2]["degenerate"]["relu"] == json{{0, 0}});
    CHECK(run_program("compare " + files + " --solver scs --eps 1e-30").code == 1);
    CHECK(run_program("compare " + files + " --solver nobody").code == 2);
    CHECK(run_program("compare " + files).code == 2);
    CHECK(run_program("compare " + files + " --solver scs --referee judge").code == 2);
    if (!solvers::backend("mosek").enabled().ready) {
        const Run refused = run_program("compare " + files + " --solver mosek");
        CHECK(refused.code == 3);
        CHECK(contains(refused.err, "solver 'mosek'"));
    }
    CHECK(run_program("certify " + files + " --solver mosek-fusion").code ==
          (solvers::backend("mosek-fusion").enabled().ready ? 0 : 3));
}
