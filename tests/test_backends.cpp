// The conformance suite: every backend, by its declared capabilities, answers in the one convention. Runs on all that
// are available, or on the one that CERTICONE_BACKEND names; one that is not there is reported, never passed over.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "planted_programs.hpp"
#include "skip.hpp"
#include "support/error.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Cone;
using conic::ConicProgram;
using solvers::Backend;
using solvers::Solution;
using solvers::Status;

namespace {

using Blocks = std::vector<PlantedBlock>;

std::vector<const Backend*> usable() {
    const char* only = std::getenv("CERTICONE_BACKEND");
    std::vector<const Backend*> found, absent;
    for (const Backend* backend : solvers::backends()) {
        if (only && backend->name() != only) continue;
        if (backend->enabled().ready)
            found.push_back(backend);
        else
            absent.push_back(backend);
    }
    if (only) solvers::backend(only);  // throws where no backend has the name
    for (const Backend* backend : absent) {
        if (only || installed_by_deps(backend->name()))
            test::usable(backend->name());  // says that it is left out
        else
            MESSAGE(fmt::format("{} is left out: {}", backend->name(), backend->enabled().reason));
    }
    return found;
}

bool has(const Backend& backend, Cone cone) {
    const auto cones = backend.capabilities().cones;
    return std::find(cones.begin(), cones.end(), cone) != cones.end();
}

bool can_solve(const Backend& backend, const ConicProgram& program) {
    return std::all_of(program.blocks.begin(), program.blocks.end(),
                       [&](const conic::Block& block) { return has(backend, block.cone); }) &&
           (program.P.nonZeros() == 0 || backend.capabilities().quadratic_objective);
}

/// `body(backend)` on each usable backend.
template <class Body>
void on_each(Body body) {
    for (const Backend* backend : usable()) {
        INFO("backend ", std::string(backend->name()));
        body(*backend);
    }
}

ConicProgram program(Blocks blocks, const Matrix& A, const Vector& b, const Vector& c, const Matrix& P = {}) {
    conic::Builder builder;
    builder.add_columns("x", A.cols());
    for (const PlantedBlock& block : blocks)
        builder.add_rows(std::string(to_string(block.cone)), block.cone, block.size);
    ConicProgram result = builder.build();
    result.A = planted::sparse(A);
    result.b = b;
    result.c = c;
    if (P.size() > 0) result.P = planted::sparse(P);
    return result;
}

constexpr double kEps = 1e-9;

Solution solve(const Backend& backend, const ConicProgram& program) {
    solvers::Settings settings;
    settings.eps_abs = settings.eps_rel = kEps;
    return backend.open(program, settings)->solve();
}

/// What was asked for holds, as measured: residuals and gap within eps of the size of their own terms, s and y in their
/// cones up to it.
void check_tolerances(const ConicProgram& program, const Solution& answer) {
    REQUIRE(answer.claimed.status == Status::Solved);
    REQUIRE(answer.x.allFinite());
    const double x = answer.x.lpNorm<Eigen::Infinity>(), y = answer.y.lpNorm<Eigen::Infinity>();
    const double A = Matrix(program.A).cwiseAbs().maxCoeff(), rows = static_cast<double>(program.rows());
    const double primal = program.b.lpNorm<Eigen::Infinity>() + answer.s.lpNorm<Eigen::Infinity>() +
                          std::max(x, static_cast<double>(program.columns()) * A * x);
    const double dual = program.c.lpNorm<Eigen::Infinity>() + (program.P * answer.x).lpNorm<Eigen::Infinity>() +
                        std::max(y, rows * A * y);
    CHECK(answer.measured.primal_residual <= kEps * (1.0 + primal));
    CHECK(answer.measured.dual_residual <= kEps * (1.0 + dual + x));
    CHECK(answer.measured.primal_cone <= kEps * (1.0 + primal));
    CHECK(answer.measured.dual_cone <= kEps * (1.0 + dual));
    CHECK(answer.measured.gap <= kEps * (1.0 + std::abs(program.b.dot(answer.y)) + std::abs(program.c.dot(answer.x))));
}

void check_planted(const Planted& truth, const Solution& answer) {
    INFO(answer.claimed.text, ", ", truth.program.rows(), " rows, ", truth.program.columns(), " columns");
    check_tolerances(truth.program, answer);
    const ErrorBounds bounds(truth, answer);
    CHECK(bounds.objective <= 1e-6);  // the bound says something
    CHECK(std::abs(answer.measured.primal_objective - truth.objective) <= bounds.objective);
    CHECK(std::abs(answer.claimed.primal_objective - truth.objective) <= 2.0 * bounds.objective);
    CHECK(bounds.x <= 0.1);
    CHECK((answer.x - truth.x).norm() <= bounds.x);
    CHECK((answer.y - truth.y).norm() <= bounds.y);
}

struct ByHand {
    std::string name;
    ConicProgram program;
    Vector x, y;
    double value;

    Planted truth() const {
        Planted planted{program, x, program.b - program.A * x, y, {}, {}, value + program.c0};
        planted::find_faces(planted);
        return planted;
    }
};

/// Minimal programs for the sign of each kind of block. The value is a formula in b, so that −y is its derivative.
std::vector<ByHand> by_hand() {
    const Matrix one = vector({1.0}), head = vector({-1.0, 0.0, 0.0});
    Matrix mixed(2, 2), apart(1, 2);
    mixed << 2.0, 1.0, 1.0, 2.0;
    apart << 1.0, -1.0;
    return {
        {"min 2x, x = b", program({{Cone::Zero, 1}}, one, vector({3}), vector({2})), vector({3}), vector({-2}), 6},
        {"min -2x, x = b", program({{Cone::Zero, 1}}, one, vector({3}), vector({-2})), vector({3}), vector({2}), -6},
        {"min -3x, x <= b", program({{Cone::Nonnegative, 1}}, one, vector({2}), vector({-3})), vector({2}), vector({3}),
         -6},
        {"min 3x, x >= -b", program({{Cone::Nonnegative, 1}}, -one, vector({-2}), vector({3})), vector({2}),
         vector({3}), 6},
        {"min t, |(b1, b2)| <= t + b0", program({{Cone::SecondOrder, 3}}, head, vector({0, 3, 4}), vector({1})),
         vector({5}), vector({1, -0.6, -0.8}), 5},
        {"min t, 0 <= t + b in one row", program({{Cone::SecondOrder, 1}}, -one, vector({2}), vector({1})),
         vector({-2}), vector({1}), -2},
        // (b2)²/(2 b1) − b0: the factor 2 and the order of the two heads show
        {"min t, b2^2 <= 2 (t + b0) b1", program({{Cone::RotatedSecondOrder, 3}}, head, vector({0, 1, 3}), vector({1})),
         vector({4.5}), vector({1, 4.5, -3}), 4.5},
        {"min s, b2^2 <= 2 b0 (s + b1)",
         program({{Cone::RotatedSecondOrder, 3}}, vector({0, -1, 0}), vector({2, 0, 4}), vector({1})), vector({4}),
         vector({2, 1, -2}), 4},
        {"min x^2 - 4x, x <= b", program({{Cone::Nonnegative, 1}}, one, vector({0.5}), vector({-4}), 2.0 * one),
         vector({0.5}), vector({3}), -1.75},
        // both triangles of P count: x0² + x0 x1 + x1² − 3 x0 − 3 x1
        {"quadratic with a product, x0 - x1 = b",
         program({{Cone::Zero, 1}}, apart, vector({1}), vector({-3, -3}), mixed), vector({1.5, 0.5}), vector({-0.5}),
         -2.75},
    };
}

}  // namespace

TEST_CASE("backends: sign of every block kind, by hand, and the value's derivative in b is -y") {
    on_each([](const Backend& backend) {
        for (ByHand& example : by_hand()) {
            if (!can_solve(backend, example.program)) continue;
            INFO(example.name);
            example.program.c0 = 10.0;
            check_planted(example.truth(), solve(backend, example.program));
            for (Index i = 0; i < example.program.rows(); ++i) {
                const double h = 1e-3;
                ConicProgram up = example.program, down = example.program;
                up.b(i) += h;
                down.b(i) -= h;
                const double difference =
                    solve(backend, up).measured.primal_objective - solve(backend, down).measured.primal_objective;
                // central: h²/6 times a third derivative of at most 30, and the solver's tolerance over h
                CHECK(std::abs(difference / (2.0 * h) + example.y(i)) <= 30.0 * h * h / 6.0 + 20.0 * kEps / h);
            }
        }
    });
}

TEST_CASE("backends: planted solutions in each cone and in mixes, in random sizes") {
    on_each([](const Backend& backend) {
        Random random(4);
        const auto& cones = backend.capabilities().cones;
        const auto block = [&](Cone cone, Index largest) {
            return PlantedBlock{cone, random_index(cone == Cone::RotatedSecondOrder ? 2 : 1, largest, random)};
        };
        const auto run = [&](const Blocks& blocks, int trial) {
            const bool quadratic = backend.capabilities().quadratic_objective && trial % 2 == 1;
            INFO("trial ", trial, ", ", blocks.size(), " blocks");
            const Planted truth = plant_unique(blocks, quadratic, random);
            REQUIRE(truth.condition() <= kWellConditioned);  // so that every method must get there
            check_planted(truth, solve(backend, truth.program));
        };
        for (const Cone cone : cones)
            for (int trial = 0; trial < 12; ++trial) {
                Blocks blocks;
                for (Index k = random_index(1, 4, random); k > 0; --k)
                    blocks.push_back(block(cone, 8));
                run(blocks, trial);
            }
        for (int trial = 0; trial < 40; ++trial) {
            Blocks blocks;
            for (Index k = random_index(2, 8, random); k > 0; --k)
                blocks.push_back(block(
                    cones[static_cast<std::size_t>(random_index(0, static_cast<Index>(cones.size()) - 1, random))],
                    trial % 10 == 9 ? 30 : 6));
            run(blocks, trial);
        }
    });
}

TEST_CASE("backends: planted solutions in bad units: solved within what that claims, or said not to be") {
    on_each([](const Backend& backend) {
        Random random(9);
        int solved = 0, trials = 0;
        double hardest = 0.0;
        for (const Cone cone : backend.capabilities().cones)
            for (int trial = 0; trial < 12; ++trial) {
                const bool quadratic = backend.capabilities().quadratic_objective && trial % 2 == 1;
                const Planted truth = in_bad_units(
                    plant_unique({{cone, random_index(2, 6, random)}, {Cone::Nonnegative, 4}, {Cone::Zero, 1}},
                                 quadratic, random),
                    1.0 + 2.5 * (trial % 3), random);
                solvers::Settings settings;
                settings.max_iterations = 20000;
                const Solution answer = backend.open(truth.program, settings)->solve();
                INFO(std::string(to_string(cone)), ", trial ", trial, ", condition ", truth.condition(), ": ",
                     answer.claimed.text);
                ++trials;
                hardest = std::max(hardest, truth.condition());
                // There is an optimal pair: no certificate of the contrary can be right.
                CHECK(answer.claimed.status != Status::Infeasible);
                CHECK(answer.claimed.status != Status::Unbounded);
                if (answer.claimed.status != Status::Solved) continue;
                ++solved;
                check_tolerances(truth.program, answer);
                const ErrorBounds bounds(truth, answer);
                CHECK(std::abs(answer.measured.primal_objective - truth.objective) <= bounds.objective);
                CHECK((answer.x - truth.x).norm() <= bounds.x);
                CHECK((answer.y - truth.y).norm() <= bounds.y);
            }
        MESSAGE(fmt::format("{}: {} of {} solved, condition up to {:.0e}", backend.name(), solved, trials, hardest));
        CHECK(hardest > 1e6 * kWellConditioned);
        CHECK(solved > 0);  // the bounds were put to the test
    });
}

TEST_CASE("backends: infeasible and unbounded programs are recognised, in each cone") {
    on_each([](const Backend& backend) {
        Random random(5);
        for (const Cone cone : backend.capabilities().cones)
            for (int trial = 0; trial < 6; ++trial) {
                INFO(std::string(to_string(cone)), ", trial ", trial);
                const Index size = random_index(3, 8, random), columns = random_index(1, 3, random);
                Planted base = plant({{cone, size}, {Cone::Nonnegative, 4}}, columns, false, random);
                Matrix A = base.program.A;
                {
                    // y inside K* with Aᵀy = 0 and bᵀy = −‖y‖² proves it: no s of K is b − Ax.
                    Vector y(size + 4);
                    y << planted::inside(size, random).cwiseAbs(), Vector::Ones(4);
                    if (cone == Cone::RotatedSecondOrder) y.head(2).setConstant(y.head(size).norm());
                    ConicProgram program = base.program;
                    program.A = planted::sparse(A - y * (y.transpose() * A) / y.squaredNorm());
                    program.b -= y * (y.dot(program.b) / y.squaredNorm() + 1.0);
                    CHECK(solve(backend, program).claimed.status == Status::Infeasible);
                }
                {
                    // d with −Ad ∈ K and cᵀd = −1 proves it, for base.x is feasible.
                    const Vector d = random_vector(columns, random);
                    Vector s(size + 4);
                    s << planted::inside(size, random).cwiseAbs(), Vector::Ones(4);
                    if (cone == Cone::RotatedSecondOrder) s.head(2).setConstant(s.head(size).norm());
                    if (cone == Cone::Zero) s.head(size).setZero();
                    ConicProgram program = base.program;
                    program.A = planted::sparse(A - (A * d + s) * d.transpose() / d.squaredNorm());
                    program.b = program.A * base.x + base.s;
                    program.c -= d * ((d.dot(program.c) + 1.0) / d.squaredNorm());
                    CHECK(solve(backend, program).claimed.status == Status::Unbounded);
                }
            }
    });
}

TEST_CASE("backends: degenerate duals are judged by membership") {
    on_each([](const Backend& backend) {
        {
            // A ReLU kink: min z, z ≥ 0·x, z ≥ 0 at a = 0. Any split ν + μ = 1 is right.
            const ConicProgram kink = program({{Cone::Nonnegative, 2}}, vector({-1, -1}), vector({0, 0}), vector({1}));
            const Solution answer = solve(backend, kink);
            check_tolerances(kink, answer);
            CHECK(std::abs(answer.x(0)) <= 1e-8);
            CHECK(answer.y.minCoeff() >= -1e-8);
            CHECK(std::abs(answer.y.sum() - 1.0) <= 1e-8);
        }
        if (has(backend, Cone::SecondOrder)) {
            // The kink of ‖ω‖ with ω = 0: any −r with ‖r‖ ≤ 1 is right, the same in link and cone.
            Matrix A = Matrix::Zero(5, 3);
            A.topRightCorner(2, 2).setIdentity();
            A.bottomRows(3) = -Matrix::Identity(3, 3);
            const ConicProgram kink =
                program({{Cone::Zero, 2}, {Cone::SecondOrder, 3}}, A, Vector::Zero(5), vector({1, 0, 0}));
            const Solution answer = solve(backend, kink);
            check_tolerances(kink, answer);
            CHECK(answer.x.norm() <= 1e-8);
            CHECK(answer.y.head(2).norm() <= 1.0 + 1e-8);
            CHECK((answer.y.head(2) - answer.y.tail(2)).norm() <= 1e-8);
        }
    });
}

TEST_CASE("backends: updates of b and c equal fresh solves") {
    on_each([](const Backend& backend) {
        Random random(6);
        const solvers::Capabilities can = backend.capabilities();
        for (int trial = 0; trial < 6; ++trial) {
            Blocks blocks{{Cone::Nonnegative, 4}, {Cone::Zero, 2}};
            for (const Cone cone : {Cone::SecondOrder, Cone::RotatedSecondOrder})
                if (has(backend, cone)) blocks.insert(blocks.begin(), {cone, 4});
            Planted truth = plant_unique(blocks, can.quadratic_objective && trial % 2 == 1, random);
            const auto workspace = backend.open(truth.program, {});
            check_planted(truth, workspace->solve());
            for (int step = 0; step < 5; ++step) {
                INFO("trial ", trial, ", step ", step);
                if (step % 3 == 2)
                    planted::derive(truth, random);  // a new x: b alone changes where P = 0
                else
                    replant(truth, random);
                if (can.updates_b) workspace->update_b(truth.program.b);
                if (can.updates_c) workspace->update_c(truth.program.c);
                if (!can.updates_b || !can.updates_c) break;
                check_planted(truth, workspace->solve(step % 2 == 0));
            }
        }
    });
}

TEST_CASE("backends: an update after an infeasible, and after an unbounded, instance") {
    on_each([](const Backend& backend) {
        const auto run = [&](ConicProgram feasible, const Vector& infeasible_b, double value) {
            const auto workspace = backend.open(feasible, {});
            const auto check_value = [&] {
                const Solution answer = workspace->solve();
                check_tolerances(feasible, answer);
                CHECK(std::abs(answer.measured.primal_objective - value) <= 1e-7);
            };
            check_value();
            workspace->update_b(infeasible_b);
            CHECK(workspace->solve().claimed.status == Status::Infeasible);
            workspace->update_b(feasible.b);
            check_value();
            workspace->update_b(infeasible_b);
            CHECK(workspace->solve().claimed.status == Status::Infeasible);
            workspace->update_b(feasible.b);
            workspace->update_c(2.0 * feasible.c);
            CHECK(std::abs(workspace->solve().measured.primal_objective - 2.0 * value) <= 1e-7);
        };
        // min x, −b1 ≤ x ≤ b0
        run(program({{Cone::Nonnegative, 2}}, vector({1, -1}), vector({4, 2}), vector({1})), vector({-3, 2}), -2.0);
        // min x0 + x1, ‖x‖ ≤ b0
        Matrix A = Matrix::Zero(3, 2);
        A.bottomRows(2).setIdentity();
        if (has(backend, Cone::SecondOrder))
            run(program({{Cone::SecondOrder, 3}}, A, vector({2, 0, 0}), vector({1, 1})), vector({-1, 0, 0}),
                -std::sqrt(8.0));

        const auto workspace =
            backend.open(program({{Cone::Nonnegative, 1}}, vector({1}), vector({1}), vector({1})), {});
        CHECK(workspace->solve().claimed.status == Status::Unbounded);  // min x, x ≤ 1
        workspace->update_c(vector({-1}));
        CHECK(std::abs(workspace->solve().measured.primal_objective + 1.0) <= 1e-7);
    });
}

TEST_CASE("backends: answers can be repeated, digit for digit") {
    on_each([](const Backend& backend) {
        Random random(7);
        Blocks blocks{{Cone::Nonnegative, 12}, {Cone::Zero, 3}};
        if (has(backend, Cone::SecondOrder)) blocks.push_back({Cone::SecondOrder, 5});
        Planted truth = plant_unique(blocks, false, random);
        const ConicProgram first = truth.program;
        planted::derive(truth, random);
        const Vector second_b = truth.program.b;
        const auto check_equal = [](const Solution& a, const Solution& b) {
            CHECK(a.claimed.iterations == b.claimed.iterations);
            CHECK((a.x == b.x && a.s == b.s && a.y == b.y));
        };
        const auto workspace = backend.open(first, {}), other = backend.open(first, {});
        const Solution fresh = workspace->solve();
        check_equal(other->solve(), fresh);
        workspace->update_b(second_b);
        other->update_b(second_b);
        check_equal(other->solve(), workspace->solve());
        // A cold solve forgets what was solved before. (SCS keeps the scale it has adapted.)
        if (backend.name() == "scs") return;
        workspace->update_b(first.b);
        check_equal(workspace->solve(false), fresh);
    });
}

TEST_CASE("backends: limits of time and of iterations") {
    on_each([](const Backend& backend) {
        Random random(8);
        Blocks blocks{{Cone::Nonnegative, 400}};
        if (has(backend, Cone::SecondOrder)) blocks.push_back({Cone::SecondOrder, 200});
        const Planted large = plant(blocks, 250, false, random);
        const auto timed = [](solvers::Workspace& workspace) {
            const auto start = std::chrono::steady_clock::now();
            const Status status = workspace.solve(false).claimed.status;
            return std::pair(status, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        };
        solvers::Settings settings;
        const double full = timed(*backend.open(large.program, settings)).second;
        settings.time_limit = 0.1 * full;
        const auto workspace = backend.open(large.program, settings);
        for (int repeat = 0; repeat < 2; ++repeat) {
            const auto [status, seconds] = timed(*workspace);
            INFO(std::string(to_string(status)), " after ", seconds, " s of ", full);
            CHECK((status == Status::TimeLimit || status == Status::Solved));
            CHECK((status == Status::TimeLimit || seconds <= 0.5 * full));
            CHECK(seconds <= 0.5 * full + 0.5);  // a solver looks at its clock once an iteration or now and then
        }
        settings.time_limit = 0.0;
        settings.max_iterations = 2;
        const Solution answer = backend.open(large.program, settings)->solve();
        CHECK(answer.claimed.status == Status::IterationLimit);
        CHECK(answer.claimed.iterations <= 2);
        CHECK(answer.claimed.seconds >= 0.0);
    });
}

TEST_CASE("backends: options and settings are checked") {
    on_each([](const Backend& backend) {
        const ConicProgram program = by_hand()[2].program;
        const auto message = [&](const solvers::Settings& settings) -> std::string {
            try {
                backend.open(program, settings);
            } catch (const InputError& error) {
                return error.what();
            }
            return "";
        };
        solvers::Settings unknown;
        unknown.options["no_such_option"] = "1";
        const std::string text = message(unknown);
        CHECK(text.find("no_such_option") != std::string::npos);
        for (const solvers::Option& option : backend.options()) {
            INFO(std::string(option.name));
            CHECK(text.find(option.name) != std::string::npos);
            solvers::Settings bad;
            bad.options[std::string(option.name)] = "1x";
            CHECK(message(bad).find("1x") != std::string::npos);
        }
        solvers::Settings negative;
        negative.eps_abs = -1.0;
        CHECK(message(negative).find("eps_abs") != std::string::npos);
        CHECK(message({}).empty());
    });
}

TEST_CASE("backends: what a backend lacks it refuses, with the reason") {
    on_each([](const Backend& backend) {
        for (const ByHand& example : by_hand()) {
            if (can_solve(backend, example.program)) continue;
            INFO(example.name);
            const Cone cone = example.program.blocks.front().cone;
            const std::string missing = has(backend, cone) ? "quadratic objective" : std::string(to_string(cone));
            const std::string reason = fmt::format("solver '{}' does not support {}{}", backend.name(),
                                                   has(backend, cone) ? "a " : "the ", missing);
            try {
                backend.open(example.program, {});
                FAIL_CHECK("not refused");
            } catch (const InputError& error) {
                CHECK(std::string(error.what()).find(reason) == 0);
            }
        }
        CHECK_THROWS_AS(backend.open(by_hand()[0].program, {})->update_b(Vector::Zero(2)), InputError);
        CHECK_THROWS_AS(backend.open(by_hand()[0].program, {})->update_c(Vector::Zero(2)), InputError);
    });
}
