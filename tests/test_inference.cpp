// Certified inference: the gap is a proof whatever the method, and white-box closes it, kinks and all.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "geometry/exact_multipliers.hpp"
#include "inference/kink_problem.hpp"
#include "inference/white_box.hpp"
#include "inference_family.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// f(x) = Σ c_i max(w_iᵀx + b_i, 0), no modules.
Network one_layer(const Matrix& W, const Vector& b, const Vector& c) {
    Network network;
    network.input_dim = W.cols();
    network.layers.push_back({W, Matrix(), b});
    network.c = c;
    network.v = Vector::Zero(W.cols());
    return network;
}

/// What rounding of F's summands can leave of a gap, relative to nothing but themselves.
double size_of_F(const InferenceProblem& problem, const Vector& x) {
    const Vector step = x - problem.y;
    return value_size(*problem.network, x) + step.dot(problem.Q * step) + problem.q.cwiseAbs().dot(x.cwiseAbs());
}

}  // namespace

TEST_CASE("inference: the gap by the identity is F − bound, and never below the true gap") {
    Random random(81);
    for (int trial = 0; trial < 50; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const double beta = std::pow(10.0, trial % 5 - 2);
        const InferenceProblem problem = proximity(network, beta, random_vector(network.input_dim, random));
        const Vector x = random_vector(network.input_dim, random);
        const LocalState state = evaluate(network, x);
        const InferenceCertificate found = certify_inference(problem, x, random_feasible(network, state, random));
        const double size =
            value_size(network, problem.y) + size_of_F(problem, x) + std::abs(found.lower_bound) + std::abs(found.gap);
        CHECK(found.gap >= 0.0);
        CHECK(std::abs(found.value - found.lower_bound - found.gap) <= 1e-12 * size);
        // The bound of the contract, which does not depend on x.
        const double bound =
            psi(network, problem.y, found.xi) - readout(network, found.xi).squaredNorm() / (2.0 * beta);
        CHECK(std::abs(found.lower_bound - bound) <= 1e-12 * size);
        CHECK(exactly_feasible(network, found.xi));
        // A proof: no other point does better than the bound.
        for (int k = 0; k < 10; ++k) {
            const LocalState other = evaluate(network, random_vector(network.input_dim, random));
            CHECK(inference_value(problem, other) >= found.lower_bound - 1e-12 * size);
        }
    }
}

TEST_CASE("inference: with constraints and any quadratic too, the gap is F − bound, and the bound holds") {
    Random random(85);
    for (int trial = 0; trial < 50; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const Index d0 = network.input_dim;
        InferenceProblem problem = proximity(network, 0.5, random_vector(d0, random));
        const Matrix root = random_matrix(d0, d0, random);
        problem.Q += root * root.transpose();
        problem.q = random_vector(d0, random);
        problem.C = random_matrix(3, d0, random);
        problem.h = random_vector(3, random).cwiseAbs();  // 0 is feasible
        const Vector x = random_vector(d0, random), mu = random_vector(3, random).cwiseAbs();
        const LocalState state = evaluate(network, x);
        const InferenceCertificate found = certify_inference(problem, x, random_feasible(network, state, random), mu);
        const double size = size_of_F(problem, x) + std::abs(found.lower_bound) + std::abs(found.gap) +
                            mu.dot((problem.C * x - problem.h).cwiseAbs());
        CHECK(std::abs(found.value - found.lower_bound - found.gap) <= 1e-12 * size);
        for (int k = 0; k < 10; ++k) {
            Vector other = random_vector(d0, random);
            while (constraint_violation(problem, other) > 0.0)
                other *= 0.5;
            CHECK(inference_value(problem, evaluate(network, other)) >= found.lower_bound - 1e-12 * size);
        }
    }
}

TEST_CASE("inference: the element of D*(x) nearest to optimality satisfies the variational inequality") {
    Random random(82);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int trial = 0; trial < 200; ++trial) {
        const Index units = random_index(0, 8, random), d0 = random_index(1, 6, random);
        KinkProblem<double> problem;
        problem.h = random_vector(d0, random, 2.0);
        problem.N = random_matrix(d0, units, random);
        if (units > 2 && trial % 3 == 0) problem.N.col(1) = problem.N.col(0);  // the same unit twice
        problem.T = Matrix::Zero(units, units);
        for (Index j = units / 2; j < units; ++j)
            for (Index k = 0; k < units / 2; ++k)
                problem.T(j, k) = uniform(random) < 0.7 ? uniform(random) : 0.0;
        problem.base = random_matrix(units, 1, random).cwiseAbs();
        if (units > 1 && trial % 2 == 0) problem.base(0) = 0.0;
        for (Index g = random_index(0, 2, random); g > 0; --g) {
            problem.R.push_back(random_matrix(d0, random_index(1, 3, random), random));
            problem.lambda.push_back(0.2 + uniform(random));
        }
        KinkSolution<double> start;
        start.nu = Vector::Zero(units);
        start.side.assign(static_cast<std::size_t>(units), Side::inactive);
        for (const Matrix& R : problem.R) {
            start.r.push_back(Vector::Zero(R.cols()));
            start.leaving.push_back(false);
        }
        const KinkSolution<double> solution = solve_kink_problem(problem, start);
        CHECK(solution.solved);
        CHECK((solution.nu.array() >= 0.0).all());
        CHECK((solution.nu.array() <= problem.upper_bound(solution.nu).array() + 1e-14).all());
        // ½‖w‖² is least iff wᵀ(w' − w) ≥ 0 for every feasible w'.
        const double slack = 1e-10 * solution.residual.squaredNorm() + 1e-12 * problem.h.squaredNorm();
        for (int k = 0; k < 50; ++k) {
            Vector nu = Vector::Zero(units);
            for (Index i = units; i-- > 0;) {
                const double share = k % 2 == 0 ? uniform(random) : std::round(uniform(random));
                nu(i) = share * (problem.base(i) + problem.T.col(i).dot(nu));
            }
            Vector other = problem.h + problem.N * nu;
            for (std::size_t g = 0; g < problem.R.size(); ++g) {
                Vector r = random_vector(problem.R[g].cols(), random);
                r *= problem.lambda[g] * (k % 2 == 0 ? uniform(random) : 1.0) / r.norm();
                other += problem.R[g] * r;
            }
            CHECK(solution.residual.dot(other - solution.residual) >= -slack);
        }
    }
}

TEST_CASE("inference: white-box proves all 30 queries of Experiment 4 to 1e-12 relative, kinks and all") {
    const Network network = read_network(paper + "exp4.network.json");
    const Matrix queries = read_points(paper + "exp4.queries.json", network.input_dim);
    REQUIRE(queries.cols() == 30);
    Index at_kinks = 0;
    double worst = 0.0;
    for (Index j = 0; j < queries.cols(); ++j) {
        const WhiteBoxResult result = white_box_inference(proximity(network, 10.0, queries.col(j)));
        const InferenceCertificate& proof = result.certificate;
        INFO("query ", j, ": gap ", proof.gap, " after ", result.iterations, " iterations");
        CHECK(proof.gap <= 1e-12 * std::abs(proof.value));
        CHECK(std::abs(proof.value - proof.lower_bound) <= 1e-12 * std::abs(proof.value));
        CHECK(exactly_feasible(network, proof.xi));
        CHECK(result.iterations <= 20);
        worst = std::max(worst, proof.relative_gap());
        if (!result.kinks.empty()) ++at_kinks;
        for (const auto& [layer, unit] : result.kinks)
            CHECK(std::abs(forward<double>(network, proof.x).a[static_cast<std::size_t>(layer)](unit)) <= 1e-13);
    }
    CHECK(at_kinks >= 15);
    MESSAGE(fmt::format("{} of 30 minimisers at kinks, largest proved relative gap {:.1e}", at_kinks, worst));
}

TEST_CASE("inference: random networks up to d0 = 50, width 128, depth 4, beta from 1e-3 to 1e3") {
    double worst = 0.0;
    Index most = 0;
    for (unsigned seed = 0; seed < 80; ++seed) {
        const FamilyMember member = family_member(seed);
        const WhiteBoxResult result = white_box_inference(proximity(member.network, member.beta, member.y));
        INFO("seed ", seed, " beta ", member.beta, " iterations ", result.iterations);
        CHECK(result.certificate.relative_gap() <= 1e-10);
        CHECK(exactly_feasible(member.network, result.certificate.xi));
        worst = std::max(worst, result.certificate.relative_gap());
        most = std::max(most, result.iterations);
    }
    MESSAGE(fmt::format("80 networks, largest proved relative gap {:.1e}, at most {} iterations", worst, most));
}

TEST_CASE("inference: the classical mode, which ends for certain, gets there too") {
    WhiteBoxOptions classical;
    classical.long_steps = 0;
    classical.max_iterations = 5000;
    Index most = 0;
    for (unsigned seed = 0; seed < 25; ++seed) {
        const FamilyMember member = family_member(seed);
        const WhiteBoxResult result = white_box_inference(proximity(member.network, member.beta, member.y), classical);
        INFO("seed ", seed, " beta ", member.beta, " iterations ", result.iterations);
        CHECK(result.certificate.relative_gap() <= 1e-10);
        most = std::max(most, result.iterations);
    }
    MESSAGE(fmt::format("25 networks, at most {} iterations", most));
}

TEST_CASE("inference: ugly networks and queries that are exact kinks") {
    Random random(83);
    for (const Network& network : ugly_networks(random))
        for (const double beta : {1e-3, 1.0, 1e3}) {
            const InferenceProblem problem = proximity(network, beta, random_vector(network.input_dim, random));
            const WhiteBoxResult result = white_box_inference(problem);
            INFO(network.name, " beta ", beta, " iterations ", result.iterations, " gap ", result.certificate.gap);
            CHECK(result.certificate.gap <= 1e-10 * size_of_F(problem, result.certificate.x));
            CHECK(exactly_feasible(network, result.certificate.xi));
        }
    for (int trial = 0; trial < 60; ++trial) {
        const PointedNetwork pointed = degenerate_network(random_shape(random), random);
        const InferenceProblem problem = proximity(pointed.network, std::pow(10.0, trial % 5 - 2), pointed.x);
        const WhiteBoxResult result = white_box_inference(problem);
        INFO("degenerate ", trial, " iterations ", result.iterations, " gap ", result.certificate.gap);
        CHECK(result.certificate.gap <= 1e-12 * size_of_F(problem, result.certificate.x));
    }
}

TEST_CASE("inference: where everything vanishes at once the proof closes all the same") {
    const std::string stem = std::string(CERTICONE_DATA_DIR) + "/suite/homogeneous";
    const Network network = read_network(stem + ".network.json");
    const Matrix points = read_points(stem + ".points.json", network.input_dim);
    for (const double beta : {0.01, 1.0, 100.0})
        for (Index j = 0; j < points.cols(); ++j) {
            const WhiteBoxResult result = white_box_inference(proximity(network, beta, points.col(j)));
            INFO("beta ", beta, " query ", j, " F ", result.certificate.value, " gap ", result.certificate.gap);
            CHECK(result.certificate.gap <= 1e-10 * std::abs(result.certificate.value) + 1e-25);
        }
    // The minimiser of a tiny query is 0, where all 20 kinks meet: F = ½‖y‖² of 1e-14 is reached to its own rounding.
    const Vector y = points.col(1);
    const WhiteBoxResult result = white_box_inference(proximity(network, 1.0, y));
    CHECK(result.certificate.value == doctest::Approx(0.5 * y.squaredNorm()).epsilon(1e-14));
    CHECK(result.certificate.x.norm() <= 1e-12 * y.norm());
    // With next to no curvature it takes a second search, from where the first ended.
    const WhiteBoxResult flat = white_box_inference(proximity(network, 1e-4, y));
    CHECK(flat.certificate.value == doctest::Approx(0.5e-4 * y.squaredNorm()).epsilon(1e-12));
    CHECK(flat.certificate.gap <= 1e-8 * flat.certificate.value);
}

TEST_CASE("inference: a residual that vanishes at the optimum is held there") {
    // f = 3|x₀ − 1| + ReLU(x₀ + x₁): from y = (1.2, −4) the norm's kink wins, r = β(y − x)₀ inside its ball.
    Network network = one_layer((Matrix(1, 2) << 1.0, 1.0).finished(), Vector::Zero(1), Vector::Ones(1));
    network.conic.push_back({3.0, (Matrix(1, 2) << 1.0, 0.0).finished(), Vector::Constant(1, -1.0)});
    const WhiteBoxResult result = white_box_inference(proximity(network, 2.0, Eigen::Vector2d(1.2, -4.0)));
    CHECK(result.certificate.gap <= 1e-14);
    CHECK(result.zero_modules == std::vector<Index>{0});
    CHECK((result.certificate.x - Eigen::Vector2d(1.0, -4.0)).norm() <= 1e-14);
    CHECK(result.certificate.xi.r[0](0) == doctest::Approx(0.4));
}

TEST_CASE("inference: a residual of several rows vanishes, or stays away from zero, by hand") {
    // f = 2‖x − a‖: x = a where β‖y − a‖ ≤ 2, else x = y − (2/β)(y − a)/‖y − a‖.
    const Eigen::Vector3d a(1.0, -2.0, 0.5), away(0.6, 0.0, -0.8);
    Network network = one_layer(Matrix::Zero(1, 3), Vector::Zero(1), Vector::Zero(1));
    network.conic.push_back({2.0, Matrix::Identity(3, 3), -a});
    for (const double distance : {0.3, 0.999, 1.001, 5.0}) {
        const WhiteBoxResult result = white_box_inference(proximity(network, 2.0, a + distance * away));
        const Vector expected = distance <= 1.0 ? Vector(a) : Vector(a + (distance - 1.0) * away);
        INFO("distance ", distance, " iterations ", result.iterations);
        CHECK(result.certificate.gap <= 1e-13);
        // β/2 ‖x − x*‖² ≤ gap.
        CHECK((result.certificate.x - expected).norm() <= std::sqrt(result.certificate.gap) + 1e-14);
        CHECK(result.zero_modules.size() == (distance <= 1.0 ? 1u : 0u));
        CHECK((result.certificate.xi.r[0] - 2.0 * std::min(distance, 1.0) * away).norm() <= 1e-6);
    }
}

TEST_CASE("inference: no curvature from the objective, in a box") {
    const Network network = read_network(paper + "exp4.network.json");
    const Matrix queries = read_points(paper + "exp4.queries.json", network.input_dim);
    const Index d0 = network.input_dim;
    double first = 0.0;
    for (Index j = 0; j < 3; ++j) {
        InferenceProblem problem = proximity(network, 1.0, queries.col(j));
        problem.Q.setZero();
        problem.C.resize(2 * d0, d0);
        problem.C << Matrix::Identity(d0, d0), -Matrix::Identity(d0, d0);
        problem.h = Vector::Ones(2 * d0);
        const InferenceCertificate proof = white_box_inference(problem).certificate;
        INFO("query ", j);
        CHECK(proof.relative_gap() <= 1e-12);
        if (j == 0) first = proof.value;
        CHECK(proof.value == doctest::Approx(first).epsilon(1e-13));  // without Q the query does not matter
    }
}

TEST_CASE("inference: kinks of nested units, by hand") {
    // z₁ = ReLU(x), z₂ = ReLU(z₁ − 3x): f = 2 z₂ = 0 for x ≥ 0 and −6x for x < 0. At x = 0 both units vanish. From y = −1
    // with β = 1 the minimiser of f + ½(x + 1)² is x = 0, and the multipliers (ν₂, ν₁) solve 1 + ν₁ − 3ν₂ = 0.
    Network network;
    network.input_dim = 1;
    network.layers.push_back({Matrix::Constant(1, 1, 1.0), Matrix(), Vector::Zero(1)});
    network.layers.push_back({Matrix::Constant(1, 1, -3.0), Matrix::Constant(1, 1, 1.0), Vector::Zero(1)});
    network.c = Vector::Constant(1, 2.0);
    network.v = Vector::Zero(1);
    const WhiteBoxResult result = white_box_inference(proximity(network, 1.0, Vector::Constant(1, -1.0)));
    CHECK(result.certificate.gap <= 1e-15);
    CHECK(std::abs(result.certificate.x(0)) <= 1e-15);
    const auto& nu = result.certificate.xi.nu;
    CHECK(1.0 + nu[0](0) - 3.0 * nu[1](0) == doctest::Approx(0.0));
}

TEST_CASE("inference: box and linear constraints, by hand") {
    // f = 0: the projection of y on the feasible set, μ from x − y + Cᵀμ = 0.
    Network network = one_layer(Matrix::Zero(1, 2), Vector::Zero(1), Vector::Zero(1));
    InferenceProblem problem = proximity(network, 1.0, Eigen::Vector2d(3.0, 1.0));
    SUBCASE("box") {
        problem.C = (Matrix(2, 2) << 1.0, 0.0, 0.0, -1.0).finished();
        problem.h = Eigen::Vector2d(2.0, 5.0);
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK((result.certificate.x - Eigen::Vector2d(2.0, 1.0)).norm() <= 1e-14);
        CHECK(result.certificate.mu(0) == doctest::Approx(1.0));
        CHECK(result.certificate.mu(1) == 0.0);
        REQUIRE(result.active.size() == 1);
        CHECK(result.active[0] == 0);
        CHECK(std::abs(result.certificate.gap) <= 1e-14);
    }
    SUBCASE("half space, its row not of length one") {
        problem.C = (Matrix(1, 2) << 3.0, 3.0).finished();
        problem.h = Vector::Constant(1, 6.0);  // x₀ + x₁ ≤ 2: x = (2, 0), μ·3 = 1
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK((result.certificate.x - Eigen::Vector2d(2.0, 0.0)).norm() <= 1e-14);
        CHECK(result.certificate.mu(0) == doctest::Approx(1.0 / 3.0));
        CHECK(result.certificate.value == doctest::Approx(1.0));
    }
    SUBCASE("equality as two rows, steep objective") {
        problem.Q *= 1e6;
        problem.C = (Matrix(2, 2) << 1.0, 1.0, -1.0, -1.0).finished();
        problem.h = Eigen::Vector2d(1.0, -1.0);
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK((result.certificate.x - Eigen::Vector2d(1.5, -0.5)).norm() <= 1e-13);
        CHECK(result.certificate.mu(0) - result.certificate.mu(1) == doctest::Approx(1.5e6));
    }
    SUBCASE("general quadratic and a linear term") {
        problem.Q = (Matrix(2, 2) << 2.0, 1.0, 1.0, 2.0).finished();
        problem.q = Eigen::Vector2d(1.0, -1.0);  // Q(x − y) = −q: x = y − (1, −1)
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK((result.certificate.x - Eigen::Vector2d(2.0, 2.0)).norm() <= 1e-14);
        CHECK(result.certificate.value == doctest::Approx(1.0 + 0.0));  // ½(1,−1)Q(1,−1)ᵀ + 2 − 2
    }
    SUBCASE("no curvature at all: a linear program in a box") {
        problem.Q.setZero();
        problem.q = Eigen::Vector2d(1.0, -2.0);
        problem.C = (Matrix(4, 2) << 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0).finished();
        problem.h = Vector::Ones(4);
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK((result.certificate.x - Eigen::Vector2d(-1.0, 1.0)).norm() <= 1e-12);
        CHECK(result.certificate.lower_bound == doctest::Approx(-3.0));
        CHECK(std::abs(result.certificate.gap) <= 1e-12);
    }
    SUBCASE("unbounded below: nothing is proved") {
        problem.Q.setZero();
        problem.q = Eigen::Vector2d(1.0, 0.0);
        const WhiteBoxResult result = white_box_inference(problem);
        CHECK(result.certificate.gap == std::numeric_limits<double>::infinity());
    }
    SUBCASE("infeasible") {
        problem.C = (Matrix(2, 2) << 1.0, 1.0, -2.0, -2.0).finished();
        problem.h = Eigen::Vector2d(1.0, -4.0);  // x₀ + x₁ ≤ 1 and ≥ 2
        const WhiteBoxResult result = white_box_inference(problem);
        REQUIRE(result.infeasible);
        const Vector& mu = result.infeasible->mu;
        CHECK((mu.array() >= 0.0).all());
        CHECK((problem.C.transpose() * mu).norm() <= 1e-14 * mu.norm());
        CHECK(mu.dot(problem.h) < 0.0);
        CHECK(result.infeasible->radius >= 1e12);
    }
    SUBCASE("a row of zeros that cannot hold") {
        problem.C = Matrix::Zero(1, 2);
        problem.h = Vector::Constant(1, -1.0);
        CHECK(white_box_inference(problem).infeasible);
        problem.h(0) = 0.0;
        CHECK_FALSE(white_box_inference(problem).infeasible);
    }
}

TEST_CASE("inference: random constraints, proved or infeasible with a proof") {
    Random random(84);
    int infeasible = 0, active = 0;
    for (int trial = 0; trial < 120; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const Index d0 = network.input_dim, rows = random_index(1, 6, random);
        InferenceProblem problem = proximity(network, std::pow(10.0, trial % 5 - 2), random_vector(d0, random, 2.0));
        problem.C = random_matrix(rows, d0, random);
        problem.h = random_vector(rows, random);
        const WhiteBoxResult result = white_box_inference(problem);
        INFO("trial ", trial);
        if (result.infeasible) {
            ++infeasible;
            CHECK(result.infeasible->radius >= 1e6);
            CHECK((result.infeasible->mu.array() >= 0.0).all());
            continue;
        }
        active += result.active.empty() ? 0 : 1;
        const InferenceCertificate& proof = result.certificate;
        CHECK(std::abs(proof.gap) <= 1e-11 * size_of_F(problem, proof.x));
        CHECK(proof.violation <= 1e-12 * (1.0 + proof.x.norm()));
        CHECK((proof.mu.array() >= 0.0).all());
    }
    CHECK(infeasible >= 5);
    CHECK(active >= 20);
    MESSAGE(fmt::format("120 problems: {} infeasible, {} with active constraints", infeasible, active));
}

TEST_CASE("inference: a bound rests on nothing that is not enforced") {
    // f = ½x² as a quadratic module, Φ = x: the minimum is −½ at x = −1. Q = 0 is singular, so the module lends its curvature,
    // which is right for p = αq(x) alone; with p = ½ taken at its word the bound would be −¼.
    Network network = one_layer(Matrix::Zero(1, 1), Vector::Zero(1), Vector::Zero(1));
    network.quadratic.push_back({1.0, Matrix::Ones(1, 1), Vector::Zero(1)});
    InferenceProblem problem = proximity(network, 1.0, Vector::Zero(1));
    problem.Q.setZero();
    problem.q = Vector::Ones(1);
    Multipliers xi = zero_multipliers(network);
    for (const double p : {-3.0, -1.0, -0.5, 0.0, 0.5, 2.0})
        for (const double x : {-2.0, -1.0, -0.5, 0.0, 1.0}) {
            xi.p[0](0) = p;
            const InferenceCertificate found = certify_inference(problem, Vector(Vector::Constant(1, x)), xi);
            INFO("p ", p, " x ", x);
            CHECK(found.lower_bound <= -0.5);
            CHECK(found.lower_bound >= -0.5 - 1e-12);
            CHECK(found.value == doctest::Approx(0.5 * x * x + x));
        }
    // A curvature that is not there: Q = [[1, 1], [1, 1]] is singular, and one ulp off it is not positive semidefinite.
    Network flat = one_layer(Matrix::Zero(1, 2), Vector::Zero(1), Vector::Zero(1));
    InferenceProblem degenerate = proximity(flat, 1.0, Vector::Zero(2));
    degenerate.Q = Matrix::Ones(2, 2);
    degenerate.q = Eigen::Vector2d(1.0, -1.0);
    CHECK(certify_inference(degenerate, Vector(Vector::Zero(2)), zero_multipliers(flat)).gap ==
          std::numeric_limits<double>::infinity());
}

TEST_CASE("inference: multipliers from anywhere are made exactly feasible, or prove nothing") {
    Random random(86);
    for (int trial = 0; trial < 60; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const InferenceProblem problem = proximity(network, 1.0, random_vector(network.input_dim, random));
        const Vector x = random_vector(network.input_dim, random);
        Multipliers xi = zero_multipliers(network);
        for (auto* blocks : {&xi.nu, &xi.p, &xi.r})
            for (Vector& block : *blocks)
                block = random_vector(block.size(), random, std::pow(10.0, trial % 9 - 4));
        if (trial % 4 == 0) xi.nu[0](0) = std::numeric_limits<double>::quiet_NaN();
        if (trial % 6 == 1) xi.nu.back()(0) = std::numeric_limits<double>::infinity();
        const InferenceCertificate found = certify_inference(problem, x, xi);
        CHECK(exactly_feasible(network, found.xi));
        CHECK(std::isfinite(found.gap));
        CHECK(found.lower_bound <= white_box_inference(problem).certificate.value);
    }
}

TEST_CASE("inference: gap and bound hold in exact arithmetic") {
    Random random(87);
    for (int trial = 0; trial < 60; ++trial) {
        const PointedNetwork pointed = degenerate_network(random_shape(random), random);
        const double beta = std::pow(2.0, trial % 9 - 4);
        const Vector y = pointed.x + random_vector(pointed.x.size(), random, trial % 2 == 0 ? 1.0 : 1e-6);
        const InferenceCertificate found = white_box_inference(proximity(pointed.network, beta, y)).certificate;
        REQUIRE(found.rest.size() == 0);
        const InferenceBound exact = enclose_inference(exact_point(pointed.network, found.x), y, beta, found.xi, 128);
        INFO("trial ", trial, " F ", found.value, " gap ", found.gap);
        CHECK_FALSE(Dyadic(found.gap) < exact.gap() - Dyadic(std::abs(found.value) * 0x1p-100));
        CHECK_FALSE(exact.lower + Dyadic(std::abs(found.value) * 0x1p-100) < Dyadic(found.lower_bound));
    }
}
