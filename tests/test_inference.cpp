// Certified inference: the gap is a proof whatever the method, and white-box closes it on the paper's queries.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "geometry/optimal_set.hpp"
#include "inference/white_box.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("inference: the gap by the identity is F − bound, and never below the true gap") {
    Random random(81);
    for (int trial = 0; trial < 50; ++trial) {
        const Network network = random_network(random_shape(random), random);
        const InferenceProblem problem{&network, std::pow(10.0, trial % 5 - 2),
                                       random_vector(network.input_dim, random)};
        const Vector x = random_vector(network.input_dim, random);
        const LocalState state = evaluate(network, x);
        const InferenceCertificate found = certify_inference(problem, x, random_feasible(network, state, random));
        const double size = value_size(network, problem.y) + value_size(network, x) + std::abs(found.lower_bound) +
                            problem.beta * (x - problem.y).squaredNorm();
        CHECK(found.gap >= 0.0);
        CHECK(std::abs(found.value - found.lower_bound - found.gap) <= 1e-12 * size);
        CHECK(feasibility_violation(network, found.xi).amount == 0.0);
        // A proof: no other point does better than the bound.
        for (int k = 0; k < 10; ++k) {
            const LocalState other = evaluate(network, random_vector(network.input_dim, random));
            CHECK(inference_value(problem, other) >= found.lower_bound - 1e-12 * size);
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
        const InferenceProblem problem{&network, 10.0, queries.col(j)};
        const WhiteBoxResult result = white_box_inference(problem);
        const InferenceCertificate& proof = result.certificate;
        INFO("query ", j, ": gap ", proof.gap, " after ", result.iterations, " iterations");
        CHECK(proof.gap <= 1e-12 * std::abs(proof.value));
        CHECK(std::abs(proof.value - proof.lower_bound) <= 1e-12 * std::abs(proof.value));
        CHECK(feasibility_violation(network, proof.xi).amount == 0.0);
        CHECK(result.iterations <= 20);
        worst = std::max(worst, proof.gap / std::abs(proof.value));
        if (!result.kinks.empty()) ++at_kinks;
        for (const auto& [layer, unit] : result.kinks)
            CHECK(std::abs(forward<double>(network, proof.x).a[static_cast<std::size_t>(layer)](unit)) <= 1e-13);
    }
    CHECK(at_kinks >= 15);
    MESSAGE(fmt::format("{} of 30 minimisers at kinks, largest proved relative gap {:.1e}", at_kinks, worst));
}

TEST_CASE("inference: a residual that vanishes at the optimum is held there") {
    // f = 3|x₀ − 1| + ReLU(x₀ + x₁): from y = (1.2, −4) the norm's kink wins, r = β(y − x)₀ inside its ball.
    Network network;
    network.input_dim = 2;
    network.layers.resize(1);
    network.layers[0].W = (Matrix(1, 2) << 1.0, 1.0).finished();
    network.layers[0].b = Vector::Zero(1);
    network.c = Vector::Ones(1);
    network.v = Vector::Zero(2);
    network.conic.push_back({3.0, (Matrix(1, 2) << 1.0, 0.0).finished(), Vector::Constant(1, -1.0)});
    const InferenceProblem problem{&network, 2.0, Eigen::Vector2d(1.2, -4.0)};
    const WhiteBoxResult result = white_box_inference(problem);
    CHECK(result.certificate.gap <= 1e-14);
    CHECK(result.zero_modules == std::vector<Index>{0});
    CHECK((result.certificate.x - Eigen::Vector2d(1.0, -4.0)).norm() <= 1e-14);
    CHECK(result.certificate.xi.r[0](0) == doctest::Approx(0.4));
}
