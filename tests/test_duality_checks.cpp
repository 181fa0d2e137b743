// The checks of Theorem 1 and Proposition 1 pass on true answers and fail on each kind of wrong one.
#include <doctest/doctest.h>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "run_program.hpp"
#include "verify/certify.hpp"
#include "verify/duality_checks.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;

namespace {

/// Experiment 2 with SCS's answer at one point, ready to be spoilt.
struct Scene {
    Network network = read_network(paper + "exp2.network.json");
    Matrix points = read_points(paper + "exp2.points.json", network.input_dim);
    solvers::Settings settings;
    ValueFunctionSession session{network, solvers::backend("scs"), settings};
    Subject subject;
    Curvature curvature{network};
    LocalState state;
    Multipliers canonical;
    ScaledAnswer answer;

    explicit Scene(Index point) {
        state = evaluate(network, points.col(point));
        canonical = canonical_selector(network, state);
        answer = session.solve(points.col(point));
    }

    Finding duality() {
        answer.solution.measured =
            solvers::measure(*answer.program, answer.solution.x, answer.solution.s, answer.solution.y);
        const conic::ValueFunction& program = session.value_function();
        answer.xi = program.multipliers(answer.scaling->unscale_y(answer.solution.y));
        Generator random(1);
        const Point point(network, subject, curvature, state, random);
        return check_solver_duality(point, {program.primal(state), program.dual(canonical)}, answer, settings, "scs");
    }
    Finding closed_form() const {
        Generator random(1);
        return check_closed_form_duality(Point(network, subject, curvature, state, random));
    }
    Finding membership(const Multipliers& xi) { return check_membership(network, state, canonical, xi, "scs"); }
    /// The k-th unit of the last layer whose multiplier is positive.
    Index active(Index k) const {
        for (Index i = 0;; ++i)
            if (canonical.nu.back()(i) > 0.0 && k-- == 0) return i;
    }
    double& y(std::string_view block, Index entry) {
        return answer.solution.y(answer.program->block(block).begin + entry);
    }
};

}  // namespace

TEST_CASE("a true answer passes both checks, with figures that are not zero") {
    Scene scene(5);
    const Finding duality = scene.duality(), membership = scene.membership(scene.answer.xi);
    CHECK(duality.outcome == Outcome::Passed);
    CHECK(duality.figure > 0.0);
    CHECK(duality.bound < 1e-5 * scene.state.value);
    CHECK(membership.outcome == Outcome::Passed);
    CHECK(membership.figure > 0.0);
    CHECK(scene.closed_form().outcome == Outcome::Passed);
}

TEST_CASE("multipliers off by 1e-6 in one unit are seen, whatever the solver claims") {
    for (const double factor : {1.0 + 1e-6, 1.0 - 1e-6}) {
        Scene scene(5);
        scene.y("relu[2]", scene.active(0)) *= factor;
        const Finding finding = scene.duality();
        CHECK(finding.outcome == Outcome::Failed);
        CHECK(finding.reason.find("dual residual") != std::string::npos);
    }
}

TEST_CASE("a loose answer that claims to be optimal fails") {
    Scene scene(5);
    solvers::Settings loose;
    loose.eps_abs = loose.eps_rel = 1e-5;
    ValueFunctionSession session(scene.network, solvers::backend("scs"), loose);
    scene.answer = session.solve(scene.points.col(5));
    REQUIRE(scene.answer.solution.claimed.status == solvers::Status::Solved);
    CHECK(scene.duality().outcome == Outcome::Failed);
}

TEST_CASE("the answer of another point fails") {
    Scene scene(5), other(6);
    scene.answer.solution.x = other.answer.solution.x;
    scene.answer.solution.s = other.answer.solution.s;
    scene.answer.solution.y = other.answer.solution.y;
    CHECK(scene.duality().outcome == Outcome::Failed);
}

TEST_CASE("swapped units, a flipped sign and a point outside its cone fail") {
    {
        Scene scene(5);  // swapped in the units of the network: in the scaled ones both are 1
        const Index i = scene.active(0), j = scene.active(1), begin = scene.answer.program->block("relu[2]").begin;
        const double quotient = scene.answer.scaling->row(begin + i) / scene.answer.scaling->row(begin + j);
        std::swap(scene.y("relu[2]", i), scene.y("relu[2]", j));
        scene.y("relu[2]", i) /= quotient;
        scene.y("relu[2]", j) *= quotient;
        CHECK(scene.duality().outcome == Outcome::Failed);
    }
    {
        Scene scene(5);
        scene.y("quadratic[0].link", 2) *= -1.0;
        CHECK(scene.duality().outcome == Outcome::Failed);
    }
    {
        Scene scene(5);  // r scaled out of its ball, in link and cone alike: only the cone distance sees it
        for (Index i = 0; i < 10; ++i) {
            scene.y("conic[1].link", i) *= 1.01;
            scene.y("conic[1].cone", i + 1) *= 1.01;
        }
        const Finding finding = scene.duality();
        CHECK(finding.outcome == Outcome::Failed);
    }
}

TEST_CASE("a solver that gives up is a failed check, not a passed one") {
    Scene scene(5);
    scene.answer.solution.claimed.status = solvers::Status::IterationLimit;
    CHECK(scene.duality().outcome == Outcome::Failed);
}

TEST_CASE("a wrong value of f fails the closed form") {
    Scene scene(5);
    scene.state.value *= 1.0 + 1e-10;
    CHECK(scene.closed_form().outcome == Outcome::Failed);
    CHECK(scene.duality().outcome == Outcome::Passed);  // 1e-10 is below what SCS can tell
    scene.state.value *= 1.0 + 1e-6;
    CHECK(scene.duality().outcome == Outcome::Failed);
}

TEST_CASE("membership fails when the closed form is wrong") {
    // The gap of the true ξ is tiny, so a wrong selector, wherever it is wrong, is farther from ξ than the gap allows.
    Scene scene(5);
    LocalState wrong = scene.state;
    for (Index i = 0; i < wrong.pattern.sign[1].size(); ++i) {
        if (scene.canonical.nu[1](i) == 0.0) continue;
        wrong.pattern.sign[1](i) = -1;  // an active unit taken for an inactive one
        break;
    }
    CHECK(check_membership(scene.network, wrong, scene.canonical, scene.answer.xi, "scs").outcome == Outcome::Failed);
    Network other = scene.network;
    other.quadratic[0].alpha *= 1.001;
    CHECK(check_membership(other, scene.state, scene.canonical, scene.answer.xi, "scs").where == "p[0]");
}

TEST_CASE("sampled points do not depend on the library's distributions") {
    const Matrix points = sample_points(2, 2, 1);
    CHECK(points.allFinite());
    CHECK(points == sample_points(2, 2, 1));
    const Matrix many = sample_points(10, 10000, 3);
    CHECK(std::abs(many.mean()) < 5.0 / std::sqrt(1e5));
    CHECK(std::abs(many.squaredNorm() / 1e5 - 1.0) < 5.0 * std::sqrt(2.0 / 1e5));
}
