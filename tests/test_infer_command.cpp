// `certicone infer`: its file formats, exit codes and both methods; socp agrees with white-box.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "geometry/exact_multipliers.hpp"
#include "inference/queries.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"
#include "skip.hpp"
#include "verify/infer.hpp"

using namespace certicone;
using namespace certicone::test;
using nlohmann::json;

namespace {

const std::string network4 = paper + "exp4.network.json", queries4 = paper + "exp4.queries.json";

Vector as_vector(const json& list) {
    Vector vector(static_cast<Index>(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i)
        vector(static_cast<Index>(i)) = list[i].get<double>();
    return vector;
}

std::vector<Vector> as_blocks(const json& list) {
    std::vector<Vector> blocks;
    for (const json& block : list)
        blocks.push_back(as_vector(block));
    return blocks;
}

void check_refused(const std::string& arguments, const std::string& must_name) {
    const Run result = run_program("infer " + arguments);
    INFO(arguments << "\n" << result.err);
    CHECK(result.code == 2);
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
    CHECK(result.err.find(must_name) != std::string::npos);
}

}  // namespace

TEST_CASE("infer: a reader recomputes every bound from certicone-inference/1 alone") {
    const Network network = read_network(network4);
    for (const std::string method : {"white-box", "socp"}) {
        const Run result =
            run_program("infer " + network4 + " --queries " + queries4 + " --method " + method + " --json -");
        REQUIRE(result.code == 0);
        const json document = json::parse(result.out);
        CHECK(document["format"] == "certicone-inference/1");
        REQUIRE(document["queries"].size() == 30);
        for (const json& query : document["queries"]) {
            for (const char* key :
                 {"y", "x", "value", "lower_bound", "gap", "xi", "kinks", "iterations", "milliseconds"})
                REQUIRE(query.contains(key));
            const Vector x = as_vector(query["x"]), y = as_vector(query["y"]);
            const Multipliers xi{as_blocks(query["xi"]["nu"]), as_blocks(query["xi"]["p"]),
                                 as_blocks(query["xi"]["r"])};
            CHECK(exactly_feasible(network, xi));
            const double value = evaluate(network, x).value + 5.0 * (x - y).squaredNorm();
            const double bound = psi(network, y, xi) - readout(network, xi).squaredNorm() / 20.0;
            CHECK(query["value"].get<double>() == doctest::Approx(value).epsilon(1e-13));
            CHECK(query["lower_bound"].get<double>() == doctest::Approx(bound).epsilon(1e-13));
            CHECK(value - bound <= (method == "socp" ? 1e-8 : 1e-12) * std::abs(value));
            for (const json& kink : query["kinks"]) {
                const auto l = kink[0].get<std::size_t>();
                const auto i = kink[1].get<Index>();
                CHECK(xi.nu[l](i) > 0.0);
                CHECK(xi.nu[l](i) < upper_bound(network, xi.nu, l)(i));
            }
        }
    }
}

TEST_CASE("infer: socp by every capable backend closes Experiment 4 to 1e-8") {
    for (const char* name : {"clarabel", "scs"}) {
        if (!usable(name)) continue;
        const Run result =
            run_program("infer " + network4 + " --queries " + queries4 + " --method socp --solver " + name);
        INFO(result.out << result.err);
        CHECK(result.code == 0);
        CHECK(result.out.find("30 proved to a relative gap of 1e-08") != std::string::npos);
    }
}

TEST_CASE("infer: the two methods prove each other right, constraints and general quadratics included") {
    if (!usable("clarabel")) return;
    const solvers::Backend& backend = solvers::backend("clarabel");
    Random random(91);
    solvers::Settings settings;
    settings.eps_abs = settings.eps_rel = 1e-10;
    int infeasible = 0;
    for (int trial = 0; trial < 40; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const Index d0 = network.input_dim, rows = random_index(0, 4, random);
        InferenceProblem problem = proximity(network, std::pow(10.0, trial % 3 - 1), random_vector(d0, random, 2.0));
        const Matrix root = random_matrix(d0, d0, random);
        problem.Q += root * root.transpose();
        problem.Q = 0.5 * (problem.Q + Matrix(problem.Q.transpose()));
        problem.q = random_vector(d0, random);
        problem.C = random_matrix(rows, d0, random);
        problem.h = random_vector(rows, random);
        const WhiteBoxResult own = white_box_inference(problem);
        verify::SocpInference socp(problem, backend, settings);
        const WhiteBoxResult other = socp.solve(problem.y).result;
        INFO("trial ", trial);
        REQUIRE(own.infeasible.has_value() == other.infeasible.has_value());
        if (own.infeasible) {
            ++infeasible;
            CHECK(other.infeasible->radius > 1e3);
            continue;
        }
        // Each value is an upper bound (up to the solver's violation of the constraints), each bound a lower one.
        const double size = value_size(network, own.certificate.x) + std::abs(own.certificate.value);
        CHECK(own.certificate.value >= other.certificate.lower_bound - 1e-12 * size);
        CHECK(own.certificate.value - own.certificate.lower_bound <= 1e-11 * size);
        CHECK(std::abs(other.certificate.value - own.certificate.value) <= 1e-6 * size);
    }
    CHECK(infeasible >= 1);
}

TEST_CASE("infer: socp from query to query, from 0 to 1e5 and back, calls nothing infeasible that has no constraints") {
    const std::string stem = std::string(CERTICONE_DATA_DIR) + "/suite/homogeneous";
    const Network network = read_network(stem + ".network.json");
    const Matrix points = read_points(stem + ".points.json", network.input_dim);
    for (const char* name : {"clarabel", "scs"}) {
        const solvers::Backend& backend = solvers::backend(name);
        if (!usable(name)) continue;
        const InferenceProblem problem = proximity(network, 1.0, points.col(0));
        solvers::Settings settings;
        settings.eps_abs = settings.eps_rel = 1e-10;
        verify::SocpInference socp(problem, backend, settings);
        for (Index j = 0; j < points.cols(); ++j) {
            const WhiteBoxResult found = socp.solve(points.col(j)).result;
            INFO(name, " query ", j, " gap ", found.certificate.gap);
            CHECK_FALSE(found.infeasible.has_value());
            if (points.col(j).norm() < 1e-3) continue;  // F is 1e-14, what the solver was asked for 1e-10
            CHECK(found.certificate.gap <= 1e-8 * std::abs(found.certificate.value));
        }
    }
}

namespace {

/// Calls everything infeasible, and has nothing to show for it.
class Liar : public solvers::Backend {
  public:
    std::string_view name() const override { return "liar"; }
    std::string version() const override { return "1"; }
    solvers::Capabilities capabilities() const override { return solvers::backend("scs").capabilities(); }
    std::span<const solvers::Option> options() const override { return {}; }
    solvers::Readiness available() const override { return {true, ""}; }

  private:
    struct Lies : solvers::Workspace {
        explicit Lies(conic::ConicProgram program) : Workspace(std::move(program)) {}
        solvers::Solution run(bool, bool, bool) override {
            solvers::Solution answer;
            answer.claimed.status = solvers::Status::Infeasible;
            answer.x = Vector::Constant(program().columns(), std::numeric_limits<double>::quiet_NaN());
            answer.s = Vector::Zero(program().rows());
            answer.y = Vector::Zero(program().rows());
            return answer;
        }
    };
    std::unique_ptr<solvers::Workspace> setup(conic::ConicProgram program, const solvers::Settings&) const override {
        return std::make_unique<Lies>(std::move(program));
    }
};

}  // namespace

TEST_CASE("infer: a solver that calls infeasible what it cannot prove so is not repeated, but gets a gap") {
    Random random(93);
    const Network network = random_network({3, {4}, {2}, {2}}, random);
    InferenceProblem problem = proximity(network, 1.0, random_vector(3, random));
    const Liar liar;
    for (const Index rows : {0, 2}) {
        problem.C = random_matrix(rows, 3, random);
        problem.h = Vector::Constant(rows, 100.0);
        verify::SocpInference socp(problem, liar, {});
        const WhiteBoxResult found = socp.solve(problem.y).result;
        CHECK_FALSE(found.infeasible.has_value());
        CHECK(found.certificate.x.allFinite());
        CHECK(found.certificate.gap > 0.0);
        CHECK(found.certificate.lower_bound <= white_box_inference(problem).certificate.value);
    }
}

TEST_CASE("infer: its certificate is verified by the checker, and refuted when it claims more") {
    const ScratchFolder folder;
    const std::string file = folder / "infer.certificate.json";
    REQUIRE(run_program("infer " + network4 + " --queries " + queries4 + " --certificate " + file).code == 0);
    const Run verified = run_program("check " + file + " --network " + network4);
    INFO(verified.out << verified.err);
    CHECK(verified.code == 0);
    CHECK(verified.out.find("30 points, 30 claims") != std::string::npos);
    const std::string forged = replaced(read_file(file), "\"beta\":\"0x", "\"beta\":\"0x1");
    CHECK(run_program("check " + file_with(folder, "forged.json", forged) + " --network " + network4).code == 1);
}

TEST_CASE("infer: exit codes") {
    const ScratchFolder folder;
    CHECK(run_program("infer " + network4 + " --queries " + queries4).code == 0);
    const Run open = run_program("infer " + network4 + " --queries " + queries4 + " --gap 1e-40");
    CHECK(open.code == 1);
    CHECK(open.err.find("not closed") != std::string::npos);
    const std::string box = R"("queries":[[0,0,0,0,0,0,0,0,0,0]],"lower":[1,1,1,1,1,1,1,1,1,1],)"
                            R"("upper":[0,null,2,2,2,2,2,2,2,2]})";
    const Run infeasible =
        run_program("infer " + network4 + " --queries " + file_with(folder, "box.json", "{\"beta\":1," + box));
    CHECK(infeasible.code == 1);
    CHECK(infeasible.out.find("keeps to the constraints") != std::string::npos);

    int number = 0;
    const auto refuse = [&](const std::string& content, const std::string& must_name) {
        const std::string path = file_with(folder, fmt::format("bad{}.json", number++), content);
        check_refused(network4 + " --queries " + path, must_name);
    };
    const std::string query = R"("queries":[[0,0,0,0,0,0,0,0,0,0]])";
    refuse(R"({"beta":0,)" + query + "}", "beta is 0");
    refuse(R"({"beta":-1,)" + query + "}", "beta is -1");
    refuse(R"({"beta":"x",)" + query + "}", "beta");
    refuse("{" + query + "}", "beta");
    refuse(R"({"beta":1,"queries":[[0,0]]})", "expected 10");
    refuse(R"({"beta":1,"queries":[]})", "no points");
    refuse(R"({"beta":1,"Q":[[1]],)" + query + "}", "both beta and Q");
    refuse(R"({"Q":[[1]],)" + query + "}", "Q[0] has 1 entries");
    refuse(R"({"beta":1,"C":[[1,0,0,0,0,0,0,0,0,0]],)" + query + "}", "C without h");
    refuse(R"({"beta":1,"C":[[1,0,0,0,0,0,0,0,0,0]],"h":[1,2],)" + query + "}", "h has 2 entries");
    refuse(R"({"beta":1,"q":[1],)" + query + "}", "q has 1 entries");
    refuse(R"({"beta":1,"upper":[1,2],)" + query + "}", "upper has 2 entries");
    refuse(R"({"beta":1,"bounds":[1,2],)" + query + "}", "bounds");
    std::string Q = "[", crooked = "[";
    for (int i = 0; i < 10; ++i) {
        Q += i > 0 ? ",[" : "[";
        crooked += i > 0 ? ",[" : "[";
        for (int j = 0; j < 10; ++j) {
            Q += fmt::format("{}{}", j > 0 ? "," : "", i == j ? (i == 3 ? -1 : 1) : 0);
            crooked += fmt::format("{}{}", j > 0 ? "," : "", i == j ? 1 : i < j ? 0.5 : 0.25);
        }
        Q += "]";
        crooked += "]";
    }
    refuse(R"({"Q":)" + Q + "]," + query + "}", "eigenvalue -1");
    refuse(R"({"Q":)" + crooked + "]," + query + "}", "symmetric");
    check_refused(network4 + " --queries " + queries4 + " --beta -3", "beta");
    check_refused(network4 + " --queries " + queries4 + " --gap 0", "--gap");
    check_refused(network4 + " --queries " + queries4 + " --method newton", "newton");
    check_refused(network4 + " --queries " + queries4 + " --method socp --solver nobody", "nobody");
    CHECK(run_program("infer " + network4 + " --queries " + queries4 + " --method socp --solver highs").code == 2);
    // Refused before anything is solved: no table, no file.
    const auto refuse_early = [&](const std::string& options, const std::string& must_name) {
        const Run result = run_program("infer " + network4 + options);
        INFO(options << "\n" << result.err);
        CHECK(result.code == 2);
        CHECK(result.out.empty());
        CHECK(contains(result.err, must_name));
    };
    const std::string to = " --certificate " + (folder / "c.json").string(), all = " --queries " + queries4;
    refuse_early(
        " --queries " + file_with(folder, "q.json", R"({"beta":1,"q":[1,0,0,0,0,0,0,0,0,0],)" + query + "}") + to,
        "without constraints only");
    refuse_early(
        " --queries " + file_with(folder, "u.json", R"({"beta":1,"upper":[1,1,1,1,1,1,1,1,1,1],)" + query + "}") + to,
        "without constraints only");
    CHECK_FALSE(std::filesystem::exists(folder / "c.json"));
    refuse_early(all + " --json " + (folder / "no/such.json").string(), "no/such.json: cannot write");
    refuse_early(all + " --certificate " + (folder / "no/such.json").string(), "no/such.json: cannot write");
    refuse_early(all + " --certificate " + folder.path.string(), "is a directory");
    refuse_early(all + to + " --json " + (folder / "c.json").string(), "cannot both go there");
    refuse_early(all + " --threads -1", "--threads");
    refuse_early(all + " --method socp --solver highs", "does not support");
    const std::string csv = file_with(folder, "points.csv", "0,0,0,0,0,0,0,0,0,0\n1,1,1,1,1,1,1,1,1,1\n");
    check_refused(network4 + " --queries " + csv, "beta");
    CHECK(run_program("infer " + network4 + " --queries " + csv + " --beta 2").code == 0);
}
