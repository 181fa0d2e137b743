// To what accuracy a run certifies: what is reported, what fails, and that loose solvers cannot pass.
#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "geometry/rounding.hpp"
#include "hand_networks.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/certify.hpp"
#include "verify/report.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;
using nlohmann::json;

TEST_CASE("the largest share of each quantity is kept, and what is without bound is worst") {
    Accuracy accuracy;
    CHECK_FALSE(accuracy.of(Quantity::Value));
    CHECK(in_words(accuracy).empty());
    accuracy.offer(Quantity::Value, 1e-9, 2.0);
    accuracy.offer(Quantity::Value, 1e-10, 0.1);
    accuracy.offer(Quantity::Value, 1e-10, 1.0);
    CHECK(*accuracy.of(Quantity::Value) == 1e-9);
    CHECK_FALSE(accuracy.of(Quantity::P));
    accuracy.offer(Quantity::R, 1.0, 0.0);
    CHECK_FALSE(accuracy.of(Quantity::R));
    accuracy.offer(Quantity::Nu, 0.0, 1.0);
    CHECK(*accuracy.of(Quantity::Nu) == 0.0);
    CHECK(in_words(accuracy) == "f to 1.0e-09, nu to 0.0e+00");
    Accuracy other;
    other.offer(Quantity::Nu, std::numeric_limits<double>::infinity(), 1.0);
    other.offer(Quantity::Hessian, std::numeric_limits<double>::quiet_NaN(), 1.0);
    accuracy.add(other);
    CHECK(*accuracy.of(Quantity::Value) == 1e-9);
    CHECK(std::isinf(*accuracy.of(Quantity::Nu)));
    CHECK(std::isinf(*accuracy.of(Quantity::Hessian)));
}

TEST_CASE("what is less accurate than asked has failed; what failed or was skipped stays") {
    PointReport point;
    const auto add = [&](Quantity quantity, double bound, double open, Outcome outcome = Outcome::Passed) {
        Finding finding = judged("theorem1.strong_duality", "scs", 0.0, bound, "", "its gap");
        finding.outcome = outcome;
        finding.accuracy.offer(quantity, bound, 1.0);
        finding.leave_open(open, 1.0);
        point.findings.push_back(finding);
    };
    add(Quantity::Value, 1e-7, 1e-7);
    add(Quantity::Value, 2e-4, 2e-4);
    add(Quantity::Directional, 1e-5, 1e-9);
    add(Quantity::Hessian, 1.0, 0.0);  // the point's own conditioning
    add(Quantity::P, 1e-3, 1e-6);      // follows the square root of the gap
    add(Quantity::Value, 1.0, std::numeric_limits<double>::quiet_NaN());
    add(Quantity::Value, 2e-4, 1e-4, Outcome::Skipped);
    const auto outcomes = [&](std::optional<double> accuracy) {
        PointReport judged_point = point;
        fail_loose(judged_point, accuracy);
        std::string letters;
        for (const Finding& finding : judged_point.findings)
            letters += to_string(finding.outcome)[0];
        return letters;
    };
    CHECK(outcomes({}) == "pfpppfs");
    CHECK(outcomes(1e-6) == "pfffffs");
    CHECK(outcomes(1e-3) == "pppfpfs");
    CHECK(outcomes(std::numeric_limits<double>::infinity()) == "pppppps");
    fail_loose(point, {});
    CHECK(explanation(point.findings[1]) == "leaves 2.0e-04 of its scale open, where 1e-04 is allowed; its gap");
    point.findings.resize(1);
    fail_loose(point, 1e-8);
    CHECK(explanation(point.findings[0]) == "f to 1.0e-07, where 1.0e-08 was asked for; its gap");
}

TEST_CASE("the scales, by hand") {
    // a = 2x + 1, c = 5; q = 3x − 1, α = 4; u = 2x, λ = ½; v = 7, b0 = −1. At x = −2:
    // Ψ: 1 + 14 + 5·(4 + 1) + ½·4·(6 + 1)² + ½·4, G: 7 + 5·2 + 4·7·3 + ½·2, H: 4·9 + ½/4·4.
    const Network network = hand_network();
    const LocalState state = evaluate(network, vector({-2.0}));
    CHECK(scale_of_value(network, state.x) == 1 + 14 + 25 + 98 + 2);
    CHECK(scale_of_slope(network, state.x) == vector({7 + 10 + 84 + 1}));
    CHECK(scale_of_hessian(network, state) == 36.5);
    Network homogeneous = network;  // nothing is left at 0: f's scale there is that at 1
    homogeneous.layers[0].b(0) = homogeneous.quadratic[0].e(0) = homogeneous.b0 = 0.0;
    CHECK(scale_of_value(homogeneous, vector({0.0})) == 7 + 10 + 18 + 1);
}

TEST_CASE("every network of data passes at the default accuracy with the default solvers; the report has the figures") {
    const Run run = run_program("certify " + paper + "exp3.network.json --json -");
    CHECK(run.code == 0);
    const json report = json::parse(run.out), &accuracy = report["summary"]["accuracy"];
    CHECK(report["environment"]["accuracy"] == "default");
    CHECK(accuracy["f"].get<double>() > 0.0);
    CHECK(accuracy["f"].get<double>() < 1e-8);
    CHECK(accuracy["nu"].get<double>() < 1e-8);
    CHECK(accuracy["p"].get<double>() > accuracy["f"].get<double>());
    CHECK(accuracy["r"].is_null());         // u = 0 there: all of the ball is optimal
    CHECK(accuracy["gradient"].is_null());  // a kink
    CHECK(accuracy["hessian"].is_null());
    CHECK(accuracy["directional"].get<double>() < 1e-8);
    const json smooth =
        json::parse(run_program("certify " + paper + "exp2.network.json --sample 2 --solver none --json -").out);
    CHECK(smooth["summary"]["accuracy"]["gradient"].get<double>() < 1e-11);
    CHECK(smooth["summary"]["accuracy"]["hessian"].get<double>() < 1e-11);
    CHECK(smooth["summary"]["accuracy"]["p"].is_null());  // no solver, no p but the closed form's own
}

TEST_CASE("a solver at tolerance 1 is not certified, whatever its bounds allow") {
    for (const char* network : {"exp1", "exp2", "exp3", "exp4"}) {
        const Run run = run_program("certify " + paper + network + ".network.json --sample 3 --solver scs --eps 1");
        CAPTURE(network);
        CHECK(run.code == 1);
        CHECK(contains(run.out, "\nNOT CERTIFIED: "));
        CHECK(contains(run.out, " of its scale open, where 1e-04 is allowed; "));
        // Its promise is kept all the same: who asks for no accuracy gets what the bounds say.
        const Run loose =
            run_program("certify " + paper + network + ".network.json --sample 3 --solver scs --eps 1 --accuracy inf");
        CHECK(contains(loose.out, ": f to "));
        CHECK_FALSE(contains(loose.out, " of its scale open"));
    }
    const std::string base = "certify " + paper + "exp3.network.json --accuracy ";
    CHECK(run_program(base + "1e-13").code == 1);
    CHECK(run_program(base + "1e-8").code == 1);  // p to 1.5e-5
    CHECK(run_program(base + "1e-3").code == 0);
    CHECK(run_program(base + "0").code == 2);
    CHECK(run_program(base + "nan").code == 2);
}

TEST_CASE("every report says to what accuracy") {
    const ScratchFolder folder;
    const Run run = run_program("certify " + paper + "exp3.network.json --junit " + (folder / "j").string() +
                                " --markdown " + (folder / "m").string());
    CHECK(contains(run.out, "\ncertified: f to "));
    CHECK(contains(run.out, ", nu to "));
    CHECK(contains(read_file(folder / "j"), "<property name=\"certified\" value=\"f to "));
    CHECK(contains(read_file(folder / "m"), "\nAccuracy: f to "));
}
