// The suite of data/suite and the paper's networks: every check passes at every point, and what is degenerate is what exact
// rational arithmetic says.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "geometry/max_readout.hpp"
#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "skip.hpp"
#include "verify/certify.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;

namespace {

const std::string suite = CERTICONE_DATA_DIR "/suite/";

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(suite)) {
        const std::string file = entry.path().filename().string();
        if (file.ends_with(".network.json")) found.push_back(file.substr(0, file.size() - 13));
    }
    std::sort(found.begin(), found.end());
    return found;
}

nlohmann::json expected(const std::string& name) {
    std::ifstream stream(suite + name + ".points.json");
    return nlohmann::json::parse(stream)["expected"];
}

CertifyOptions all_checks() {
    CertifyOptions options;
    options.referee = referee_usable();
    return options;
}

}  // namespace

TEST_CASE("suite: every check passes at every point, with the default solvers") {
    CHECK(names().size() >= 20);
    std::set<std::string> ids;
    Index points = 0, degenerate = 0, skipped_checks = 0;
    for (const std::string& name : names()) {
        const Network network = read_network(suite + name + ".network.json");
        const Matrix at = read_points(suite + name + ".points.json", network.input_dim);
        for (const PointReport& report : certify(network, at, all_checks())) {
            ++points;
            if (!report.degenerate_units.empty() || !report.degenerate_modules.empty()) ++degenerate;
            for (const Finding& finding : report.findings) {
                ids.insert(finding.id);
                INFO(name, " point ", report.index, ": ", finding.id, " (", finding.solver, ") ", finding.figure, " > ",
                     finding.bound, " at ", finding.where, "; ", finding.reason);
                CHECK(finding.outcome != Outcome::Failed);
                if (finding.outcome != Outcome::Skipped) continue;
                // The one network whose points lie within rounding of a kink: no double in between to step to.
                ++skipped_checks;
                CHECK(name == "rounding");
            }
        }
    }
    CHECK(ids.size() == 20);
    CHECK(degenerate > 100);
    CHECK(skipped_checks <= 8);
    MESSAGE(fmt::format("{} networks, {} points, {} degenerate", names().size(), points, degenerate));
}

TEST_CASE("suite: zeros are those of exact rational arithmetic, and so is what is set-valued") {
    std::mt19937_64 random(5);
    for (const std::string& name : names()) {
        const Network network = read_network(suite + name + ".network.json");
        const Matrix at = read_points(suite + name + ".points.json", network.input_dim);
        const nlohmann::json facts = expected(name);
        REQUIRE(facts.size() == static_cast<std::size_t>(at.cols()));
        for (Index j = 0; j < at.cols(); ++j) {
            const nlohmann::json& fact = facts[static_cast<std::size_t>(j)];
            const LocalState state = evaluate(network, at.col(j));
            INFO(name, " point ", j);
            CHECK(nlohmann::json(state.pattern.degenerate_units()) == fact["relu"]);
            CHECK(nlohmann::json(state.pattern.degenerate_modules()) == fact["conic"]);
            // D*(x) is one point exactly where random elements cannot differ.
            const Multipliers canonical = canonical_selector(network, state);
            bool unique = true;
            for (int k = 0; k < 20; ++k) {
                const Multipliers other = random_optimal(network, state, random);
                unique = unique && other.nu == canonical.nu && other.r == canonical.r;
            }
            CHECK(unique == fact["unique"].get<bool>());
            // Where f is differentiable, f'(x;d) = −f'(x;−d).
            bool smooth = true;
            for (int k = 0; k < 20; ++k) {
                const Vector d = Vector::NullaryExpr(network.input_dim,
                                                     [&](Index) { return std::normal_distribution<double>()(random); });
                const double forward = directional_derivative(network, state, d);
                const double backward = directional_derivative(network, state, -d);
                smooth = smooth && std::abs(forward + backward) <= 1e-12 * (std::abs(forward) + std::abs(backward));
            }
            CHECK(smooth == fact["differentiable"].get<bool>());
        }
    }
}

TEST_CASE("suite: the paper's prose on set-valued subdifferentials has a counterexample") {
    // A unit with W = 0, b = 0 and ub = 2: D*(x) contains the interval 0 ≤ ν ≤ 2 at every x, f is smooth at (1, 1).
    const Network network = read_network(suite + "flat_unit.network.json");
    const LocalState state = evaluate(network, Eigen::Vector2d(1.0, 1.0));
    Multipliers low = canonical_selector(network, state), high = low;
    CHECK(low.nu[0](1) == 0.0);
    high.nu[0](1) = 2.0;
    CHECK(membership_violation(network, state, low).amount == 0.0);
    CHECK(membership_violation(network, state, high).amount == 0.0);
    CHECK(psi(network, state.x, high) == psi(network, state.x, low));
    CHECK(readout(network, high) == readout(network, low));
    CHECK(directional_derivative(network, state, Eigen::Vector2d(1.0, 0.0)) ==
          -directional_derivative(network, state, Eigen::Vector2d(-1.0, 0.0)));
}

TEST_CASE("suite: exactly degenerate points of the paper's own networks are certified too") {
    for (const char* name : {"exp2", "exp4"}) {
        const Network network = read_network(paper + name + ".network.json");
        const Matrix at = degenerate_points(network, 8, 3);
        REQUIRE(at.cols() == 8);
        Index two = 0;
        for (const PointReport& report : certify(network, at, all_checks())) {
            CHECK(!report.degenerate_units.empty());
            if (report.degenerate_units.size() == 2) ++two;
            for (const Finding& finding : report.findings) {
                INFO(name, " point ", report.index, ": ", finding.id, " (", finding.solver, ") ", finding.reason);
                CHECK(finding.outcome == Outcome::Passed);
            }
        }
        CHECK(two >= 2);
    }
    const Run run = run_program("certify " + paper + "exp2.network.json --sample 3 --degenerate 4 --seed 9");
    CHECK(run.code == 0);
    CHECK(contains(run.out, "7 points (4 degenerate)"));
    CHECK(run_program("certify " + paper + "exp2.network.json --degenerate 4 --points x.json").code == 2);
    CHECK(run_program("certify " + paper + "exp2.network.json --degenerate -1").code == 2);
}
