// HiGHS and OSQP where they differ from the other backends: rows that become column bounds, warm updates, and the ReLU
// program of Experiment 1, whose multipliers both return to rounding. What all backends share is in test_backends.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <thread>

#include "conic/scaling.hpp"
#include "geometry/multipliers.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "skip.hpp"
#include "solvers/solver.hpp"
#include "support/error.hpp"

using namespace certicone;
using solvers::Settings;
using solvers::Solution;
using solvers::Status;

namespace {

constexpr std::array<const char*, 2> kNames{"highs", "osqp"};

bool absent(const char* name) { return !solvers::backend(name).available().ready; }

/// Those built in; the first test case names the others.
std::vector<const char*> usable() {
    std::vector<const char*> found;
    std::copy_if(kNames.begin(), kNames.end(), std::back_inserter(found),
                 [](const char* name) { return !absent(name); });
    return found;
}

struct Row {
    conic::Cone cone;
    std::vector<double> entries;
    double b;
};
constexpr conic::Cone kZero = conic::Cone::Zero, kNonnegative = conic::Cone::Nonnegative;

/// minimise cᵀx subject to the rows: entries·x = b (Zero) or ≤ b (Nonnegative).
conic::ConicProgram program(const std::vector<double>& c, const std::vector<Row>& rows) {
    conic::Builder builder;
    builder.add_columns("x", static_cast<Index>(c.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Index row = builder.add_rows("row[" + std::to_string(i) + "]", rows[i].cone, 1);
        for (std::size_t j = 0; j < c.size(); ++j)
            builder.set(row, static_cast<Index>(j), rows[i].entries[j]);
    }
    conic::ConicProgram result = builder.build();
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.b(static_cast<Index>(i)) = rows[i].b;
    result.c = Eigen::Map<const Vector>(c.data(), static_cast<Index>(c.size()));
    return result;
}

Vector vector(std::initializer_list<double> entries) {
    return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

void check_answer(const char* name, const conic::ConicProgram& lp, const Vector& x, const Vector& y) {
    INFO("backend ", std::string(name));
    const Solution solution = solvers::backend(name).open(lp, {})->solve();
    REQUIRE(solution.claimed.status == Status::Solved);
    CHECK((solution.x - x).lpNorm<Eigen::Infinity>() < 1e-8);
    CHECK((solution.y - y).lpNorm<Eigen::Infinity>() < 1e-8);
    CHECK((solution.s - (lp.b - lp.A * x)).lpNorm<Eigen::Infinity>() < 1e-8);
    CHECK(solution.measured.gap < 1e-7);
}

/// A bounded, feasible LP: box rows (one entry each, some of them loose), dense rows, one equation; x = 0 is feasible.
conic::ConicProgram random_lp(std::mt19937_64& random, Index n) {
    std::uniform_real_distribution<double> any(-1.0, 1.0), positive(0.5, 2.0);
    std::vector<double> c(static_cast<std::size_t>(n));
    for (double& entry : c)
        entry = any(random);
    std::vector<Row> rows;
    const auto one_entry = [&](std::size_t j, double entry, double b) {
        Row row{kNonnegative, std::vector<double>(c.size(), 0.0), b};
        row.entries[j] = entry;
        rows.push_back(row);
    };
    for (std::size_t j = 0; j < c.size(); ++j) {
        one_entry(j, positive(random), positive(random));
        one_entry(j, -positive(random), positive(random));
        one_entry(j, -positive(random), positive(random));
    }
    for (Index i = 0; i < n; ++i) {
        Row row{i == 0 ? kZero : kNonnegative, std::vector<double>(c.size()), i == 0 ? 0.0 : 0.1 * positive(random)};
        for (double& entry : row.entries)
            entry = any(random);
        rows.push_back(row);
    }
    return program(c, rows);
}

void check_optimal(const Solution& solution, double tolerance) {
    REQUIRE(solution.claimed.status == Status::Solved);
    for (double figure : {solution.measured.primal_residual, solution.measured.dual_residual,
                          solution.measured.primal_cone, solution.measured.dual_cone, solution.measured.gap})
        CHECK(figure <= tolerance);
}

/// ‖ν − ν̂‖_∞ / ‖ν̂‖_∞
double relative_error(const Multipliers& got, const Multipliers& want) {
    double error = 0.0, size = 0.0;
    for (std::size_t l = 0; l < want.nu.size(); ++l) {
        error = std::max(error, (got.nu[l] - want.nu[l]).lpNorm<Eigen::Infinity>());
        size = std::max(size, want.nu[l].lpNorm<Eigen::Infinity>());
    }
    return error / size;
}

double worst_nu_error(const char* name, Index points) {
    const Network network = read_network(CERTICONE_DATA_DIR "/paper/exp1.network.json");
    const Matrix x = read_points(CERTICONE_DATA_DIR "/paper/exp1.points.json", network.input_dim);
    conic::ValueFunction value_function(network, conic::Parts::relu_backbone());
    conic::DualBoxScaling units(value_function);
    std::unique_ptr<solvers::Workspace> workspace;
    double worst = 0.0;
    for (Index k = 0; k < points; ++k) {
        value_function.set_point(x.col(k));
        const conic::Scaling& scaling = units.at_current_point();
        if (!workspace)
            workspace = solvers::backend(name).open(conic::scaled(value_function.program(), scaling), {});
        else
            workspace->update_b(scaling.scaled_b(value_function.program().b));
        const Solution solution = workspace->solve();
        REQUIRE(solution.claimed.status == Status::Solved);
        worst = std::max(worst, relative_error(value_function.multipliers(scaling.unscale_y(solution.y)),
                                               canonical_selector(network, evaluate(network, x.col(k)))));
    }
    return worst;
}

}  // namespace

TEST_CASE("LP backends: each is registered; one that is not built in says what to do") {
    for (const char* name : kNames) {
        const solvers::Backend& backend = solvers::backend(name);
        if (!test::usable(name)) {
            CHECK(backend.available().reason.find("make deps") != std::string::npos);
            CHECK_THROWS_AS(backend.open(program({1.0}, {{kNonnegative, {-1.0}, 0.0}}), {}), SolverUnavailable);
        } else {
            CHECK(backend.version().find('.') != std::string::npos);
        }
    }
}

TEST_CASE("highs: rows with one entry are bounds; the tightest of them carries the multiplier" *
          doctest::skip(absent("highs"))) {
    // min x with 2 ≤ x twice (once as −2x ≤ −4), 1 ≤ x and x ≤ 7: −x ≤ −2 comes first
    check_answer("highs",
                 program({1.0}, {{kNonnegative, {-1.0}, -1.0},
                                 {kNonnegative, {-1.0}, -2.0},
                                 {kNonnegative, {-2.0}, -4.0},
                                 {kNonnegative, {1.0}, 7.0}}),
                 vector({2.0}), vector({0.0, 1.0, 0.0, 0.0}));
    // max 3x with x ≤ 7 and 4x ≤ 20: y = 3/4
    check_answer(
        "highs",
        program({-3.0}, {{kNonnegative, {-1.0}, -1.0}, {kNonnegative, {1.0}, 7.0}, {kNonnegative, {4.0}, 20.0}}),
        vector({5.0}), vector({0.0, 0.0, 0.75}));
    // a bound between other rows, and an equation with one entry: min x₀ + 2x₁ + x₂, x₀ + x₁ + x₂ ≥ 4, x₁ ≥ 1, x₂ = 1
    check_answer("highs",
                 program({1.0, 2.0, 1.0}, {{kNonnegative, {-1.0, -1.0, -1.0}, -4.0},
                                           {kNonnegative, {0.0, -1.0, 0.0}, -1.0},
                                           {kZero, {0.0, 0.0, 3.0}, 3.0}}),
                 vector({2.0, 1.0, 1.0}), vector({1.0, 1.0, 0.0}));
    // rows without entries are no bounds
    check_answer("highs",
                 program({1.0}, {{kNonnegative, {0.0}, 5.0}, {kNonnegative, {-1.0}, 0.0}, {kZero, {0.0}, 0.0}}),
                 vector({0.0}), vector({0.0, 1.0, 0.0}));
}

TEST_CASE("highs: bounds change with b, and another row becomes the tightest" * doctest::skip(absent("highs"))) {
    const auto workspace = solvers::backend("highs").open(
        program({1.0}, {{kNonnegative, {-1.0}, -1.0}, {kNonnegative, {-1.0}, -2.0}, {kNonnegative, {1.0}, 7.0}}), {});
    CHECK(workspace->solve().y == vector({0.0, 1.0, 0.0}));
    workspace->update_b(vector({-3.0, -2.0, 7.0}));
    CHECK(workspace->solve().y == vector({1.0, 0.0, 0.0}));
    workspace->update_c(vector({-2.0}));
    const Solution upper = workspace->solve();
    CHECK(upper.x == vector({7.0}));
    CHECK(upper.s == vector({4.0, 5.0, 0.0}));
    CHECK(upper.y == vector({0.0, 0.0, 2.0}));
    workspace->update_b(vector({-8.0, -2.0, 7.0}));  // 8 ≤ x ≤ 7
    CHECK(workspace->solve().claimed.status == Status::Infeasible);
    workspace->update_b(vector({-3.0, -2.0, 7.0}));
    CHECK(workspace->solve().y == upper.y);
}

TEST_CASE("LP backends: infeasible and unbounded, by rows and by bounds, with every way of solving") {
    std::vector<std::pair<const char*, Settings>> ways;
    for (const char* name : usable())
        ways.push_back({name, {}});
    if (!absent("highs"))
        for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
                 {"presolve", "on"}, {"solver", "ipm"}, {"simplex_strategy", "4"}}) {
            ways.push_back({"highs", {}});
            ways.back().second.options[option] = value;
        }
    for (const auto& [name, settings] : ways) {
        INFO("backend ", std::string(name));
        INFO("option ", settings.options.empty() ? "none" : settings.options.begin()->first);
        const auto status = [&, &name = name, &settings = settings](const conic::ConicProgram& lp) {
            return solvers::backend(name).open(lp, settings)->solve().claimed.status;
        };
        const std::vector<Row> box{{kNonnegative, {1.0, 0.0}, 1.0}, {kNonnegative, {0.0, 1.0}, 1.0}};
        std::vector<Row> rows = box;
        rows.push_back({kNonnegative, {-1.0, -1.0}, -3.0});  // x₀ + x₁ ≥ 3
        CHECK(status(program({1.0, 1.0}, rows)) == Status::Infeasible);
        rows = box;
        rows.push_back({kNonnegative, {-1.0, 0.0}, -2.0});  // x₀ ≥ 2
        CHECK(status(program({1.0, 1.0}, rows)) == Status::Infeasible);
        rows = box;
        rows.push_back({kZero, {1.0, -1.0}, 0.0});
        CHECK(status(program({1.0, 1.0}, rows)) == Status::Unbounded);
        CHECK(status(program({1.0, 1.0}, box)) == Status::Unbounded);
        CHECK(status(program({-1.0, -1.0}, box)) == Status::Solved);
        rows.push_back({kZero, {1.0, -1.0}, 1.0});  // infeasible, and so would its dual be
        rows.push_back({kZero, {2.0, -2.0}, 1.0});
        CHECK(status(program({1.0, 1.0}, rows)) == Status::Infeasible);
    }
}

TEST_CASE("LP backends: random programs; updates, warm or cold, equal fresh solves") {
    for (const char* name : usable()) {
        INFO("backend ", std::string(name));
        std::mt19937_64 random(11);
        std::normal_distribution<double> normal;
        for (Index n : {1, 2, 3, 5, 8, 13}) {
            conic::ConicProgram lp = random_lp(random, n);
            const auto workspace = solvers::backend(name).open(lp, {});
            check_optimal(workspace->solve(), 1e-7);
            for (int round = 0; round < 8; ++round) {
                CAPTURE(n);
                CAPTURE(round);
                if (round % 3 != 0)
                    for (double& entry : lp.c)
                        entry = normal(random);
                if (round % 3 != 1)
                    for (double& entry : lp.b)
                        if (entry != 0.0) entry = 0.3 + std::abs(normal(random));
                workspace->update_b(lp.b);
                workspace->update_c(lp.c);
                const Solution updated = workspace->solve(round % 2 == 0);
                const Solution fresh = solvers::backend(name).open(lp, {})->solve();
                check_optimal(updated, 1e-7);
                check_optimal(fresh, 1e-7);
                // a random LP has one solution and one multiplier
                CHECK((updated.x - fresh.x).lpNorm<Eigen::Infinity>() < 1e-6);
                CHECK((updated.y - fresh.y).lpNorm<Eigen::Infinity>() < 1e-6);
            }
        }
    }
}

TEST_CASE("highs: options by word, and the least tolerance is named" * doctest::skip(absent("highs"))) {
    const conic::ConicProgram lp = program({1.0}, {{kNonnegative, {-1.0}, -1.0}});
    const auto with = [&](const char* option, const char* value) {
        Settings settings;
        settings.options[option] = value;
        return solvers::backend("highs").open(lp, settings)->solve().x;
    };
    for (const char* value : {"simplex", "ipm", "choose"})
        CHECK(with("solver", value) == vector({1.0}));
    for (const char* value : {"on", "off", "choose"})
        CHECK(with("presolve", value) == vector({1.0}));
    CHECK_THROWS_AS(with("solver", "barrier"), InputError);
    CHECK_THROWS_AS(with("presolve", "1"), InputError);
    CHECK_THROWS_AS(with("simplex_strategy", "9"), InputError);
    Settings strict;
    strict.eps_abs = 1e-14;
    CHECK(solvers::backend("highs").open(lp, strict)->solve().claimed.text.find("1e-10") != std::string::npos);
}

TEST_CASE("osqp: settings it would refuse or could not repeat are errors" * doctest::skip(absent("osqp"))) {
    const conic::ConicProgram lp = program({1.0}, {{kNonnegative, {-1.0}, -1.0}});
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
             {"alpha", "2.5"}, {"rho", "-1"}, {"sigma", "0"}, {"scaling", "-1"}, {"adaptive_rho", "2"}}) {
        CAPTURE(option);
        Settings settings;
        settings.options[option] = value;
        CHECK_THROWS_AS(solvers::backend("osqp").open(lp, settings), InputError);
    }
    conic::ConicProgram concave = lp;
    concave.P.resize(1, 1);
    concave.P.insert(0, 0) = -1.0;
    CHECK_THROWS_AS(solvers::backend("osqp").open(concave, {}), InputError);
}

// ν̂ takes at most 2·width roundings a layer, and so does each solver's last triangular solve: 1e-13 is a wide margin.
TEST_CASE("highs: the multipliers of Experiment 1's ReLU program to rounding" * doctest::skip(absent("highs"))) {
    CHECK(worst_nu_error("highs", 20) < 1e-13);
}

TEST_CASE("osqp: the multipliers of Experiment 1's ReLU program to rounding, by polishing" *
          doctest::skip(absent("osqp"))) {
    CHECK(worst_nu_error("osqp", 4) < 1e-13);
}

TEST_CASE("LP backends: one workspace a thread gives the same digits as one thread") {
    for (const char* name : usable()) {
        INFO("backend ", std::string(name));
        std::mt19937_64 random(12);
        const conic::ConicProgram lp = random_lp(random, 20);
        const auto work = [&](std::vector<Vector>& answers) {
            const auto workspace = solvers::backend(name).open(lp, {});
            for (int round = 0; round < 20; ++round) {
                workspace->update_b((1.0 + 0.01 * round) * lp.b);
                answers.push_back(workspace->solve(false).y);
            }
        };
        std::vector<Vector> alone;
        work(alone);
        std::array<std::vector<Vector>, 4> together;
        std::vector<std::thread> threads;
        for (auto& answers : together)
            threads.emplace_back([&] { work(answers); });
        for (std::thread& thread : threads)
            thread.join();
        for (const auto& answers : together)
            CHECK(answers == alone);
    }
}
