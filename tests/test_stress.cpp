// No check fails on a right network, whatever the network: a part of the stress run of `make bench stress`.
#include <doctest/doctest.h>

#include <set>

#include "geometry/rounding.hpp"
#include "hand_networks.hpp"
#include "random_networks.hpp"
#include "stress_run.hpp"
#include "verify/worst.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;

namespace {

CertifyOptions closed_forms() {
    CertifyOptions options;
    options.solvers.clear();
    options.level = Level::Exact;
    return options;
}

void check_count(const StressCount& count) {
    for (const std::string& failure : count.failures)
        FAIL_CHECK(failure);
    for (const auto& [reason, times] : count.skipped) {  // only for reasons that the documentation gives
        const bool known =
            reason.find("doubles are too coarse") != std::string::npos ||
            reason.find("a conic residual is lost in the rounding of its own sum") != std::string::npos ||
            reason.find("no double lies within what rounding leaves of rho") != std::string::npos ||
            reason.find("the gradients of the nearest units are lost") != std::string::npos ||
            reason.find("outside the range of the bounds") != std::string::npos;
        CHECK_MESSAGE(known, reason << ", " << times << " times");
    }
    CHECK(count.unsolved.empty());
    CHECK(count.summary.passed > 0);
    CHECK(count.summary.failed == 0);
}

/// One unit, one module of each kind with one row, one input.
Network plain(double size) {
    Network network;
    network.input_dim = 1;
    network.layers = {{Matrix::Constant(1, 1, size), Matrix(), vector({size})}};
    network.c = vector({1.0});
    network.v = vector({size});
    network.quadratic = {{1.0, Matrix::Constant(1, 1, size), vector({size})}};
    network.conic = {{1.0, Matrix::Constant(1, 1, size), vector({size})}};
    return network;
}

std::vector<Finding> findings_at(const Network& network, double x) {
    CertifyOptions options = closed_forms();
    options.accuracy = std::numeric_limits<double>::infinity();  // bounds are meant here, however wide
    Examiner examiner(network, options);
    return examiner.examine(0, vector({x})).findings;
}

}  // namespace

TEST_CASE("stress: closed forms of 800 random networks of every kind") {
    const StressCount count = run_stress(0, 800, closed_forms());
    CHECK(count.networks == 800);
    CHECK(count.refused == 0);
    CHECK(count.summary.degenerate > 300);
    CHECK(count.summary.skipped < count.summary.checks / 100);
    check_count(count);
}

TEST_CASE("stress: solvers, on networks that they can solve") {
    CertifyOptions options;
    options.level = Level::Rigorous;
    if (solvers::backend(options.solvers.front()).enabled().ready) {
        StressCount count = run_stress(0, 40, options, [](std::uint64_t number) {
            return StressFamily::member(number / 6 * 8 + number % 6);  // without the scaled and the bare
        });
        check_count(count);
    }
}

TEST_CASE("stress: scales from 1e-320 to 1e308 give bounds that hold, skips with a reason, or an input error") {
    const StressCount count = run_stress(0, 160, closed_forms(), &StressFamily::extreme_member);
    CHECK(count.refused > 0);
    CHECK(count.summary.skipped > 0);
    check_count(count);
}

TEST_CASE("range: a residual of size 1e-400 is skipped by name, and exact arithmetic decides what is left") {
    Network network = plain(1.0);
    network.conic[0].A(0, 0) = 1e-200;
    network.conic[0].d(0) = 0.0;
    std::set<std::string> levels;
    for (const Finding& finding : findings_at(network, 1e-200)) {
        CAPTURE(finding.id);
        CHECK(finding.outcome != Outcome::Failed);
        if (finding.level == "exact") CHECK(finding.outcome == Outcome::Passed);
        if (finding.level != "exact")
            CHECK(finding.reason ==
                  "outside the range of the bounds: conic[0]: a residual that does not vanish is below 2^-180");
        levels.insert(finding.level);
    }
    CHECK(levels == std::set<std::string>{"exact", "numeric"});
}

TEST_CASE("range: within it every figure and bound is finite, at both ends and with denormal numbers") {
    const auto all_judged = [](const Network& network, double x) {
        for (const Finding& finding : findings_at(network, x)) {
            CAPTURE(finding.id);
            CAPTURE(finding.reason);
            CHECK(finding.outcome != Outcome::Failed);
            if (finding.outcome == Outcome::Passed)
                CHECK((std::isfinite(finding.figure) && std::isfinite(finding.bound)));
            CHECK(finding.reason.find("outside") == std::string::npos);
        }
    };
    for (const double size : {0x1p-178, 0x1p-100, 1.0, 0x1p99}) {
        for (const double x : {0.3, -0.7, 0x1p-60, 0x1p75})
            all_judged(plain(size), x);
        Network network = plain(size);
        network.quadratic[0].alpha = 0x1p-180;
        network.conic[0].lambda = 0x1p179;
        network.layers[0].b(0) = 5e-324;
        network.v(0) = -5e-324;
        all_judged(network, 0.3);
        network.conic[0].A(0, 0) = 5e-324;
        network.quadratic[0].e(0) = 1e-310;
        all_judged(network, 0.3);
    }
}

TEST_CASE("range: what lies outside is named") {
    const auto beyond = [](auto change, double x = 0.5) {
        Network network = plain(1.0);
        change(network);
        return beyond_range(network, evaluate(network, vector({x}))).value_or("nothing");
    };
    CHECK(beyond([](Network&) {}) == "nothing");
    CHECK(beyond([](Network&) {}, 0x1p181) == "x exceeds 2^180");
    CHECK(beyond([](Network& n) { n.layers[0].W(0, 0) = 0x1p181; }) == "layers[0].W exceeds 2^180");
    CHECK(beyond([](Network& n) { n.layers[0].W(0, 0) = 0x1p150; }, 0x1p60) ==
          "layers[0]: the size of the forward pass exceeds 2^180");
    CHECK(beyond([](Network& n) { n.c(0) = 0x1p181; }) == "c exceeds 2^180");
    CHECK(beyond([](Network& n) { n.b0 = -0x1p181; }) == "b0 exceeds 2^180");
    CHECK(beyond([](Network& n) { n.quadratic[0].alpha = 0x1p-181; }) == "quadratic[0].alpha is below 2^-180");
    CHECK(beyond([](Network& n) { n.conic[0].lambda = 0x1p-181; }) == "conic[0].lambda is below 2^-180");
    CHECK(beyond([](Network& n) { n.conic[0].lambda = 0.0; }) == "nothing");
    CHECK(beyond([](Network& n) { n.conic[0].A(0, 0) = n.conic[0].d(0) = 0.0; }) == "nothing");
    CHECK(beyond([](Network& n) { n.conic[0].A(0, 0) = 0x1p-300, n.conic[0].d(0) = 0.0; }) ==
          "conic[0]: a residual that does not vanish is below 2^-180");
}

TEST_CASE("range: a figure or a bound that is not finite fails, with its place") {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {infinity, nan}) {
        CHECK(judged("id", "solver", bad, 1.0, "place", "").outcome == Outcome::Failed);
        CHECK(judged("id", "solver", 0.0, bad, "place", "").outcome == Outcome::Failed);
        CHECK(judged("id", "solver", bad, bad, "place", "").outcome == Outcome::Failed);
        Worst worst;
        worst.offer(0.5, 1.0, [] { return "sound"; });
        worst.offer(0.0, bad, [] { return "bad"; });
        worst.offer(0.9, 1.0, [] { return "sound"; });
        CHECK(worst.finding("id", "solver", "").outcome == Outcome::Failed);
        CHECK(worst.where == "bad");
    }
    CHECK(judged("id", "solver", 1.0, 1.0, "place", "").outcome == Outcome::Passed);
}

TEST_CASE(
    "rounding: an equality in exact arithmetic passes (one input, one row), and half the bound's rounding does not "
    "hide a fault") {
    // ‖p̂(x+δ) − p̂(x)‖ = α‖Bδ‖ at a point of size 1e-6 whose step is 1e4 times longer: the sizes at the far end count.
    Network network = plain(1.0);
    network.conic.clear();
    network.quadratic[0].e(0) = 0.0;
    network.quadratic[0].B(0, 0) = 0.1;
    for (int k = 0; k < 200; ++k)
        for (const Finding& finding : findings_at(network, 1e-6 * (1.0 + 0.01 * k)))
            if (finding.id == "proposition3.closed_graph") {
                CHECK(finding.outcome == Outcome::Passed);
                CHECK(finding.bound <= finding.figure * (1.0 + 1e-12));
            }
}

TEST_CASE("rounding: squares that underflow are in the bound") {
    Network network = plain(0.0);  // f = α/2·q² = 3e-275, but p² = (αq)² is 0 in doubles, and Ψ twice as large
    network.conic.clear();
    network.quadratic = {{0x1p-180, Matrix::Constant(1, 1, 1e-110), vector({0.0})}};
    for (const Finding& finding : findings_at(network, 1.0)) {
        CAPTURE(finding.id);
        CHECK(finding.outcome == Outcome::Passed);
    }
}

TEST_CASE("rounding: near a kink of which doubles know the distance to a few percent, no point inside is beyond it") {
    Random random(60);
    const CertifyOptions options = closed_forms();
    Index decided = 0;
    for (int round = 0; round < 300; ++round) {
        Network network = random_network({.input_dim = 34, .widths = {1}}, random);
        const Vector x = random_vector(34, random);
        Layer& layer = network.layers[0];
        const double sum = layer.W.row(0).dot(x);
        const double size = layer.W.cwiseAbs().row(0).dot(x.cwiseAbs()) + std::abs(sum);
        layer.b(0) = -sum + 1.1 * RoundingBound(35).relative * size;
        if (evaluate(network, x).decided_exactly == 0) ++decided;
        Examiner examiner(network, options);
        for (const Finding& finding : examiner.examine(0, x).findings) {
            CAPTURE(round);
            CAPTURE(finding.id);
            CHECK(finding.outcome != Outcome::Failed);
        }
    }
    CHECK(decided > 200);
}
