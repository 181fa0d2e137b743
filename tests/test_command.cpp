// The command as users and scripts see it: output contracts, help, exit codes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "geometry/branch.hpp"
#include "geometry/max_readout.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "solvers/mosek_runtime.hpp"
#include "support/sha256.hpp"
#include "verify/certify.hpp"

using namespace certicone;
using namespace certicone::test;
using nlohmann::json;

TEST_CASE("help and version go to standard output with code 0") {
    for (const char* command : {"", "inspect", "readout", "certify", "solvers"}) {
        const Run help = run_program(std::string(command) + " --help");
        CHECK(help.code == 0);
        CHECK(help.err.empty());
        CHECK(help.out.find(*command ? "Example" : "certicone COMMAND --help") != std::string::npos);
    }
    CHECK(run_program("--version").out == std::string("certicone ") + CERTICONE_VERSION + "\n");
}

TEST_CASE("inspect names sizes, modules and the hash of the file") {
    const Run result = run_program("inspect " + paper + "exp1.network.json");
    CHECK(result.code == 0);
    for (const char* text :
         {"256 in 4 layers", "layers[3]    64 units, W 64x20, U 64x64", "quadratic[1]", "conic[1]", "convex       yes"})
        CHECK_MESSAGE(result.out.find(text) != std::string::npos, text);
    CHECK(result.out.find(sha256(read_file(paper + "exp1.network.json"))) != std::string::npos);
}

TEST_CASE("readout --json keeps its contract to the letter and to the bit") {
    const Network network = read_network(paper + "exp2.network.json");
    const Matrix points = read_points(paper + "exp2.points.json", network.input_dim);
    const ScratchFolder folder;
    const std::string directions = file_with(folder, "d.csv", "1,0,0,0,0,0,0,0,0,0\n0,-1,0,0,0,0,0,0,0,0.5\n");
    const Run result = run_program("readout " + paper + "exp2.network.json --points " + paper +
                                   "exp2.points.json --hessian --json - --directions " + directions);
    REQUIRE(result.code == 0);
    CHECK(result.err.empty());
    const json document = json::parse(result.out);  // nothing but the document is printed
    CHECK(document.at("format") == "certicone-readout/1");
    CHECK(document.size() == 2);
    REQUIRE(document.at("points").size() == 100);
    const Curvature curvature(network);
    for (Index j = 0; j < 100; j += 11) {
        const json& entry = document["points"][static_cast<std::size_t>(j)];
        std::vector<std::string> keys;
        for (const auto& item : entry.items())
            keys.push_back(item.key());
        CHECK(keys == std::vector<std::string>{"branch_radius", "degenerate", "directional", "gradient", "hessian",
                                               "nu", "p", "r", "value", "x"});  // nlohmann::json sorts
        const LocalState state = evaluate(network, points.col(j));
        const Multipliers xi = canonical_selector(network, state);
        const Vector gradient = readout(network, xi);
        const Matrix hessian = curvature.hessian(state);
        CHECK(entry["value"].get<double>() == state.value);
        for (Index i = 0; i < 10; ++i) {
            const auto k = static_cast<std::size_t>(i);
            CHECK(entry["x"][k].get<double>() == points(i, j));
            CHECK(entry["gradient"][k].get<double>() == gradient(i));
            CHECK(entry["hessian"][k][3].get<double>() == hessian(i, 3));
        }
        CHECK(entry["nu"][1][5].get<double>() == xi.nu[1](5));
        CHECK(entry["p"][1][2].get<double>() == xi.p[1](2));
        CHECK(entry["r"][0][9].get<double>() == xi.r[0](9));
        CHECK(entry["branch_radius"].get<double>() == curvature.branch_radius(state).radius());
        CHECK(entry["degenerate"] == json::parse(R"({"relu":[],"conic":[]})"));
        Vector d = Vector::Zero(10);
        d(1) = -1.0;
        d(9) = 0.5;
        CHECK(entry["directional"][1].get<double>() == directional_derivative(network, state, d));
    }
}

TEST_CASE("readout at a degenerate point: the kinks are named, no Hessian, no radius") {
    // Experiment 3: unit 0 has a = 0 and the conic residual vanishes at x0 = 0. By hand:
    // f(0) = 0.8·0.5 + 0.35·(0.3² + 0.1²) = 0.435 (unit 1 active, units 0 and 2 not).
    const Run result = run_program("readout " + paper + "exp3.network.json --points " + paper +
                                   "exp3.points.json --hessian --json - --directions " + paper + "exp3.draws.json");
    REQUIRE(result.code == 0);
    const json entry = json::parse(result.out)["points"][0];
    CHECK(entry["degenerate"] == json::parse(R"({"relu":[[0,0]],"conic":[0]})"));
    CHECK(entry["hessian"].is_null());
    CHECK(entry["branch_radius"].is_null());
    CHECK(entry["value"].get<double>() == doctest::Approx(0.435).epsilon(1e-15));
    CHECK(entry["nu"] == json::parse("[[0.0,0.8,0.0]]"));
    CHECK(entry["r"] == json::parse("[[0.0,0.0]]"));
    CHECK(entry["directional"].size() == 1000);
    // Canonical gradient by hand: v + 0.8·(−0.4, 1) + 0.7·Bᵀ(0.3, −0.1).
    CHECK(entry["gradient"][0].get<double>() == doctest::Approx(0.1 - 0.32 + 0.7 * (0.18 - 0.01)).epsilon(1e-14));
    CHECK(entry["gradient"][1].get<double>() == doctest::Approx(-0.2 + 0.8 + 0.7 * (-0.06 - 0.05)).epsilon(1e-14));
}

TEST_CASE("readout with a tolerance is the user's choice") {
    const ScratchFolder folder;
    const std::string points = file_with(folder, "p.csv", "1e-9,0\n");
    const std::string base = "readout " + paper + "exp3.network.json --json - --points " + points;
    CHECK(json::parse(run_program(base).out)["points"][0]["degenerate"]["relu"].empty());
    CHECK(json::parse(run_program(base + " --tolerance 1e-8").out)["points"][0]["degenerate"]["relu"].size() == 1);
    CHECK(run_program(base + " --tolerance -1").code == 2);
}

TEST_CASE("readout writes a file whole or not at all") {
    const ScratchFolder folder;
    const std::string base = "readout " + paper + "exp3.network.json --points " + paper + "exp3.points.json --json ";
    CHECK(run_program(base + (folder / "out.json").string()).code == 0);
    CHECK(json::parse(read_file((folder / "out.json").string()))["points"].size() == 1);
    CHECK(folder.files() == 1);
    CHECK(run_program(base + (folder / "no/such/folder.json").string()).code == 2);
    CHECK(folder.files() == 1);
}

TEST_CASE("certify --json keeps its contract") {
    const Run result = run_program("certify " + paper + "exp4.network.json --json -");
    REQUIRE(result.code == 0);
    const json document = json::parse(result.out);
    CHECK(document["format"] == "certicone-report/1");
    CHECK(document["network"]["name"] == "exp4");
    CHECK(document["network"]["sha256"] == sha256(read_file(paper + "exp4.network.json")));
    CHECK(document["environment"].contains("compiler"));
    CHECK(document["environment"].contains("scs"));
    CHECK(document["summary"]["points"] == 30);  // the queries beside the network
    CHECK(document["summary"]["failed"] == 0);
    REQUIRE(document["points"].size() == 30);
    std::size_t checks = 0, passed = 0;
    for (const json& point : document["points"]) {
        for (const json& check : point["checks"]) {
            ++checks;
            for (const char* key : {"id", "solver", "status", "figure", "bound", "class", "where", "reason"})
                CHECK(check.contains(key));
            if (check["status"] != "passed") continue;
            ++passed;
            CHECK(check["figure"].get<double>() <= check["bound"].get<double>());
        }
    }
    CHECK(document["summary"]["checks"] == checks);
    CHECK(document["summary"]["passed"] == passed);
    CHECK(document["summary"]["skipped"] == checks - passed);
}

TEST_CASE("certify samples with a seed, reproducibly") {
    const std::string base = "certify " + paper + "exp2.network.json --sample 3 --json - --seed ";
    const Run first = run_program(base + "7"), again = run_program(base + "7"), other = run_program(base + "8");
    CHECK(first.code == 0);
    CHECK(first.out == again.out);
    CHECK(json::parse(first.out)["points"][0]["x"] != json::parse(other.out)["points"][0]["x"]);
    CHECK(json::parse(first.out)["environment"]["seed"] == "7");
    const Matrix points = verify::sample_points(10, 3, 7);
    CHECK(json::parse(first.out)["environment"]["points_sha256"] ==
          sha256({reinterpret_cast<const char*>(points.data()), 30 * sizeof(double)}));
    const json given = json::parse(run_program("certify " + paper + "exp3.network.json --json -").out)["environment"];
    CHECK(given["points"] == paper + "exp3.points.json");
    CHECK(given["points_sha256"] == sha256(read_file(paper + "exp3.points.json")));
}

TEST_CASE("zeros by --tolerance are the user's: nobody judges the pair that they make, and nothing fails") {
    const Run run = run_program("certify " + paper + "exp2.network.json --solver none --tolerance 0.05 --json -");
    CHECK(run.code == 0);
    const json report = json::parse(run.out);
    CHECK(report["summary"]["failed"] == 0);
    Index judged = 0, skipped = 0;
    for (const json& point : report["points"]) {
        const bool degenerate = !point["degenerate"]["relu"].empty() || !point["degenerate"]["conic"].empty();
        for (const json& check : point["checks"]) {
            if (check["solver"] != "mosek referee") continue;
            CHECK((check["status"] == "skipped") == degenerate);
            if (degenerate) CHECK(check["reason"] == "a zero of the pattern is by --tolerance, not exact");
            ++(degenerate ? skipped : judged);
        }
    }
    if (solvers::mosek::runtime().ready) {
        CHECK(judged > 0);
        CHECK(skipped > 0);
    }
}

TEST_CASE("--sample 0 goes with --degenerate alone") {
    const std::string base = "certify " + paper + "exp3.network.json --solver none --json - --sample 0";
    CHECK(run_program(base).code == 2);
    const Run run = run_program(base + " --degenerate 4");
    CHECK(run.code == 0);
    const json report = json::parse(run.out);
    REQUIRE(report["points"].size() == 4);
    for (const json& point : report["points"])
        CHECK_FALSE(point["degenerate"]["relu"].empty());
    CHECK(report["environment"]["points"] == "4 exactly degenerate points, seed 0");
}

TEST_CASE("certify fails, with code 1, when the solver is stopped short of its tolerance") {
    // A time limit or an iteration limit is not offered yet; a tolerance below what doubles can give is.
    const Run result = run_program("certify " + paper + "exp3.network.json --solver scs --eps 1e-30");
    CHECK(result.code == 1);
    CHECK(result.out.find("NOT CERTIFIED") != std::string::npos);
    CHECK(result.out.find("failed: exp3 point 0: theorem1.strong_duality (scs)") != std::string::npos);
}

TEST_CASE("solvers lists SCS with what it can do") {
    const Run result = run_program("solvers");
    CHECK(result.code == 0);
    CHECK(result.out.find("scs 3.") == 0);
    CHECK(result.out.find("rotated second-order") != std::string::npos);
}
