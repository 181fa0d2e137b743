// `certicone reproduce`: the paper's figures on its own draws, the five methods of Experiment 4, the rules of agreement.
#include <doctest/doctest.h>

#include <Eigen/LU>
#include <nlohmann/json.hpp>

#include "inference/methods.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/reproduce.hpp"

using namespace certicone;
using namespace certicone::verify;
using namespace certicone::test;

namespace {

const Figure& figure(const Experiment& experiment, std::string_view name) {
    for (const FigureTable& table : experiment.tables)
        for (const Figure& figure : table.figures)
            if (figure.name == name) return figure;
    FAIL("no figure " << name);
    return experiment.tables[0].figures[0];
}

/// Prints what differs without a known cause.
void check_reproduced(const Experiment& experiment) {
    for (const FigureTable& table : experiment.tables)
        for (const Figure& figure : table.figures) {
            INFO(figure.name << ": " << figure.ours << ", " << figure.reason);
            CHECK(figure.verdict != Verdict::differs);
        }
}

void check_printed(const Experiment& experiment, std::string_view name) {
    const Figure& found = figure(experiment, name);
    INFO(name << ": " << found.ours);
    REQUIRE(found.paper);
    CHECK(std::abs(found.ours - found.paper->value()) <= found.paper->half_unit() * (1.0 + 1e-9));
}

const Experiment& experiment4() {
    static const Experiment experiment = reproduce("exp4", test::paper);
    return experiment;
}

struct Queries {
    Network network = read_network(test::paper + "exp4.network.json");
    Matrix points = read_points(test::paper + "exp4.queries.json", network.input_dim);
    Curvature curvature{network};

    QueryObjective objective(Index query) const { return {network, curvature, points.col(query), 10.0}; }
};

/// α/2 ‖Bx + e‖² + λ‖x‖ and a unit that nothing weighs.
Network smooth_network(double lambda) {
    Network network;
    network.input_dim = 2;
    network.layers = {{Matrix::Ones(1, 2), Matrix(), Vector::Ones(1)}};
    network.c = Vector::Zero(1);
    network.v = Vector{{0.5, -0.25}};
    network.quadratic = {{2.0, Matrix{{1.0, 2.0}, {0.0, 1.0}}, Vector{{1.0, -1.0}}}};
    network.conic = {{lambda, Matrix::Identity(2, 2), Vector::Zero(2)}};
    return network;
}

}  // namespace

TEST_CASE("reproduce: printed figures know their digits") {
    CHECK(Printed{"4.75e-15"}.value() == 4.75e-15);
    CHECK(Printed{"4.75e-15"}.half_unit() == doctest::Approx(5e-18).epsilon(1e-12));
    CHECK(Printed{"1e-4"}.half_unit() == doctest::Approx(5e-5).epsilon(1e-12));
    CHECK(Printed{"458.6"}.half_unit() == doctest::Approx(0.05).epsilon(1e-12));
    CHECK(Printed{"250"}.half_unit() == 0.5);
    CHECK(Printed{"1.0000"}.decimals() == 4);
    CHECK_FALSE(Printed{"1.0000"}.scientific());
}

TEST_CASE("reproduce: the rules of agreement") {
    const Printed printed{"3.32e-1"};
    CHECK(rule::printed("", printed, 0.3324).verdict == Verdict::agrees);
    CHECK(rule::printed("", printed, 0.3326).verdict == Verdict::differs);
    CHECK(rule::printed("", printed, std::nan("")).verdict == Verdict::differs);
    CHECK(rule::noise("", printed, 0.3326, 1e-4, "").verdict == Verdict::agrees);
    CHECK(rule::noise("", printed, 0.3327, 1e-4, "").verdict == Verdict::differs);
    const Printed error{"2.76e-15"};
    CHECK(rule::rounding("", error, 2e-14, 1e-12).verdict == Verdict::agrees);
    CHECK(rule::rounding("", error, 3e-14, 1e-12).verdict == Verdict::differs);     // another order
    CHECK(rule::rounding("", error, 2.76e-15, 1e-15).verdict == Verdict::differs);  // more than rounding
    CHECK(rule::rounding("", error, 0.0, 1e-12).verdict == Verdict::differs);
    CHECK(rule::spread("", {"458.6"}, 484.9, 458.6, 485.0).verdict == Verdict::agrees);
    CHECK(rule::spread("", {"458.6"}, 484.9, 458.7, 485.0).verdict == Verdict::differs);
    CHECK(rule::time("", {"10.36"}, 1e9).verdict == Verdict::shown);
    const Figure off = rule::printed("", printed, 0.4);
    CHECK(explained(off, true, "known").verdict == Verdict::explained);
    CHECK(explained(off, true, "known").reason == "known");
    CHECK(explained(off, false, "known").verdict == Verdict::differs);
    CHECK(explained(rule::printed("", printed, 0.332), true, "known").verdict == Verdict::agrees);
}

TEST_CASE("reproduce: Experiment 1, whose L2 error is another network's") {
    const Experiment experiment = reproduce("exp1", test::paper);
    check_reproduced(experiment);
    for (const char* name : {"Trials", "Retained Rate", "Cosine Sim."})
        check_printed(experiment, name);
    CHECK(figure(experiment, "Grad L2 Err").verdict == Verdict::explained);
    CHECK(figure(experiment, "Grad Rel. Err").verdict == Verdict::agrees);
    CHECK(figure(experiment, "mean of |grad f|").ours == doctest::Approx(1141.4).epsilon(1e-4));
}

TEST_CASE("reproduce: Experiment 2, all figures agree") {
    const Experiment experiment = reproduce("exp2", test::paper);
    check_reproduced(experiment);
    for (const char* name : {"Trials", "MinEig (Formula)", "MinEig (Autodiff)", "Retained Rate, radius 1e-4",
                             "Retained Rate, radius 3e-4", "Retained Rate, radius 1e-3", "Approx. Error, radius 1e-3"})
        check_printed(experiment, name);
    CHECK(count_figures(std::span(&experiment, 1)).explained == 0);
}

TEST_CASE("reproduce: Experiment 3, all figures agree and the subdifferential is a segment and a disc") {
    const Experiment experiment = reproduce("exp3", test::paper);
    check_reproduced(experiment);
    for (const char* name : {"Directions", "Canonical Gap Frac.", "Max Violation", "Min Support Margin"})
        check_printed(experiment, name);
    REQUIRE(experiment.picture);
    SubdifferentialPicture picture = *experiment.picture;
    CHECK(picture.consistent());
    CHECK(picture.branches == 5000);
    REQUIRE(picture.support.size() == 24);
    CHECK(picture.rounding < 1e-12);
    CHECK(picture.segment.isApprox(Vector{{1.2, 0.36}}, 1e-15));  // c₀W₀
    CHECK(picture.radius == 1.3);
    CHECK(picture.support[0].closed_form == doctest::Approx(2.399).epsilon(1e-14));  // by hand in the README
    CHECK(picture.support[12].closed_form == doctest::Approx(1.401).epsilon(1e-14));
    picture.support[3].max_readout += 1e-9;
    CHECK_FALSE(picture.consistent());
}

TEST_CASE("reproduce: Experiment 4, all figures but a quotient of roundings agree") {
    const Experiment& experiment = experiment4();
    check_reproduced(experiment);
    CHECK(contains(experiment.note, "were chosen among"));
    for (const char* name :
         {"WhiteBox-Newton: Iter.", "AD-Newton: Iter.", "WhiteBox-GD: Gap to Best Obs.",
          "WhiteBox-Newton: Gap to Best Obs.", "AD-GD: Gap to Best Obs.", "AD-Newton: Gap to Best Obs.",
          "L-BFGS: Gap to Best Obs.", "L-BFGS: Backtracks", "Mean min. ReLU margin", "Mean min. conic residual"})
        check_printed(experiment, name);
}

TEST_CASE("methods: L-BFGS meets torch's on these queries") {
    const Queries queries;
    for (const Derivatives source : {Derivatives::autodiff, Derivatives::closed_form}) {
        double gradient_norm = 0.0, evaluations = 0.0, residual = 0.0;
        for (Index q = 0; q < 30; ++q) {
            const MethodResult result = lbfgs(queries.objective(q), source);
            gradient_norm += result.gradient_norm / 30.0;
            evaluations += result.evaluations / 30.0;
            residual += evaluate(queries.network, result.x).conic_norm.minCoeff() / 30.0;
            CHECK(result.iterations <= result.evaluations);
        }
        CHECK(std::abs(gradient_norm - 0.11339) <= 5e-6);
        CHECK(std::abs(evaluations - 29.33) <= 0.5);  // 29.33 here; other roundings may cost a query some evaluations
        CHECK(std::abs(residual - 1.536) <= 5e-4);
    }
}

TEST_CASE("methods: closed forms and automatic differentiation take the same steps") {
    const Queries queries;
    MethodOptions few;
    few.gradient_iterations = few.newton_iterations = 3;
    for (Index q = 0; q < 30; ++q) {
        const QueryObjective objective = queries.objective(q);
        for (const auto& [white_box, autodiff] : {std::pair{Method::white_box_gd, Method::autodiff_gd},
                                                  std::pair{Method::white_box_newton, Method::autodiff_newton}}) {
            const MethodResult ours = run_method(white_box, objective, few),
                               other = run_method(autodiff, objective, few);
            CHECK(ours.iterations == other.iterations);
            CHECK(ours.evaluations == other.evaluations);
            CHECK((ours.x - other.x).norm() <= 1e-13 * ours.x.norm());
        }
        // Where Newton converges, strong convexity bounds the distance of the ends: ‖x − x*‖ ≤ ‖∇F‖/β.
        const MethodResult ours = newton(objective, Derivatives::closed_form);
        const MethodResult other = newton(objective, Derivatives::autodiff);
        if (ours.gradient_norm > 1e-8 || other.gradient_norm > 1e-8) continue;
        CHECK((ours.x - other.x).norm() <= (ours.gradient_norm + other.gradient_norm) / 10.0);
        CHECK(ours.iterations < 10);
    }
}

TEST_CASE("methods: all five find a minimiser known in closed form") {
    const Network network = smooth_network(0.0);
    const Curvature curvature(network);
    const Vector y{{3.0, -2.0}};
    const double beta = 0.5;
    const Quadratic& module = network.quadratic[0];
    const Matrix system = module.alpha * module.B.transpose() * module.B + beta * Matrix::Identity(2, 2);
    const Vector minimiser =
        system.partialPivLu().solve(beta * y - network.v - module.alpha * module.B.transpose() * module.e);
    const QueryObjective objective(network, curvature, y, beta);
    for (const Method method : kMethods) {
        INFO(to_string(method));
        const MethodResult result = run_method(method, objective);
        // L-BFGS stops where F decreases by less than 1e-14.
        CHECK(result.gradient_norm <= (method == Method::lbfgs ? 1e-6 : 1e-8));
        CHECK((result.x - minimiser).norm() <= result.gradient_norm / beta + 1e-14);  // strong convexity
        CHECK(result.value == objective.value(result.x));
        CHECK(result.derivative_seconds <= result.seconds);
        if (method == Method::white_box_newton) CHECK(result.iterations <= 3);
    }
}

TEST_CASE("methods: counts of a step that every backtrack rejects") {
    // At y = 0, the kink of λ‖x‖ and the minimiser, the canonical slope is v: every step along it climbs.
    Network network = smooth_network(10.0);
    network.quadratic.clear();
    const Curvature curvature(network);
    const QueryObjective objective(network, curvature, Vector::Zero(2), 1.0);
    MethodOptions one;
    one.gradient_iterations = one.newton_iterations = 1;
    for (const Method method : {Method::white_box_gd, Method::white_box_newton, Method::autodiff_gd}) {
        INFO(to_string(method));
        const MethodResult result = run_method(method, objective, one);
        CHECK(result.backtracks == 30);
        CHECK(result.evaluations == 32);  // at y, 30 steps, the fallback
        CHECK(result.x.isApprox(-1e-4 * network.v, 1e-14));
    }
}

TEST_CASE("methods: L-BFGS on Rosenbrock's valley") {
    int calls = 0;
    const LbfgsResult result = lbfgs(
        [&](const Vector& x, Vector& gradient) {
            ++calls;
            const double a = 1.0 - x(0), b = x(1) - x(0) * x(0);
            gradient = Vector{{-2.0 * a - 400.0 * x(0) * b, 200.0 * b}};
            return a * a + 100.0 * b * b;
        },
        Vector{{-1.2, 1.0}});
    CHECK((result.x - Vector::Ones(2)).norm() < 1e-7);
    CHECK(result.evaluations == calls);
    CHECK(calls < 60);
}

TEST_CASE("reproduce: the command's JSON, and nothing else on standard output") {
    const Run run = run_program("reproduce exp3 exp1 --json -");
    CHECK(run.code == 0);
    CHECK(run.err.empty());
    const auto json = nlohmann::json::parse(run.out);
    CHECK(json["format"] == "certicone-reproduction/1");
    REQUIRE(json["experiments"].size() == 2);
    CHECK(json["experiments"][0]["id"] == "exp3");
    CHECK(json["experiments"][0]["subdifferential"]["support"].size() == 24);
    CHECK(json["experiments"][0]["subdifferential"]["consistent"] == true);
    CHECK(json["experiments"][1]["subdifferential"].is_null());
    const auto& error = json["experiments"][1]["tables"][0]["figures"][2];
    CHECK(error["name"] == "Grad L2 Err");
    CHECK(error["paper"] == 4.75e-15);
    CHECK(error["printed"] == "4.75e-15");
    CHECK(error["verdict"] == "differs (explained)");
    CHECK(json["summary"]["differs"] == 0);
    CHECK(json["summary"]["explained"] == 1);
    // Two runs give the same numbers, and they read back to the same doubles.
    const Experiment again = reproduce("exp3", test::paper);
    CHECK(json["experiments"][0]["tables"][0]["figures"][1]["ours"].get<double>() == again.tables[0].figures[1].ours);
}

TEST_CASE("reproduce: the command's text, its file and its exit codes") {
    const ScratchFolder folder;
    const Run text = run_program("reproduce exp3 --json " + (folder / "out.json").string());
    CHECK(text.code == 0);
    CHECK(contains(text.out, "Min Support Margin"));
    CHECK(contains(text.out, "reproduced: 7 agree, 0 differ for a reason measured here, 0 differ"));
    CHECK(nlohmann::json::parse(read_file(folder / "out.json"))["experiments"].size() == 1);

    const auto refused = [](const std::string& arguments, std::string_view part) {
        const Run run = run_program(arguments);
        INFO(run.err);
        CHECK(run.code == 2);
        CHECK(run.out.empty());
        CHECK(contains(run.err, part));
        CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
    };
    refused("reproduce exp5", "exp5");
    refused("reproduce exp1 --data " + folder.path.string(), "exp1.network.json");
    for (const char* name : {"exp3.network.json", "exp3.points.json", "exp4.network.json"})
        std::filesystem::copy_file(test::paper + name, folder / name);
    const std::string data = " --data " + folder.path.string();
    refused("reproduce exp3" + data, "exp3.draws.json");
    const std::string draws = read_file(test::paper + "exp3.draws.json");
    file_with(folder, "exp3.draws.json", replaced(draws, "\"fd_step\"", "\"step\""));
    refused("reproduce exp3" + data, "fd_step");
    file_with(folder, "exp4.queries.json",
              replaced(read_file(test::paper + "exp4.queries.json"), "\"beta\": 10.0", "\"beta\": 0.0"));
    refused("reproduce exp4" + data, "beta is 0");

    // A step of 1e-3 gives other difference quotients: a figure that differs for no known reason.
    file_with(folder, "exp3.draws.json", replaced(draws, "\"fd_step\": 1e-07", "\"fd_step\": 1e-03"));
    const Run run = run_program("reproduce exp3" + data);
    CHECK(run.code == 1);
    CHECK(contains(run.out, "NOT REPRODUCED"));
}
