// Solvers without second-order cones, alone: they certify the ReLU block and say why not the rest.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "network/network_io.hpp"
#include "run_program.hpp"
#include "solvers/solver.hpp"
#include "verify/certify.hpp"
#include "verify/relu_block.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

namespace {

const std::string suite = std::string(CERTICONE_DATA_DIR) + "/suite/";

using Key = std::pair<std::string, std::string>;

/// status of each (id, solver) at the point, of the solvers whose name begins so.
std::map<Key, json> checks_of(const json& point, const std::string& solver) {
    std::map<Key, json> result;
    for (const json& check : point["checks"])
        if (check["solver"].get<std::string>().starts_with(solver)) result[{check["id"], check["solver"]}] = check;
    return result;
}

json report_of(const std::string& arguments, int code = 0) {
    const Run run = run_program("certify " + arguments + " --json -");
    INFO(run.err);
    REQUIRE(run.code == code);
    return json::parse(run.out);
}

}  // namespace

TEST_CASE("highs and osqp alone certify the ReLU block of a network with modules") {
    const json report = report_of(paper + "exp2.network.json --sample 3 --solver highs,osqp");
    CHECK(report["summary"]["failed"] == 0);
    for (const json& point : report["points"])
        for (const std::string name : {"highs", "osqp"}) {
            CAPTURE(name);
            auto checks = checks_of(point, name);
            const std::string block = name + " (ReLU block)", dual = name + " (dual program, ReLU block)";
            for (const char* id :
                 {"theorem1.strong_duality", "theorem1.support", "lemma1.complementarity", "proposition1.membership"})
                CHECK(checks.at({id, block})["status"] == "passed");
            for (const char* id : {"theorem1.strong_duality", "proposition1.membership"})
                CHECK(checks.at({id, dual})["status"] == "passed");
            for (const char* id : {"theorem1.strong_duality", "theorem1.support", "proposition1.membership"}) {
                CHECK(checks.at({id, name})["status"] == "skipped");
                CHECK(checks.at({id, name})["reason"] ==
                      name + " does not support the rotated second-order cone of block 'quadratic[0].cone'");
            }
            CHECK(checks.at({"theorem2.directional", name})["status"] == "passed");
            CHECK(checks.at({"proposition2.uniqueness", name})["status"] == "passed");
            const json& norm = checks.at({"corollary1.min_norm", name});
            CHECK(norm["status"] == (name == "osqp" ? "passed" : "skipped"));
            if (name == "highs") CHECK(norm["reason"] == "minimum norm: highs does not support a quadratic objective");
        }
}

TEST_CASE("where a conic residual vanishes the max-readout is skipped, the minimum norm is not") {
    const json report = report_of(paper + "exp3.network.json --solver osqp");
    auto checks = checks_of(report["points"][0], "osqp");
    CHECK(checks.at({"theorem2.directional", "osqp"})["status"] == "skipped");
    CHECK(checks.at({"theorem2.directional", "osqp"})["reason"] ==
          "max-readout: osqp does not support the second-order cone of block 'conic[0]'");
    CHECK(checks.at({"corollary1.min_norm", "osqp"})["status"] == "passed");
    CHECK(report_of(paper + "exp3.network.json --solver osqp --strict", 1)["summary"]["skipped"] == 0);
}

TEST_CASE("a network without modules is certified by highs alone, all but the minimum norm") {
    const json report = report_of(suite + "no_modules.network.json --solver highs --level rigorous");
    CHECK(report["summary"]["failed"] == 0);
    for (const json& point : report["points"])
        for (const auto& [key, check] : checks_of(point, "highs")) {
            CHECK_FALSE(contains(key.second, "ReLU block"));
            CHECK((check["status"] == "passed") == (key.first != "corollary1.min_norm"));
        }
    const Run run = run_program("certify " + suite + "no_modules.network.json --solver osqp");
    CHECK(contains(run.out, "\ncertified: "));
}

TEST_CASE("the ReLU block: f without its modules, and none for a solver that has cones") {
    const Network network = read_network(paper + "exp2.network.json");
    const auto block = relu_block_for(network, solvers::backend("highs"));
    REQUIRE(block);
    CHECK(block->network.quadratic.empty());
    CHECK(block->network.conic.empty());
    CHECK(block->network.b0 == network.b0);
    CHECK_FALSE(relu_block_for(network, solvers::backend("scs")));
    CHECK_FALSE(relu_block_for(block->network, solvers::backend("highs")));
    Network idle = network;  // λ = 0 needs no cone
    idle.quadratic.clear();
    for (Conic& module : idle.conic)
        module.lambda = 0.0;
    CHECK_FALSE(relu_block_for(idle, solvers::backend("highs")));
}

TEST_CASE("a wrong network is caught through its ReLU block") {
    const Network network = read_network(paper + "exp2.network.json");
    CertifyOptions options;
    options.solvers = {"highs"};
    options.threads = 1;
    Subject subject;
    subject.evaluate = [](const Network& of, const Vector& x, double tolerance) {
        LocalState state = evaluate(of, x, tolerance);
        state.value += 1e-6;
        return state;
    };
    const auto reports = certify(network, sample_points(network.input_dim, 2, 1), options, subject);
    for (const PointReport& point : reports)
        CHECK(std::any_of(point.findings.begin(), point.findings.end(), [](const Finding& finding) {
            return finding.outcome == Outcome::Failed && finding.solver == "highs (ReLU block)" &&
                   finding.id == "theorem1.strong_duality";
        }));
}

TEST_CASE("compare: the ReLU block beside the closed form") {
    const Run run = run_program("compare " + paper + "exp3.network.json --points " + paper +
                                "exp3.points.json --solver highs,osqp --json -");
    CHECK(run.code == 0);
    for (const json& solver : json::parse(run.out)["points"][0]["solvers"]) {
        CHECK(contains(solver["solver"], " (ReLU block)"));
        REQUIRE(solver["blocks"].size() == 1);
        CHECK(solver["blocks"][0]["block"] == "nu[0]");
        CHECK(solver["consistent"] == true);
        CHECK(solver["referee"].is_null());
    }
}
