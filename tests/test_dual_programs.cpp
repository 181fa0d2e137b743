// The dual program (Theorem 1), the programs over D*(x) (Theorem 2, Corollary 1) and joint inference (Experiment 4).
#include <doctest/doctest.h>

#include "conic/dual_program.hpp"
#include "conic/inference_program.hpp"
#include "conic/optimal_set_program.hpp"
#include "geometry/max_readout.hpp"
#include "geometry/optimal_set.hpp"
#include "hand_networks.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "random_networks.hpp"
#include "run_program.hpp"
#include "skip.hpp"
#include "verify/sessions.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::conic;

namespace {

/// (x, y) is an optimal pair of the program, each condition up to the rounding of its own row: `unit` times its size.
void check_optimal_pair(const ConicProgram& program, const Vector& x, const Vector& y, double unit, double slack) {
    const Matrix A = Matrix(program.A).cwiseAbs();
    const Vector s = program.b - program.A * x;
    const Vector row_size = program.b.cwiseAbs() + A * x.cwiseAbs();
    const Vector column_size = program.c.cwiseAbs() + A.transpose() * y.cwiseAbs();
    const Vector stationarity = program.A.transpose() * y + program.c;
    CHECK((stationarity.array().abs() <= unit * column_size.array() + slack).all());
    for (const Block& block : program.blocks) {
        INFO(block.name);
        const auto part = [&](const Vector& v) { return v.segment(block.begin, block.size); };
        CHECK(cone_distance(block.cone, part(s), false) <= unit * part(row_size).norm());
        CHECK(cone_distance(block.cone, part(y), true) <= unit * part(y).norm() + slack);
    }
    const double gap = program.c.dot(x) + program.b.dot(y);
    CHECK(std::abs(gap) <= unit * (program.c.cwiseAbs().dot(x.cwiseAbs()) + program.b.cwiseAbs().dot(y.cwiseAbs())) +
                               slack * (1.0 + x.lpNorm<1>()));
}

std::vector<const solvers::Backend*> capable(const ConicProgram& program) {
    std::vector<const solvers::Backend*> result;
    for (const solvers::Backend* backend : solvers::backends()) {
        const bool expected = installed_by_deps(backend->name());
        if (expected ? !usable(backend->name()) : !backend->enabled().ready) continue;
        const solvers::Capabilities can = backend->capabilities();
        const bool cones = std::all_of(program.blocks.begin(), program.blocks.end(), [&](const Block& block) {
            return std::find(can.cones.begin(), can.cones.end(), block.cone) != can.cones.end();
        });
        if (cones && (program.P.nonZeros() == 0 || can.quadratic_objective)) result.push_back(backend);
    }
    return result;
}

/// What tolerances of 1e-9 allow the objective: in scaled units every entry of the optimal pair is of size one, so each
/// residual adds at most its tolerance (twice 1e-9, absolute and relative) times one.
double objective_bound(const ConicProgram& program, const Scaling& scaling) {
    return scaling.unscale_objective(2e-9 * static_cast<double>(program.rows() + program.columns() + 1));
}

}  // namespace

TEST_CASE("dual program by hand: one unit, one module of each kind") {
    // a = 2x+1 = 3, q = 3x−1 = 2 (α = 4), u = 2x = 2 (λ = ½), c = 5, v = 7, b0 = −1 at x = 1:
    // f = 5·3 + 7 − 1 + 2·4 + ½·2 = 30; ν = 5, p = 8, r = ½.
    const Network network = hand_network();
    DualProgram dual(network);
    dual.set_point(vector({1.0}));
    const LocalState state = evaluate(network, vector({1.0}));
    const Vector x = dual.primal(canonical_selector(network, state)), y = dual.dual(state);
    CHECK(x == vector({5.0, 32.0, 8.0, 0.5}));                    // ν, w, p, r
    CHECK(dual.program().c == vector({-3.0, 0.25, -2.0, -2.0}));  // −a, 1/α, −q, −u
    CHECK(y == vector({0.0, 3.0, 0.25, 8.0, -2.0, 2.0, -2.0}));   // z−a, z, (1/α, αq²/2, −q), (|u|, −u)
    CHECK(dual.program().c.dot(x) + dual.program().c0 == -30.0);  // −f
    CHECK(-dual.program().b.dot(y) + dual.program().c0 == -30.0);
    CHECK((dual.program().A.transpose() * y + dual.program().c).isZero(0.0));
    CHECK(dual.program().block("nu[0].upper").cone == Cone::Nonnegative);
    CHECK(dual.program().block("quadratic[0]").cone == Cone::RotatedSecondOrder);
    CHECK(dual.program().block("conic[0]").cone == Cone::SecondOrder);
}

TEST_CASE("the closed forms are an optimal pair of the dual program, on random, ugly and degenerate networks") {
    Random random(11);
    std::vector<PointedNetwork> cases;
    for (Network& network : ugly_networks(random)) {
        const Vector x = random_vector(network.input_dim, random);
        cases.push_back({std::move(network), x});
    }
    for (int k = 0; k < 60; ++k) {
        Shape shape = random_shape(random);
        if (k % 2 == 0) {
            Network network = random_network(shape, random);
            const Vector x = random_vector(shape.input_dim, random);
            cases.push_back({std::move(network), x});
        } else {
            shape.conic.push_back(2);
            cases.push_back(degenerate_network(shape, random));
        }
    }
    for (const auto& [network, x] : cases) {
        INFO(network.name);
        DualProgram dual(network);
        dual.set_point(x);
        const LocalState state = evaluate(network, x);
        // a, q and u come from the same products in c and in `state`, but may round differently where x mixes scales.
        const double unit = 4.0 * chain_error(network);
        Vector offset_size = Vector::Zero(1);
        for (const Layer& layer : network.layers)
            offset_size(0) =
                std::max(offset_size(0), (layer.W.cwiseAbs() * x.cwiseAbs() + layer.b.cwiseAbs()).maxCoeff());
        for (const Quadratic& m : network.quadratic)
            offset_size(0) = std::max(offset_size(0), (m.B.cwiseAbs() * x.cwiseAbs() + m.e.cwiseAbs()).maxCoeff());
        for (const Conic& m : network.conic)
            offset_size(0) = std::max(offset_size(0), (m.A.cwiseAbs() * x.cwiseAbs() + m.d.cwiseAbs()).maxCoeff());
        for (int draw = 0; draw < 3; ++draw) {
            const Multipliers xi =
                draw == 0 ? canonical_selector(network, state) : random_optimal(network, state, random);
            check_optimal_pair(dual.program(), dual.primal(xi), dual.dual(state), unit, unit * offset_size(0));
            const Multipliers back = dual.multipliers(dual.primal(xi));
            CHECK(back.nu == xi.nu);
            CHECK(back.p == xi.p);
        }
    }
}

TEST_CASE("in dual-box units A, b and the cones of the dual program do not depend on x") {
    Random random(12);
    for (const Network& network : ugly_networks(random)) {
        DualProgram dual(network);
        dual.set_point(random_vector(network.input_dim, random));
        const ConicProgram first = scaled(dual.program(), dual.scaling());
        dual.set_point(random_vector(network.input_dim, random, 3.0));
        const ConicProgram second = scaled(dual.program(), dual.scaling());
        const double rounding = 8.0 * std::numeric_limits<double>::epsilon();
        CHECK((Matrix(first.A) - Matrix(second.A)).cwiseAbs().maxCoeff() <= rounding);
        CHECK((first.b - second.b).cwiseAbs().maxCoeff() <= rounding);
        CHECK(second.c.cwiseAbs().maxCoeff() <= std::sqrt(2.0) * (1.0 + rounding));
    }
}

TEST_CASE("every capable backend finds f(x) and an optimal ξ through the dual program") {
    Random random(13);
    for (int k = 0; k < 6; ++k) {
        const Shape shape{3, {5, 4}, {2}, {3}, 0.5};
        const Network network = random_network(shape, random);
        for (const solvers::Backend* backend : capable(DualProgram(network).program())) {
            INFO(backend->name());
            verify::DualSession session(network, *backend, {});
            for (int point = 0; point < 3; ++point) {
                const Vector x = random_vector(3, random);
                const LocalState state = evaluate(network, x);
                const verify::ScaledAnswer answer = session.solve(x);
                REQUIRE(answer.solution.claimed.status == solvers::Status::Solved);
                const double bound = objective_bound(*answer.program, *answer.scaling);
                CHECK(std::abs(answer.objective(answer.solution.measured.primal_objective) - state.value) <= bound);
                // By weak duality a feasible ξ is as good as its gap.
                const Multipliers feasible = repair_to_feasible(network, answer.xi);
                CHECK(state.value - psi(network, x, feasible) <= 2.0 * bound);
            }
        }
    }
}

TEST_CASE("programs over D*(x): members are feasible, others are not, and the objective is −G(ξ)ᵀd") {
    Random random(14);
    for (int k = 0; k < 40; ++k) {
        Shape shape = random_shape(random);
        shape.conic.push_back(2);
        const auto [network, x] = degenerate_network(shape, random);
        const LocalState state = evaluate(network, x);
        REQUIRE(!state.pattern.nondegenerate());
        OptimalSetProgram program(network, state, Goal::MaxReadout);
        const Vector d = random_vector(network.input_dim, random);
        program.set_direction(d);
        const ConicProgram& conic = program.program();
        const double unit = 4.0 * chain_error(network);
        const auto violation = [&](const Multipliers& xi) {
            const Vector s = conic.b - conic.A * program.primal(xi);
            double worst = 0.0;
            for (const Block& block : conic.blocks)
                worst = std::max(worst, cone_distance(block.cone, s.segment(block.begin, block.size), false));
            return worst;
        };
        for (int draw = 0; draw < 4; ++draw) {
            const Multipliers xi = random_optimal(network, state, random);
            const Vector columns = program.primal(xi);
            CHECK(violation(xi) <= unit * std::sqrt(squared_norm(xi) + 1.0));
            const double expected = -readout(network, xi).dot(d);
            CHECK(std::abs(conic.c.dot(columns) + conic.c0 - expected) <=
                  unit * readout_size(network, xi).dot(d.cwiseAbs()));
            Multipliers outside = xi;
            outside.nu.back()(0) += 1.0 + 2.0 * network.c(0);
            CHECK(violation(outside) >= 0.5);
        }
    }
}

TEST_CASE("max-readout by every capable backend equals the closed form at degenerate points") {
    Random random(15);
    for (int k = 0; k < 8; ++k) {
        Shape shape = random_shape(random);
        if (k % 2 == 0) shape.conic.push_back(2);  // a vanishing residual: a cone program; else an LP
        if (k % 2 == 1) shape.conic.clear();
        const auto [network, x] = degenerate_network(shape, random);
        const LocalState state = evaluate(network, x);
        OptimalSetProgram program(network, state, Goal::MaxReadout);
        for (const solvers::Backend* backend : capable(program.program())) {
            INFO(backend->name());
            program.set_direction(random_vector(network.input_dim, random));
            const auto settings = verify::for_scaled_program(*backend, {});
            auto workspace = backend->open(scaled(program.program(), program.scaling()), settings);
            for (int direction = 0; direction < 3; ++direction) {  // only c changes with d
                const Vector d = random_vector(network.input_dim, random);
                program.set_direction(d);
                const Scaling scaling = program.scaling();
                workspace->update_c(scaling.scaled_c(program.program().c));
                const solvers::Solution solution = workspace->solve();
                REQUIRE(solution.claimed.status == solvers::Status::Solved);
                const double value =
                    -(scaling.unscale_objective(solution.measured.primal_objective) + program.program().c0);
                CHECK(std::abs(value - directional_derivative(network, state, d)) <=
                      objective_bound(program.program(), scaling));
            }
        }
    }
}

TEST_CASE("minimum norm over D*(x) by every capable backend is the canonical selector (Corollary 1)") {
    Random random(16);
    for (int k = 0; k < 8; ++k) {
        Shape shape = random_shape(random);
        shape.conic.push_back(2);
        const auto [network, x] = degenerate_network(shape, random);
        const LocalState state = evaluate(network, x);
        const Multipliers canonical = canonical_selector(network, state);
        for (const bool with_conic : {true, false}) {
            const OptimalSetProgram program(network, state, Goal::MinNorm, with_conic);
            const Scaling scaling = program.scaling();
            for (const solvers::Backend* backend : capable(program.program())) {
                INFO(backend->name());
                auto workspace =
                    backend->open(scaled(program.program(), scaling), verify::for_scaled_program(*backend, {}));
                const solvers::Solution solution = workspace->solve();
                REQUIRE(solution.claimed.status == solvers::Status::Solved);
                const double value =
                    scaling.unscale_objective(solution.measured.primal_objective) + program.program().c0;
                const double bound = objective_bound(program.program(), scaling);
                CHECK(std::abs(value - 0.5 * squared_norm(canonical)) <= bound);
                // ½‖·‖² is 1-strongly convex, so ‖ξ − ξ̂‖² ≤ 2 (value − minimum); the constraints' residuals move ξ by
                // about as much again.
                const Multipliers xi = program.multipliers(scaling.unscale_x(solution.x));
                double distance = 0.0;
                for (std::size_t l = 0; l < xi.nu.size(); ++l)
                    distance += (xi.nu[l] - canonical.nu[l]).squaredNorm();
                CHECK(std::sqrt(distance) <= 2.0 * std::sqrt(2.0 * bound));
            }
        }
    }
}

TEST_CASE("joint inference by hand: the step from the query, which enters b and the constant alone") {
    // f = 2 max(3x − 1, 0) + 5x + ½; y = 4, β = 10.
    Network network;
    network.input_dim = 1;
    network.layers = {{Matrix{{3.0}}, {}, vector({-1.0})}};
    network.c = vector({2.0});
    network.v = vector({5.0});
    network.b0 = 0.5;
    InferenceProgram program(network, 10.0);
    const ConicProgram at_zero = program.program();
    program.set_query(vector({4.0}));
    const ConicProgram& found = program.program();
    CHECK(Matrix(found.A) == Matrix{{-1.0, 3.0}, {-1.0, 0.0}});  // z − 3d − 11 ≥ 0, z ≥ 0
    CHECK(found.b == vector({-11.0, 0.0}));
    CHECK(found.c == vector({2.0, 5.0}));
    CHECK(found.c0 == 20.5);  // f(4) but for the unit
    CHECK(Matrix(found.P) == Matrix{{0.0, 0.0}, {0.0, 10.0}});
    CHECK(Matrix(found.A) == Matrix(at_zero.A));
    CHECK(found.c == at_zero.c);
    CHECK(program.input(vector({7.0, -1.5})) == vector({2.5}));
    const LocalState state = evaluate(network, vector({2.5}));
    const Vector columns = program.primal(state);
    CHECK(columns == vector({6.5, -1.5}));
    // F(2.5) = 13 + 12.5 + ½ + 5·2.25
    CHECK(found.c.dot(columns) + 0.5 * columns.dot(found.P * columns) + found.c0 == 37.25);

    // With qᵀx and constraints, q = 7 and −x ≤ −1: q on the step, its part at y in the constant, h − C y = 3.
    InferenceProblem problem = proximity(network, 10.0, vector({4.0}));
    problem.q = vector({7.0});
    problem.C = Matrix{{-1.0}};
    problem.h = vector({-1.0});
    const ConicProgram general = InferenceProgram(problem).program();
    CHECK(general.c == vector({2.0, 12.0}));
    CHECK(general.c0 == 48.5);
    CHECK(Matrix(general.A) == Matrix{{-1.0, 3.0}, {-1.0, 0.0}, {0.0, -1.0}});
    CHECK(general.b == vector({-11.0, 0.0, 3.0}));
}

TEST_CASE("joint inference on Experiment 4: the proved gap closes for every capable backend") {
    const Network network = read_network(paper + "exp4.network.json");
    const Matrix queries = read_points(paper + "exp4.queries.json", network.input_dim);
    const double beta = 10.0;
    InferenceProgram program(network, beta);
    program.set_query(queries.col(0));
    const Scaling scaling = program.scaling();
    for (const solvers::Backend* backend : capable(program.program())) {
        INFO(backend->name());
        auto workspace = backend->open(scaled(program.program(), scaling), verify::for_scaled_program(*backend, {}));
        for (Index j = 0; j < 5; ++j) {
            const Vector y = queries.col(j);
            program.set_query(y);
            workspace->update_b(scaling.scaled_b(program.program().b));
            const solvers::Solution solution = workspace->solve();
            REQUIRE(solution.claimed.status == solvers::Status::Solved);
            const Vector x = program.input(scaling.unscale_x(solution.x));
            const Multipliers xi = repair_to_feasible(network, program.multipliers(scaling.unscale_y(solution.y)));
            const double upper = evaluate(network, x).value + 0.5 * beta * (x - y).squaredNorm();
            const double lower = psi(network, y, xi) - readout(network, xi).squaredNorm() / (2.0 * beta);
            // A theorem for every feasible ξ and every x, up to rounding …
            CHECK(upper - lower >= -chain_error(network) * (value_size(network, y) + psi_size(network, y, xi)));
            // … and the solver's pair closes it to what its tolerances allow.
            CHECK(upper - lower <= objective_bound(program.program(), scaling));
            // The objective of the program is F at its own x.
            const double objective =
                scaling.unscale_objective(solution.measured.primal_objective) + program.program().c0;
            CHECK(std::abs(objective - upper) <= objective_bound(program.program(), scaling));
        }
    }
}

TEST_CASE("blocks of the value function on their own add up to f (Proposition 1)") {
    Random random(17);
    const Network network = random_network({4, {6, 5}, {2, 3}, {3, 1}, 0.5}, random);
    const Vector x = random_vector(4, random);
    const LocalState state = evaluate(network, x);
    const Multipliers canonical = canonical_selector(network, state);
    std::vector<Parts> blocks{Parts::relu_backbone()};
    for (std::size_t k = 0; k < 2; ++k) {
        blocks.push_back(Parts::one_quadratic(k));
        blocks.push_back(Parts::one_conic(k));
    }
    double sum = 0.0;
    Index rows = 0;
    for (const Parts& parts : blocks) {
        ValueFunction block(network, parts);
        block.set_point(x);
        const ConicProgram& program = block.program();
        CHECK_NOTHROW(validate(program));
        sum += program.c.dot(block.primal(state)) + program.c0;
        rows += program.rows();
        check_optimal_pair(program, block.primal(state), block.dual(canonical), 4.0 * chain_error(network),
                           chain_error(network));
    }
    CHECK(sum == doctest::Approx(state.value).epsilon(1e-14));
    CHECK(rows == ValueFunction(network).program().rows());
}
