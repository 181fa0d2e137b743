// PTF, MOF and SCS's binary file, pinned by hand and by SCS's own reader; the solution file; the export command; the library.
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "conic/linear_objective.hpp"
#include "conic/rotated_rows.hpp"
#include "formats/clarabel_json.hpp"
#include "formats/mof_json.hpp"
#include "formats/ptf.hpp"
#include "formats/scs_binary.hpp"
#include "hand_networks.hpp"
#include "known_programs.hpp"
#include "run_program.hpp"
#include "skip.hpp"
#include "support/gzip.hpp"
#include "verify/export_instance.hpp"
#include "verify/library.hpp"

#ifdef CERTICONE_SCS
#include <scs.h>
extern "C" scs_int _scs_read_data(const char* file, ScsData** data, ScsCone** cone, ScsSettings** settings);
#endif

using namespace certicone;
using namespace certicone::test;

namespace {

formats::Instance hand_instance() {
    const Network network = hand_network();
    const verify::KnownProgram known = verify::known_value(network, evaluate(network, vector({1.0})));
    return {"hand", known.program, known.known.x, known.known.y};
}

}  // namespace

TEST_CASE("PTF, by hand") {
    // f(1) = 30 with ν = 5, p = 8, r = ½ (hand_networks.hpp).
    CHECK(formats::to_ptf(hand_instance()) == R"(Task 'hand'
Objective
    Minimize + 5 'z[0][0]' + 4 's[0][0]' + 0.5 't[0][0]' + 6
Constraints
    'relu[0]' [POSITIVE(1)]
        'relu[0][0]': + 1 'z[0][0]' - 3
    'bound[0]' [POSITIVE(1)]
        'bound[0][0]': + 1 'z[0][0]' + 0
    'quadratic[0].link' [ZERO(1)]
        'quadratic[0].link[0]': - 1 'eta[0][0]' + 2
    'quadratic[0].cone' [RQUAD(3)]
        'quadratic[0].cone[0]': + 1 's[0][0]' + 0
        'quadratic[0].cone[1]': + 1
        'quadratic[0].cone[2]': + 1 'eta[0][0]' + 0
    'conic[0].link' [ZERO(1)]
        'conic[0].link[0]': - 1 'omega[0][0]' + 2
    'conic[0].cone' [QUAD(2)]
        'conic[0].cone[0]': + 1 't[0][0]' + 0
        'conic[0].cone[1]': + 1 'omega[0][0]' + 0
Variables
    'z[0][0]'
    's[0][0]'
    'eta[0][0]'
    't[0][0]'
    'omega[0][0]'
Solutions
    Solution interior
        SolutionStatus optimal optimal
        ProblemStatus feasible feasible
        Objective 30 30
        Variables
            'z[0][0]' [unknown] 3 0 0
            's[0][0]' [unknown] 2 0 0
            'eta[0][0]' [unknown] 2 0 0
            't[0][0]' [unknown] 2 0 0
            'omega[0][0]' [unknown] 2 0 0
        Constraints
            'relu[0]'
                'relu[0][0]' [unknown] 0 5
            'bound[0]'
                'bound[0][0]' [unknown] 3 0
            'quadratic[0].link'
                'quadratic[0].link[0]' [unknown] 0 -8
            'quadratic[0].cone'
                'quadratic[0].cone[0]' [unknown] 2 4
                'quadratic[0].cone[1]' [unknown] 1 8
                'quadratic[0].cone[2]' [unknown] 2 -8
            'conic[0].link'
                'conic[0].link[0]' [unknown] 0 -0.5
            'conic[0].cone'
                'conic[0].cone[0]' [unknown] 2 0.5
                'conic[0].cone[1]' [unknown] 2 -0.5
)");
}

TEST_CASE("MOF, by hand") {
    const auto mof = nlohmann::json::parse(formats::to_mof_json(hand_instance()));
    CHECK(mof["version"] == nlohmann::json::parse(R"({"major":1,"minor":7})"));
    CHECK(mof["variables"][2] == nlohmann::json::parse(R"({"name":"eta[0][0]","primal_start":2})"));
    CHECK(mof["objective"]["sense"] == "min");
    CHECK(mof["objective"]["function"]["constant"] == 6);
    const auto cone = mof["constraints"][3];
    CHECK(cone["name"] == "quadratic[0].cone");
    CHECK(cone["set"] == nlohmann::json::parse(R"({"type":"RotatedSecondOrderCone","dimension":3})"));
    CHECK(cone["function"]["constants"] == nlohmann::json::parse("[0,1,0]"));
    CHECK(cone["function"]["terms"][1] ==
          nlohmann::json::parse(R"({"output_index":3,"scalar_term":{"coefficient":1,"variable":"eta[0][0]"}})"));
    CHECK(cone["primal_start"] == nlohmann::json::parse("[2,1,2]"));
    CHECK(cone["dual_start"] == nlohmann::json::parse("[4,8,-8]"));
    CHECK(mof["constraints"][0]["set"]["type"] == "Nonnegatives");
    CHECK(mof["constraints"][2]["set"]["type"] == "Zeros");
    CHECK(mof["constraints"][5]["set"]["type"] == "SecondOrderCone");
}

TEST_CASE("a quadratic objective is refused where the format has none") {
    formats::Instance instance = hand_instance();
    instance.program.P.insert(0, 0) = 1.0;
    CHECK(contains(input_error([&] { formats::to_ptf(instance); }), "linear objectives only"));
    instance = hand_instance();
    instance.x.conservativeResize(2);
    CHECK(contains(input_error([&] { formats::to_mof_json(instance); }), "sizes"));
}

#ifndef CERTICONE_SCS
TEST_CASE("SCS's binary file") { usable("scs"); }
#else
namespace {

/// The bytes that SCS itself writes for the same program.
std::string written_by_scs(const conic::ConicProgram& program, const std::string& file) {
    const conic::RotatedRows rows(program);
    conic::SparseMatrix A = rows.map(program.A), P = program.P.triangularView<Eigen::Upper>();
    P.makeCompressed();
    Vector b = rows.map(program.b), c = program.c;
    const auto view = [](conic::SparseMatrix& matrix) {
        return ScsMatrix{matrix.valuePtr(), matrix.innerIndexPtr(), matrix.outerIndexPtr(),
                         static_cast<scs_int>(matrix.rows()), static_cast<scs_int>(matrix.cols())};
    };
    ScsMatrix a = view(A), p = view(P);
    ScsData data{a.m, a.n, &a, P.nonZeros() > 0 ? &p : nullptr, b.data(), c.data()};
    std::vector<scs_int> second_order(rows.second_order().begin(), rows.second_order().end());
    ScsCone cone{};
    cone.z = static_cast<scs_int>(rows.zero());
    cone.l = static_cast<scs_int>(rows.nonnegative());
    cone.q = second_order.data();
    cone.qsize = static_cast<scs_int>(second_order.size());
    ScsSettings settings;
    scs_set_default_settings(&settings);
    settings.verbose = 0;
    settings.eps_abs = settings.eps_rel = 1e-9;
    settings.write_data_filename = file.c_str();
    ScsWork* work = scs_init(&data, &cone, &settings);
    REQUIRE(work != nullptr);
    scs_finish(work);
    return read_file(file);
}

}  // namespace

TEST_CASE("SCS's binary file: its own bytes, and its own reader solves it") {
    if (formats::scs_binary_version != scs_version()) {
        left_out("SCS's binary file", "SCS " + std::string(scs_version()) + " has another layout", true);
        return;
    }
    const ScratchFolder folder;
    Index files = 0, solved = 0;
    double worst = 0.0;
    for_each_point(1, [&](const Network& network, const Vector& x, Index j) {
        for (const NamedProgram& entry : known_programs(network, x, j)) {
            CAPTURE(entry.name);
            ++files;
            const conic::ConicProgram balanced = conic::scaled(entry.known.program, entry.known.units);
            const std::string bytes = formats::to_scs_binary(balanced);
            CHECK(bytes == written_by_scs(balanced, folder / "scs"));
            const std::string file = file_with(folder, "ours.scs", bytes);
            ScsData* data = nullptr;
            ScsCone* cone = nullptr;
            ScsSettings* settings = nullptr;
            REQUIRE(_scs_read_data(file.c_str(), &data, &cone, &settings) == 0);
            CHECK(settings->eps_abs == 1e-9);
            settings->max_iters = 1'000'000;
            ScsSolution solution{};
            ScsInfo info{};
            const scs_int status = scs(data, cone, settings, &solution, &info);
            // In these units all is of size one.
            const double value =
                (entry.known.known.objective - entry.known.program.c0) / entry.known.units.unscale_objective(1.0);
            const double error = std::abs(info.pobj - value) / std::max(1.0, std::abs(value));
            for (double* part : {solution.x, solution.y, solution.s})
                std::free(part);
            if (status != SCS_SOLVED) {
                MESSAGE(entry.name << ": SCS stopped at its iteration limit, off by " << error);
                CHECK((network.name == "alpha_range" || network.name == "rescaled"));
                continue;
            }
            CHECK(error < 1e-6);
            worst = std::max(worst, error);
            ++solved;  // what SCS's reader allocated is left to the end of the process
        }
    });
    CHECK(files == 282);
    CHECK(solved >= 278);
    MESSAGE("SCS read " << files << " of its binary files and solved " << solved << ", worst error " << worst);
}
#endif

TEST_CASE("the export command: files, solution and refusals") {
    const ScratchFolder folder;
    const std::string network = paper + "exp3.network.json", out = (folder / "new/folder").string();
    const Run run = run_program("export " + network + " --program value,inference --format all --output " + out);
    CHECK(run.code == 0);
    CHECK(contains(run.out, "2 instances in "));
    for (const char* ending : {".cbf", ".ptf", ".mof.json", ".clarabel.json", ".scs", ".solution.json"})
        CHECK(std::filesystem::exists(out + "/exp3.value.0" + ending));
    const auto solution = nlohmann::json::parse(read_file(out + "/exp3.value.0.solution.json"));
    CHECK(solution["source"] == "closed form");
    CHECK(solution["objective"] == 0.435);
    CHECK(solution["dual_unique"] == false);
    CHECK(solution["dual_set"]["dimension"] == 3);
    CHECK(solution["dual_set"]["free"][0]["rows"] == nlohmann::json::parse("[0,3]"));
    CHECK(solution["dual_set"]["free"][0]["bound"] == 1.2);
    CHECK(solution["dual_set"]["free"][1]["kind"] == "ball");
    CHECK(solution["rows"][3]["name"] == "quadratic[0].cone");
    const auto inference = nlohmann::json::parse(read_file(out + "/exp3.inference.0.solution.json"));
    CHECK(inference["source"] == "white-box");
    CHECK(inference["dual_unique"].is_null());
    CHECK(inference["gap"].get<double>() < 1e-13);

    const Run packed = run_program("export " + network + " --gzip always --format cbf,ptf,mof --output " + out + "2");
    CHECK(packed.code == 0);
    CHECK(gunzip(read_file(out + "2/exp3.value.0.cbf.gz"), "x") == read_file(out + "/exp3.value.0.cbf"));
    CHECK(gunzip(read_file(out + "2/exp3.value.0.ptf.gz"), "x") == read_file(out + "/exp3.value.0.ptf"));
    CHECK(run_program("solve " + out + "2/exp3.value.0.cbf.gz").code == 0);

    const std::string directions = file_with(folder, "d.csv", "1,0\n-1,0\n");
    CHECK(run_program("export " + network + " --program max-readout --directions " + directions + " --output " + out)
              .code == 0);
    CHECK(nlohmann::json::parse(read_file(out + "/exp3.max-readout.0.0.solution.json"))["objective"].get<double>() ==
          doctest::Approx(-2.399));  // README
    CHECK(nlohmann::json::parse(read_file(out + "/exp3.max-readout.0.1.solution.json"))["objective"].get<double>() ==
          doctest::Approx(-1.401));

    const auto refused = [&](const std::string& arguments, const char* part) {
        const Run bad = run_program("export " + arguments);
        CHECK(bad.code == 2);
        CHECK(std::count(bad.err.begin(), bad.err.end(), '\n') == 1);
        CHECK_MESSAGE(contains(bad.err, part), bad.err);
    };
    refused("", "a network is needed");
    refused(network, "--output is needed");
    refused(network + " --output " + out + " --program nonsense", "--program nonsense");
    refused(network + " --output " + out + " --format mps", "--format mps");
    refused(network + " --output " + out + " --gzip maybe", "--gzip maybe");
    refused(network + " --output " + network, "cannot be made a folder");
    refused(network + " --output " + out + " --program inference --beta -1", "expected a number > 0");
    refused(network + " --library " + out, "--library takes neither");
    refused(network + " --output " + out + " --points " + out + "/missing.json", "no such file");

    // Another instance of the same name: nothing of the first is replaced; the same again, in another format, is.
    const std::string kept = read_file(out + "/exp3.value.0.cbf");
    refused(network + " --output " + out + " --points " + file_with(folder, "p.csv", "1,1\n"),
            "exp3.value.0.cbf: is there already");
    CHECK(read_file(out + "/exp3.value.0.cbf") == kept);
    CHECK(run_program("export " + network + " --format cbf,mof --output " + out).code == 0);
}

TEST_CASE("export of inference honours what the queries file says, and solve agrees") {
    const ScratchFolder folder;
    const std::string network = paper + "exp3.network.json";
    const auto exported = [&](const std::string& name, const std::string& queries, const std::string& options = "") {
        const std::string file = file_with(folder, name + ".json", queries), out = (folder / name).string();
        const Run run = run_program("export " + network + " --program inference --points " + file + " --output " + out +
                                    " --format cbf" + options);
        REQUIRE_MESSAGE(run.code == 0, run.err);
        const std::string stem = out + "/exp3.inference.0";
        // infer proves the minimum of the same file, and a solver finds it from the exported one.
        const Run infer = run_program("infer " + network + " --queries " + file + " --json -" + options);
        REQUIRE_MESSAGE(infer.code == 0, infer.err);
        const auto solution = nlohmann::json::parse(read_file(stem + ".solution.json"));
        CHECK(solution["objective"].get<double>() ==
              doctest::Approx(nlohmann::json::parse(infer.out)["queries"][0]["value"].get<double>()).epsilon(1e-10));
        const Run solve = run_program("solve " + stem + ".cbf --solution " + stem + ".solution.json");
        CHECK_MESSAGE(solve.code == 0, solve.out);
        return solution;
    };
    const auto beta = exported("beta", R"({"beta":5,"queries":[[1,-2]]})");
    CHECK(beta["origin"]["beta"] == 5.0);
    const auto Q = exported("Q", R"({"Q":[[2,1],[1,3]],"queries":[[1,-2]]})");
    CHECK(Q["origin"]["Q"] == nlohmann::json::parse("[[2.0,1.0],[1.0,3.0]]"));
    CHECK_FALSE(Q["origin"].contains("beta"));
    const auto q = exported("q", R"({"beta":5,"q":[3,-4],"queries":[[1,-2]]})");
    CHECK(q["origin"]["q"] == nlohmann::json::parse("[3.0,-4.0]"));
    const auto bounded =
        exported("C", R"({"beta":5,"queries":[[1,-2]],"upper":[0.5,null],"lower":[null,-1],"C":[[1,1]],"h":[-0.75]})");
    CHECK(bounded["origin"]["C"] == nlohmann::json::parse("[[1.0,1.0],[1.0,0.0],[-0.0,-1.0]]"));
    CHECK(bounded["origin"]["h"] == nlohmann::json::parse("[-0.75,0.5,1.0]"));
    bool constrained = false;
    for (const auto& row : bounded["rows"])
        constrained = constrained || (row["name"] == "constraints" && row["size"] == 3);
    CHECK(constrained);
    // Four problems, four minima.
    std::set<double> minima;
    for (const auto& solution : {beta, Q, q, bounded})
        minima.insert(solution["objective"].get<double>());
    CHECK(minima.size() == 4);
    CHECK(exported("given", R"({"queries":[[1,-2]]})", " --beta 5")["objective"] == beta["objective"]);

    const auto refused = [&](const std::string& queries, const char* part) {
        const Run bad = run_program("export " + network + " --program inference --points " +
                                    file_with(folder, "bad.json", queries) + " --output " + (folder / "bad").string());
        CHECK(bad.code == 2);
        CHECK_MESSAGE(contains(bad.err, part), bad.err);
    };
    refused(R"({"beta":5,"queries":[[1,-2]],"lower":[1,1],"upper":[0,1]})", "keeps to the constraints");
    refused(R"({"Q":[[1,0],[0,-1]],"queries":[[1,-2]]})", "eigenvalue -1");
    refused(R"({"beta":0,"queries":[[1,-2]]})", "beta is 0");
}

TEST_CASE("the library: at least 60 instances, graded, indexed, exact, and the same every time") {
    const ScratchFolder one, two;
    CHECK(run_program("export --library " + one.path.string() + " --seed 3").code == 0);
    CHECK(run_program("export --library " + two.path.string() + " --seed 3").code == 0);
    const auto index = nlohmann::json::parse(read_file((one / "index.json").string()));
    CHECK(read_file((one / "index.json").string()) == read_file((two / "index.json").string()));
    CHECK(index["instances"].size() >= 60);
    Index smallest = 1 << 30, largest = 0;
    std::set<std::string> families;
    std::set<Index> dimensions;
    for (const auto& entry : index["instances"]) {
        CAPTURE(entry["name"].get<std::string>());
        families.insert(entry["family"]);
        smallest = std::min(smallest, entry["nonzeros"].get<Index>());
        largest = std::max(largest, entry["nonzeros"].get<Index>());
        const std::string stem = (one / entry["name"].get<std::string>()).string();
        const auto solution = nlohmann::json::parse(read_file(stem + ".solution.json"));
        CHECK(solution["objective"] == entry["objective"]);
        CHECK(std::stod(entry["objective_text"].get<std::string>()) == entry["objective"].get<double>());
        for (const std::string file : entry["files"])
            CHECK(read_file((one / file).string()) == read_file((two / file).string()));
        if (entry["family"] == "dual-dimension") {
            CHECK(std::to_string(entry["dual_dimension"].get<Index>()) == entry["parameter"].get<std::string>());
            dimensions.insert(entry["dual_dimension"].get<Index>());
        }
        if (entry["family"] == "degenerate-units")
            CHECK(std::to_string(entry["zero_units"].get<Index>()) == entry["parameter"].get<std::string>());
        if (entry["family"] == "nearly-degenerate") {
            CHECK(entry["dual_unique"] == true);
            CHECK(entry["smallest_preactivation"].get<double>() ==
                  doctest::Approx(std::stod(entry["parameter"].get<std::string>())).epsilon(1e-3));
        }
        if (entry["family"] == "nondegenerate") CHECK(entry["dual_unique"] == true);
        const std::string packed = std::filesystem::exists(stem + ".cbf") ? ".cbf" : ".cbf.gz";
        const Run run = run_program("solve " + stem + packed + " --solution " + stem + ".solution.json");
        CHECK_MESSAGE(run.code == 0, run.out, run.err);
    }
    CHECK(smallest <= 10);
    CHECK(largest >= 100'000);
    CHECK(families == std::set<std::string>{"nondegenerate", "degenerate-units", "vanishing-residuals", "growth",
                                            "nearly-degenerate", "dual-dimension", "programs"});
    CHECK(dimensions.size() == 10);
    CHECK(contains(read_file((one / "index.md").string()), "| dual-dimension-100 | value |"));
}

TEST_CASE("100,000 nonzeros are written in under a second, in every format") {
    const ScratchFolder folder;
    conic::Builder builder;
    builder.add_columns("x", 1000);
    builder.add_rows("rows", conic::Cone::Nonnegative, 1000);
    Random random(1);
    for (Index k = 0; k < 110'000; ++k)
        builder.set(random_index(0, 999, random), random_index(0, 999, random),
                    1.0 + 1e-3 * static_cast<double>(k) / 7.0);
    verify::KnownProgram known;
    known.program = builder.build();
    known.units = conic::no_scaling(known.program);
    REQUIRE(known.program.A.nonZeros() >= 100'000);
    known.known.x = Vector::Constant(1000, 1.0 / 3.0);
    known.known.y = Vector::Constant(1000, 2.0 / 3.0);
    known.known.dual_unique = true;
    const auto timed = [&](std::vector<std::string> format) {
        const auto begin = std::chrono::steady_clock::now();
        verify::export_instance("big", "value", known, {}, {folder.path.string(), std::move(format)});
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (const std::string_view format : verify::export_formats) {
        const double seconds = timed({std::string(format)});
        MESSAGE(std::string(format) << ": " << seconds << " s");
        CHECK(seconds < 1.0);
    }
}
