#include <doctest/doctest.h>

#include <limits>

#include "file_helpers.hpp"
#include "network/network.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

/// d0 = 2, layers of 3 and 2 units, one module of each kind.
Network sample() {
    Network network;
    network.name = "sample";
    network.input_dim = 2;
    network.layers = {{Matrix::Constant(3, 2, -1.0), Matrix(), Vector::Constant(3, 0.5)},
                      {Matrix::Constant(2, 2, 2.0), Matrix::Constant(2, 3, 0.25), Vector::Zero(2)}};
    network.c = Vector::Ones(2);
    network.v = Vector::Constant(2, -3.0);
    network.quadratic = {{0.5, Matrix::Identity(2, 2), Vector::Zero(2)}};
    network.conic = {{0.0, Matrix::Ones(4, 2), Vector::Zero(4)}};
    return network;
}

/// The only violation of the sample network after `change`.
template <class Change>
std::string only_violation(const Change& change) {
    Network network = sample();
    change(network);
    const auto found = violations(network);
    REQUIRE(found.size() == 1);
    return found.front();
}

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("violations: a good network has none, zeros included") {
    Network network = sample();
    CHECK(violations(network).empty());
    CHECK_NOTHROW(validate(network));
    network.layers[1].U.setConstant(-0.0);
    network.c.setZero();
    CHECK(violations(network).empty());
}

TEST_CASE("violations: shapes") {
    CHECK(only_violation([](Network& n) {
              n.layers[1].W.resize(2, 3);
              n.layers[1].W.setZero();
          }) == "layers[1].W is 2x3, expected 2x2");
    CHECK(only_violation([](Network& n) { n.layers[1].U = Matrix::Zero(2, 4); }) == "layers[1].U is 2x4, expected 2x3");
    CHECK(only_violation([](Network& n) { n.layers[1].U = Matrix(); }) == "layers[1].U is 0x0, expected 2x3");
    CHECK(contains(only_violation([](Network& n) { n.layers[0].U = Matrix::Zero(3, 1); }),
                   "layers[0].U is 3x1, must be absent"));
    CHECK(only_violation([](Network& n) { n.layers[0].b = Vector::Zero(4); }) ==
          "layers[0].b has 4 entries, expected 3");
    CHECK(only_violation([](Network& n) { n.c = Vector::Zero(3); }) == "c has 3 entries, expected 2");
    CHECK(only_violation([](Network& n) { n.v = Vector::Zero(0); }) == "v has 0 entries, expected 2");
    CHECK(only_violation([](Network& n) { n.quadratic[0].B = Matrix::Zero(2, 5); }) ==
          "quadratic[0].B is 2x5, expected 2x2");
    CHECK(only_violation([](Network& n) { n.quadratic[0].e = Vector::Zero(1); }) ==
          "quadratic[0].e has 1 entries, expected 2");
    CHECK(only_violation([](Network& n) { n.conic[0].d = Vector::Zero(1); }) == "conic[0].d has 1 entries, expected 4");
    CHECK(only_violation([](Network& n) {
              n.conic[0].A = Matrix::Zero(0, 2);
              n.conic[0].d = Vector::Zero(0);
          }) == "conic[0].A has no rows, must have at least 1");
}

TEST_CASE("violations: a shape error hides the entries of that matrix only") {
    Network network = sample();
    network.layers[1].U = Matrix::Constant(2, 2, -1.0);
    network.c(1) = -2.0;
    CHECK(violations(network) ==
          std::vector<std::string>{"layers[1].U is 2x2, expected 2x3", "c[1] = -2, must be >= 0"});
}

TEST_CASE("violations: nothing there") {
    const auto found = violations(Network{});
    REQUIRE(found.size() == 2);
    CHECK(found[0] == "input_dim = 0, must be >= 1");
    CHECK(found[1] == "layers is empty, must have at least 1 layer");

    Network network = sample();
    network.layers[0] = {Matrix::Zero(0, 2), Matrix(), Vector()};
    CHECK(contains(violations(network).front(), "layers[0] has no units"));
}

TEST_CASE("violations: entries") {
    CHECK(only_violation([](Network& n) { n.layers[1].U(1, 2) = -0.25; }) == "layers[1].U[1][2] = -0.25, must be >= 0");
    CHECK(only_violation([](Network& n) { n.layers[0].W(2, 1) = not_a_number; }) ==
          "layers[0].W[2][1] = nan, must be finite");
    CHECK(only_violation([](Network& n) { n.layers[1].U(0, 0) = not_a_number; }) ==
          "layers[1].U[0][0] = nan, must be finite");
    CHECK(only_violation([](Network& n) { n.layers[0].b(2) = -infinity; }) == "layers[0].b[2] = -inf, must be finite");
    CHECK(only_violation([](Network& n) { n.c(0) = -1e-300; }) == "c[0] = -1e-300, must be >= 0");
    CHECK(only_violation([](Network& n) { n.v(1) = infinity; }) == "v[1] = inf, must be finite");
    CHECK(only_violation([](Network& n) { n.b0 = not_a_number; }) == "b0 = nan, must be finite");
    CHECK(only_violation([](Network& n) { n.quadratic[0].alpha = 0; }) == "quadratic[0].alpha = 0, must be > 0");
    CHECK(only_violation([](Network& n) { n.quadratic[0].alpha = not_a_number; }) ==
          "quadratic[0].alpha = nan, must be finite");
    CHECK(only_violation([](Network& n) { n.quadratic[0].B(0, 1) = infinity; }) ==
          "quadratic[0].B[0][1] = inf, must be finite");
    CHECK(only_violation([](Network& n) { n.conic[0].lambda = -2; }) == "conic[0].lambda = -2, must be >= 0");
    CHECK(only_violation([](Network& n) { n.conic[0].d(3) = not_a_number; }) == "conic[0].d[3] = nan, must be finite");
}

TEST_CASE("violations: row by row, up to the limit") {
    Network network = sample();
    network.layers[1].U.setConstant(-1.0);
    CHECK(violations(network).size() == 6);
    CHECK(violations(network, 2) ==
          std::vector<std::string>{"layers[1].U[0][0] = -1, must be >= 0", "layers[1].U[0][1] = -1, must be >= 0"});
    CHECK(violations(network, 0).empty());
}

TEST_CASE("validate: the first violation and how many more") {
    Network network = sample();
    network.layers[1].U(0, 1) = -1.0;
    CHECK(input_error([&] { validate(network); }) == "layers[1].U[0][1] = -1, must be >= 0");
    network.b0 = not_a_number;
    CHECK(input_error([&] { validate(network, "a.json"); }) ==
          "a.json: layers[1].U[0][1] = -1, must be >= 0 (and 1 more)");
    network.layers[0].W = Matrix::Constant(3, 2, not_a_number);
    network.conic[0].A = Matrix::Constant(200, 2, not_a_number);
    CHECK(contains(input_error([&] { validate(network); }), "(and at least 99 more)"));
}

TEST_CASE("total_units and parameter_count") {
    CHECK(total_units(sample()) == 5);
    CHECK(parameter_count(sample()) == (6 + 3) + (4 + 6 + 2) + 2 + 2 + 1 + (1 + 4 + 2) + (1 + 8 + 4));
}
