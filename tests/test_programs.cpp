// The value-function program (ps_soc_socp) in the convention of design §3, and its dual-box scaling.
#include <doctest/doctest.h>

#include "conic/scaling.hpp"
#include "geometry/optimal_set.hpp"
#include "hand_networks.hpp"
#include "random_networks.hpp"
#include "solvers/solver.hpp"
#include "support/error.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Cone;
using conic::ConicProgram;
using conic::ValueFunction;

namespace {

Matrix dense(const conic::SparseMatrix& matrix) { return Matrix(matrix); }

/// The closed-form pair is optimal: Ax + s = b, s ∈ K, y ∈ K*, Aᵀy + c = 0, no gap; each up to the rounding of its own
/// rows, whose sizes are those of the same program on absolute values.
void check_optimal(ValueFunction& program, const LocalState& state, const Multipliers& xi) {
    const Network& network = program.network();
    INFO(network.name);
    program.set_point(state.x);
    const ConicProgram& conic = program.program();
    const Network sizes = absolute(network);
    ValueFunction size_program(sizes);
    size_program.set_point(state.x.cwiseAbs());
    const Vector x = program.primal(state), y = program.dual(xi);
    const Matrix A = dense(conic.A).cwiseAbs();
    const Vector row_size = size_program.program().b.cwiseAbs() + A * x.cwiseAbs();
    const Vector column_size = conic.c.cwiseAbs() + A.transpose() * y.cwiseAbs();
    const double unit = chain_error(network);

    const Vector s = conic.b - conic.A * x;
    const Vector dual_residual = conic.A.transpose() * y + conic.c;
    REQUIRE((dual_residual.array().abs() <= unit * column_size.array()).all());
    for (const conic::Block& block : conic.blocks) {
        INFO(block.name);
        const double rows = row_size.segment(block.begin, block.size).norm();
        REQUIRE(conic::cone_distance(block.cone, s.segment(block.begin, block.size), false) <= unit * rows);
        const double duals = y.segment(block.begin, block.size).norm();
        REQUIRE(conic::cone_distance(block.cone, y.segment(block.begin, block.size), true) <= unit * duals);
    }
    const solvers::Measured measured = solvers::measure(conic, x, s, y);
    const double value = value_size(network, state.x);
    REQUIRE(std::abs(measured.primal_objective - state.value) <= unit * value);
    REQUIRE(measured.gap <= unit * (value + conic.c.cwiseAbs().dot(x.cwiseAbs()) + row_size.dot(y.cwiseAbs())));

    const Multipliers back = program.multipliers(y);
    REQUIRE(back.nu == xi.nu);
    REQUIRE(back.p == xi.p);
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        REQUIRE(back.r[g] == (network.conic[g].lambda == 0.0 ? Vector(Vector::Zero(xi.r[g].size())) : xi.r[g]));
}

}  // namespace

TEST_CASE("programs: signs and rows of the value-function program, by hand") {
    const Network network = hand_network();
    ValueFunction program(network);
    program.set_point(vector({1.0}));
    const ConicProgram& conic = program.program();
    REQUIRE_NOTHROW(conic::validate(conic));
    std::vector<std::string> rows, columns;
    std::vector<Cone> cones;
    for (const conic::Block& block : conic.blocks) {
        rows.push_back(block.name);
        cones.push_back(block.cone);
    }
    for (const conic::Columns& variables : conic.variables)
        columns.push_back(variables.name);
    CHECK(rows == std::vector<std::string>{"relu[0]", "bound[0]", "quadratic[0].link", "quadratic[0].cone",
                                           "conic[0].link", "conic[0].cone"});
    CHECK(cones == std::vector<Cone>{Cone::Nonnegative, Cone::Nonnegative, Cone::Zero, Cone::RotatedSecondOrder,
                                     Cone::Zero, Cone::SecondOrder});
    CHECK(columns == std::vector<std::string>{"z[0]", "s[0]", "eta[0]", "t[0]", "omega[0]"});
    Matrix A(9, 5);
    A << -1, 0, 0, 0, 0,  // relu: z − 3 ≥ 0
        -1, 0, 0, 0, 0,   // bound: z ≥ 0
        0, 0, 1, 0, 0,    // link: η = 2
        0, -1, 0, 0, 0,   // cone: (s, 1, η)
        0, 0, 0, 0, 0,    //
        0, 0, -1, 0, 0,   //
        0, 0, 0, 0, 1,    // link: ω = 2
        0, 0, 0, -1, 0,   // cone: (t, ω)
        0, 0, 0, 0, -1;
    CHECK(dense(conic.A) == A);
    CHECK(conic.b == vector({-3, 0, 2, 0, 1, 0, 2, 0, 0}));
    CHECK(conic.c == vector({5, 4, 0, 0.5, 0}));
    CHECK(conic.c0 == 6.0);
    CHECK(conic.P.nonZeros() == 0);
    CHECK(conic.block("conic[0].cone").begin == 7);
    CHECK_THROWS_AS(conic.block("conic[1].cone"), InputError);

    // f = 5·3 + 6 + 2·4 + 0.5·2 = 30; ν = 5, p = αq = 8, r = 0.5.
    const LocalState state = evaluate(network, vector({1.0}));
    CHECK(state.value == 30.0);
    const Vector x = program.primal(state), y = program.dual(canonical_selector(network, state));
    CHECK(x == vector({3, 2, 2, 2, 2}));
    CHECK(y == vector({5, 0, -8, 4, 8, -8, -0.5, 0.5, -0.5}));
    const Vector s = conic.b - conic.A * x;
    CHECK(s == vector({0, 3, 0, 2, 1, 2, 0, 2, 2}));
    const solvers::Measured measured = solvers::measure(conic, x, s, y);
    CHECK(measured.primal_objective == 30.0);
    CHECK(measured.dual_objective == 30.0);
    CHECK(measured.dual_residual == 0.0);
    CHECK(measured.primal_cone == 0.0);
    CHECK(measured.dual_cone == 0.0);
    const Multipliers xi = program.multipliers(vector({1, 2, 3, 4, 5, 6, 7, 8, 9}));
    CHECK(xi.nu[0] == vector({1}));
    CHECK(xi.p[0] == vector({-3}));
    CHECK(xi.r[0] == vector({-7}));
}

TEST_CASE("programs: the derivative of the value in b is −y") {
    // A step of the bias moves b of its row; f moves by ν, p, r times the step, to first order.
    const Network network = hand_network();
    ValueFunction program(network);
    program.set_point(vector({1.0}));
    const LocalState state = evaluate(network, vector({1.0}));
    const Vector y = program.dual(canonical_selector(network, state));
    const double step = 0x1p-20;
    for (const int which : {0, 1, 2}) {
        Network moved = network;
        if (which == 0) moved.layers[0].b(0) += step;
        if (which == 1) moved.quadratic[0].e(0) += step;
        if (which == 2) moved.conic[0].d(0) += step;
        ValueFunction other(moved);
        other.set_point(vector({1.0}));
        const double expected = -y.dot(other.program().b - program.program().b);
        const double change = evaluate(moved, vector({1.0})).value - state.value;
        CHECK(std::abs(expected) > 0.1 * step);
        CHECK(std::abs(change - expected) <= 0.5 * 4.0 * step * step);  // curvature α of the quadratic module
    }
}

TEST_CASE("programs: cone distances, by hand") {
    const auto distance = [](Cone cone, std::initializer_list<double> part, bool dual = false) {
        return conic::cone_distance(cone, vector(part), dual);
    };
    CHECK(distance(Cone::Zero, {3, -4}) == 5.0);
    CHECK(distance(Cone::Zero, {3, -4}, true) == 0.0);
    CHECK(distance(Cone::Nonnegative, {1, -3, 0, -4}) == 5.0);
    CHECK(distance(Cone::SecondOrder, {5, 3, 4}) == 0.0);
    CHECK(distance(Cone::SecondOrder, {3, 3, 4}) == doctest::Approx(std::sqrt(2.0)).epsilon(1e-15));  // (5 − 3)/√2
    CHECK(distance(Cone::SecondOrder, {-12, 3, 4}) == 13.0);  // nearest to the apex
    CHECK(distance(Cone::SecondOrder, {-2}) == 2.0);
    CHECK(distance(Cone::RotatedSecondOrder, {2, 1, 2}) <= 1e-15);  // 2² = 2·2·1
    CHECK(distance(Cone::RotatedSecondOrder, {2, 1, 0}) == 0.0);
    CHECK(distance(Cone::RotatedSecondOrder, {0, 0, 3}) == doctest::Approx(3.0 / std::sqrt(2.0)).epsilon(1e-15));
    CHECK(distance(Cone::RotatedSecondOrder, {-1, 0, 0}) == doctest::Approx(1.0).epsilon(1e-15));
    CHECK(distance(Cone::RotatedSecondOrder, {-3, -4, 0}) == doctest::Approx(5.0).epsilon(1e-15));
}

TEST_CASE("programs: the closed-form pair is optimal on random and ugly networks") {
    Random random(90);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 60; ++round)
        networks.push_back(random_network(random_shape(random, 8), random));
    for (const Network& network : networks) {
        ValueFunction program(network);
        REQUIRE_NOTHROW(conic::validate(program.program()));
        for (int draw = 0; draw < 3; ++draw) {
            const LocalState state = evaluate(network, random_vector(network.input_dim, random));
            check_optimal(program, state, canonical_selector(network, state));
        }
    }
}

TEST_CASE("programs: every ξ of D*(x) is an optimal dual at a degenerate point, exactly where nothing rounds") {
    Random random(91);
    for (int round = 0; round < 150; ++round) {
        auto [network, x] = degenerate_network(random_shape(random), random);
        ValueFunction program(network);
        const LocalState state = evaluate(network, x);
        for (int draw = 0; draw < 4; ++draw)
            check_optimal(program, state, random_optimal(network, state, random));

        network.conic.clear();
        ValueFunction rational(network);
        const LocalState rational_state = evaluate(network, x);
        rational.set_point(x);
        const Vector primal = rational.primal(rational_state);
        const Vector y = rational.dual(canonical_selector(network, rational_state));
        const Vector s = rational.program().b - rational.program().A * primal;
        const solvers::Measured measured = solvers::measure(rational.program(), primal, s, y);
        REQUIRE(measured.primal_objective == rational_state.value);
        REQUIRE(measured.dual_objective == rational_state.value);
        REQUIRE(measured.dual_residual == 0.0);
    }
}

TEST_CASE("programs: a conic module with λ = 0 is left out, and its r is 0") {
    Network network = hand_network();
    network.conic.insert(network.conic.begin(), Conic{0.0, vector({1.0, 1.0}), vector({0.0, 1.0})});
    ValueFunction program(network);
    CHECK(program.program().rows() == 9);
    CHECK_THROWS_AS(program.program().block("conic[0].cone"), InputError);
    CHECK(program.program().block("conic[1].cone").size == 2);
    CHECK(program.layout().t[0] == -1);
    const Multipliers xi = program.multipliers(Vector::Ones(9));
    CHECK(xi.r[0] == vector({0.0, 0.0}));
    CHECK(xi.r[1] == vector({-1.0}));
    const LocalState state = evaluate(network, vector({1.0}));
    check_optimal(program, state, canonical_selector(network, state));
    for (Conic& module : network.conic)
        module.lambda = 0.0;
    ValueFunction without(network);
    check_optimal(without, evaluate(network, vector({1.0})),
                  canonical_selector(network, evaluate(network, vector({1.0}))));
}

TEST_CASE("programs: each block on its own, by Proposition 1") {
    Random random(93);
    for (int round = 0; round < 40; ++round) {
        const Network network =
            random_network({.input_dim = 3, .widths = {4, 3}, .quadratic = {2, 3}, .conic = {3, 1}}, random);
        const LocalState state = evaluate(network, random_vector(3, random));
        const Multipliers xi = canonical_selector(network, state);
        std::vector<conic::Parts> parts{conic::Parts::relu_backbone()};
        for (std::size_t k = 0; k < 2; ++k) {
            parts.push_back(conic::Parts::one_quadratic(k));
            parts.push_back(conic::Parts::one_conic(k));
        }
        double sum = 0.0;
        Multipliers collected = zero_multipliers(network);
        for (const conic::Parts& part : parts) {
            ValueFunction program(network, part);
            program.set_point(state.x);
            REQUIRE_NOTHROW(conic::validate(program.program()));
            const Vector x = program.primal(state), y = program.dual(xi);
            const Vector s = program.program().b - program.program().A * x;
            const solvers::Measured measured = solvers::measure(program.program(), x, s, y);
            const double unit = chain_error(network) * value_size(network, state.x);
            REQUIRE(measured.gap <= 2.0 * unit);
            sum += measured.primal_objective;
            const Multipliers own = program.multipliers(y);
            for (std::size_t l = 0; l < own.nu.size(); ++l)
                collected.nu[l] += own.nu[l];
            for (std::size_t h = 0; h < own.p.size(); ++h)
                collected.p[h] += own.p[h];
            for (std::size_t g = 0; g < own.r.size(); ++g)
                collected.r[g] += own.r[g];
        }
        REQUIRE(std::abs(sum - state.value) <= chain_error(network) * value_size(network, state.x));
        // Each block gives its own multipliers and zeros for the others.
        REQUIRE(collected.nu == xi.nu);
        REQUIRE(collected.p == xi.p);
        REQUIRE(collected.r == xi.r);
    }
}

TEST_CASE("programs: a change of units keeps primal, dual and KKT, with P, σ and κ; exactly for powers of two") {
    conic::Builder builder;
    builder.add_columns("x", 2);
    builder.add_rows("rows", Cone::Nonnegative, 2);
    builder.set(0, 0, 3.0);
    builder.set(0, 1, -1.0);
    builder.set(1, 1, 2.0);
    ConicProgram program = builder.build();
    program.P.insert(0, 0) = 2.0;
    program.P.insert(0, 1) = program.P.insert(1, 0) = 1.0;
    program.P.insert(1, 1) = 4.0;
    program.P.makeCompressed();
    const Vector x = vector({1.0, -2.0}), s = vector({0.0, 3.0}), y = vector({5.0, 0.0});
    program.b = program.A * x + s;
    program.c = -(program.P * x + program.A.transpose() * y);
    program.c0 = 11.0;
    const solvers::Measured plain = solvers::measure(program, x, s, y);
    REQUIRE(plain.gap == 0.0);
    const conic::Scaling scaling{vector({2.0, 0.5}), vector({4.0, 0.25}), 8.0, 16.0};
    const ConicProgram scaled = conic::scaled(program, scaling);
    // x̃ = C⁻¹x/σ, s̃ = Rs/σ, ỹ = κR⁻¹y
    const Vector x_scaled = x.cwiseQuotient(scaling.column) / 8.0, s_scaled = s.cwiseProduct(scaling.row) / 8.0;
    const Vector y_scaled = 16.0 * y.cwiseQuotient(scaling.row);
    const solvers::Measured measured = solvers::measure(scaled, x_scaled, s_scaled, y_scaled);
    CHECK(measured.primal_residual == 0.0);
    CHECK(measured.dual_residual == 0.0);
    CHECK(measured.gap == 0.0);
    CHECK(scaling.unscale_objective(measured.primal_objective) + program.c0 == plain.primal_objective);
    CHECK(scaling.unscale_x(x_scaled) == x);
    CHECK(scaling.unscale_s(s_scaled) == s);
    CHECK(scaling.unscale_y(y_scaled) == y);
    const conic::Scaling none = conic::no_scaling(program);
    CHECK(none.scaled_b(program.b) == program.b);
    CHECK(none.scaled_c(program.c) == program.c);
    CHECK(dense(conic::scaled(program, none).A) == dense(program.A));
    CHECK(dense(conic::scaled(program, none).P) == dense(program.P));
}

TEST_CASE("programs: dual-box scaling by hand") {
    // Two layers: ub₁ = c = (2, 0), ub₀ = Uᵀc = (2·3, 2·0, 2·5) = (6, 0, 10).
    Network network;
    network.input_dim = 1;
    network.layers = {
        {vector({1.0, 1.0, 1.0}), {}, vector({0.0, 0.0, 0.0})},
        {vector({1.0, 1.0}), (Matrix(2, 3) << 3.0, 0.0, 5.0, 7.0, 1.0, 1.0).finished(), vector({0.0, 0.0})}};
    network.c = vector({2.0, 0.0});
    network.v = vector({0.0});
    const std::vector<Vector> box = conic::dual_box(network);
    CHECK(box[1] == vector({2.0, 0.0}));
    CHECK(box[0] == vector({6.0, 0.0, 10.0}));
    ValueFunction program(network);
    program.set_point(vector({3.0}));
    conic::DualBoxScaling dual_box(program);
    const conic::Scaling& scaling = dual_box.at_current_point();
    // Where ub = 0: 1 over one plus the row's sum in the units of the layer below, 7/6 + 1/1 + 1/10.
    const double dead = 1.0 / (1.0 + 7.0 / 6.0 + 1.0 + 0.1);
    CHECK((scaling.row - vector({6, 1, 10, 6, 1, 10, 2, dead, 2, dead})).norm() <= 1e-15);
    CHECK((scaling.column.cwiseProduct(vector({6, 1, 10, 2, dead})) - Vector::Ones(5)).norm() <= 1e-15);
    CHECK(scaling.primal == 30.0);  // 10·|−3|
    const ConicProgram scaled = conic::scaled(program.program(), scaling);
    CHECK(scaled.c == vector({0, 0, 0, 1, 0}));
    CHECK(scaled.c0 == 0.0);
    CHECK((scaled.b - vector({-18, -3, -30, 0, 0, 0, -6, -3 * dead, 0, 0}) / 30.0).norm() <= 1e-16);
    // Ũ of the first unit: 2·(3/6, 0/1, 5/10)
    CHECK((dense(scaled.A).row(6) - vector({1.0, 0.0, 1.0, -1.0, 0.0}).transpose()).norm() <= 1e-15);
}

TEST_CASE("programs: in dual-box units Ã and c̃ do not depend on x, Ũ has column sums 1, and multipliers size 1") {
    Random random(92);
    std::vector<Network> networks = ugly_networks(random);
    for (int round = 0; round < 40; ++round)
        networks.push_back(random_network(random_shape(random, 8), random));
    const double few_ulps = 8 * std::numeric_limits<double>::epsilon();  // two or three products and their inverses
    for (const Network& network : networks) {
        INFO(network.name);
        ValueFunction program(network);
        conic::DualBoxScaling dual_box(program);
        const ValueFunction::Layout& layout = program.layout();
        const std::vector<Vector> box = conic::dual_box(network);
        Matrix first_A;
        Vector first_c;
        for (int draw = 0; draw < 4; ++draw) {
            const Vector x = draw == 0 ? Vector(Vector::Zero(network.input_dim))
                                       : random_vector(network.input_dim, random, draw == 1 ? 1e4 : 1.0);
            const LocalState state = evaluate(network, x);
            program.set_point(x);
            const conic::Scaling& scaling = dual_box.at_current_point();
            const ConicProgram scaled = conic::scaled(program.program(), scaling);
            REQUIRE_NOTHROW(conic::validate(scaled));
            REQUIRE((scaling.row.array() > 0.0).all());
            if (draw == 0) {
                first_A = dense(scaled.A);
                first_c = scaled.c;
            }
            const Matrix A = dense(scaled.A);
            REQUIRE(((A - first_A).array().abs() <= few_ulps * first_A.array().abs()).all());
            REQUIRE(((scaled.c - first_c).array().abs() <= few_ulps * first_c.array().abs()).all());

            // Column sums of Ũ_ℓ over the rows of layer ℓ are 1 where ub > 0; rows of ub = 0 sum to at most 1.
            for (std::size_t l = 1; l < network.layers.size(); ++l)
                for (Index j = 0; j < box[l - 1].size(); ++j) {
                    const auto column = A.col(layout.z[l - 1] + j).segment(layout.relu[l], box[l].size());
                    const double live = (box[l].array() > 0.0).select(column, 0.0).sum();
                    const double expected = box[l - 1](j) > 0.0 ? 1.0 : 0.0;
                    REQUIRE(std::abs(live - expected) <= chain_error(network));
                }
            for (std::size_t l = 0; l < box.size(); ++l)
                for (Index i = 0; i < box[l].size(); ++i)
                    if (box[l](i) == 0.0) {
                        const Vector row = A.row(layout.relu[l] + i);
                        REQUIRE(row.cwiseMax(0.0).sum() <= 1.0);
                        REQUIRE(row(layout.z[l] + i) == doctest::Approx(-1.0).epsilon(1e-15));
                        REQUIRE(scaling.row(layout.bound[l] + i) == scaling.row(layout.relu[l] + i));
                    }

            // Scaled and back is the identity, and the scaled pair is optimal for the scaled program.
            const Vector primal = program.primal(state), y = program.dual(canonical_selector(network, state));
            const Vector s = program.program().b - program.program().A * primal;
            const Vector primal_scaled = primal.cwiseQuotient(scaling.column) / scaling.primal;
            const Vector s_scaled = s.cwiseProduct(scaling.row) / scaling.primal;
            const Vector y_scaled = y.cwiseQuotient(scaling.row);
            REQUIRE(
                ((scaling.unscale_x(primal_scaled) - primal).array().abs() <= few_ulps * primal.array().abs()).all());
            REQUIRE(((scaling.unscale_s(s_scaled) - s).array().abs() <= few_ulps * s.array().abs()).all());
            REQUIRE(((scaling.unscale_y(y_scaled) - y).array().abs() <= few_ulps * y.array().abs()).all());
            const double unit = chain_error(network);
            // b̃ ≤ 1 and ỹ is of size one, so absolute residuals are relative ones: ‖ỹ‖_∞ ≤ 1 but for a quadratic
            // module's, p̃ = q/τ = √2·q/‖q‖; rows add up at most a chain of them.
            REQUIRE(scaled.b.cwiseAbs().maxCoeff() <= std::sqrt(2.0) * (1.0 + few_ulps));
            REQUIRE(y_scaled.cwiseAbs().maxCoeff() <= std::sqrt(2.0) * (1.0 + unit));
            for (std::size_t l = 0; l < box.size(); ++l) {
                const auto nu = y_scaled.segment(layout.relu[l], box[l].size()).array();
                REQUIRE((nu >= 0.0).all());
                REQUIRE((nu <= 1.0 + unit).all());
            }
            const Vector column_size = scaled.c.cwiseAbs() + A.cwiseAbs().transpose() * y_scaled.cwiseAbs();
            const Vector residual = scaled.A.transpose() * y_scaled + scaled.c;
            REQUIRE((residual.array().abs() <= unit * column_size.array()).all());
            for (const conic::Block& block : scaled.blocks) {
                INFO(block.name);
                const double distance =
                    conic::cone_distance(block.cone, y_scaled.segment(block.begin, block.size), true);
                REQUIRE(distance <= unit * y_scaled.segment(block.begin, block.size).norm());
            }
            const double objective = scaling.unscale_objective(scaled.c.dot(primal_scaled)) + program.program().c0;
            REQUIRE(std::abs(objective - state.value) <= 2.0 * unit * value_size(network, x));
        }
    }
}
