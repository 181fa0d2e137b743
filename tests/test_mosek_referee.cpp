// MOSEK as a referee without a licence: it accepts every closed-form pair of the paper's networks, and rejects each kind
// of wrong one. Skipped, with the reason, where libmosek64 is not there.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <thread>

#include "conic/dual_program.hpp"
#include "conic/inference_program.hpp"
#include "conic/optimal_set_program.hpp"
#include "file_helpers.hpp"
#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "paper_data.hpp"
#include "planted_programs.hpp"
#include "skip.hpp"
#include "solvers/mosek_library.hpp"
#include "solvers/mosek_runtime.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Cone;
using conic::ConicProgram;
using conic::ValueFunction;
using solvers::mosek::Judgement;
using solvers::mosek::Task;

namespace {

constexpr double kAccepted = 1e-9;  // the bar of the issue; what is measured is near 1e-16

/// A primal–dual pair of the value-function program, with the slack that belongs to x.
struct Pair {
    Vector x, s, y;
};

Pair closed_form(const ValueFunction& program, const LocalState& state, const Multipliers& xi) {
    const Vector x = program.primal(state);
    return {x, program.program().b - program.program().A * x, program.dual(xi)};
}

Judgement judged(Task& task, const ValueFunction& program, const Pair& pair) {
    return task.judge(pair.x, program.program().b - program.program().A * pair.x, pair.y);
}

std::string show(const Judgement& j) {
    return fmt::format(
        "gap {:.1e}, primal constraint {:.1e}, cone {:.1e}, dual constraint {:.1e}, variable {:.1e}, "
        "cone {:.1e}: largest relative {:.1e} ({})",
        j.gap, j.primal_constraint, j.primal_cone, j.dual_constraint, j.dual_variable, j.dual_cone, j.relative(),
        j.worst());
}

/// The first module whose multiplier is not zero.
std::size_t module_of(const std::vector<Vector>& multipliers) {
    for (std::size_t k = 0; k < multipliers.size(); ++k)
        if (multipliers[k].norm() > 0.0) return k;
    FAIL("all multipliers vanish");
    return 0;
}

}  // namespace

TEST_CASE("mosek referee: accepts the closed-form pairs of all points of the paper's networks") {
    if (!referee_usable()) return;
    for (int experiment = 1; experiment <= 4; ++experiment) {
        const auto [network, points] = paper_data(experiment);
        ValueFunction program(network);
        Task task(program.program());
        double worst = 0.0;
        for (Index j = 0; j < points.cols(); ++j) {
            const LocalState state = evaluate(network, points.col(j));
            program.set_point(state.x);
            task.update_b(program.program().b);
            task.update_constant(program.program().c0);
            const Pair pair = closed_form(program, state, canonical_selector(network, state));
            const Judgement judgement = judged(task, program, pair);
            INFO("experiment ", experiment, ", point ", j, ": ", show(judgement));
            CHECK(judgement.relative() <= kAccepted);
            CHECK(std::abs(judgement.primal_objective - state.value) <= kAccepted * std::abs(state.value));
            CHECK(std::abs(judgement.dual_objective - state.value) <= kAccepted * std::abs(state.value));
            worst = std::max(worst, judgement.relative());
        }
        std::cout << fmt::format("referee: experiment {}, {} points accepted, largest relative figure {:.1e}\n",
                                 experiment, points.cols(), worst);
    }
}

TEST_CASE("mosek referee: rejects every kind of wrong pair on every network of the paper") {
    if (!referee_usable()) return;
    for (int experiment = 1; experiment <= 4; ++experiment) {
        const auto [network, points] = paper_data(experiment);
        // Experiment 3 has one point, where r is zero and nothing is to be scaled: another point stands in.
        const Vector x = experiment == 3 ? Vector(Vector::Constant(network.input_dim, 0.3)) : Vector(points.col(0));
        const Vector other =
            experiment == 3 ? Vector(Vector::Constant(network.input_dim, -0.2)) : Vector(points.col(1));
        const LocalState state = evaluate(network, x);
        const Multipliers canonical = canonical_selector(network, state);
        ValueFunction program(network);
        program.set_point(x);
        Task task(program.program());
        const Pair right = closed_form(program, state, canonical);
        const auto& layout = program.layout();
        const std::size_t g = module_of(canonical.r);
        const auto module = static_cast<Index>(g);
        const std::size_t last = network.layers.size() - 1;

        const auto reject = [&](std::string_view what, const Pair& pair) {
            const Judgement judgement = judged(task, program, pair);
            std::cout << fmt::format("referee: experiment {}, {}: {}\n", experiment, what, show(judgement));
            INFO("experiment ", experiment, ": ", std::string(what));
            CHECK(judgement.relative() > kAccepted);
            return judgement;
        };
        const auto with_xi = [&](auto change) {
            Multipliers xi = canonical;
            change(xi);
            return Pair{right.x, right.s, program.dual(xi)};
        };
        const auto with_y = [&](Index row, double change) {
            Pair pair = right;
            pair.y(row) += change;
            return pair;
        };
        const auto with_x = [&](Index column, double change) {
            Pair pair = right;
            pair.x(column) += change;
            return pair;
        };
        CHECK(judged(task, program, right).relative() <= kAccepted);
        CHECK(reject("nu + 1e-3 on one unit", with_y(layout.relu[last], 1e-3)).dual_variable >= 1e-4);
        CHECK(reject("nu = -1e-3", with_y(layout.relu[last], -1e-3 - right.y(layout.relu[last]))).dual_constraint >=
              1e-4);
        if (!network.quadratic.empty()) {
            CHECK(reject("p + 1e-3 in the link alone", with_y(layout.quadratic_link[0], 1e-3)).dual_variable >= 1e-4);
            CHECK(reject("p + 1e-3", with_xi([&](Multipliers& xi) { xi.p[0].array() += 1e-3; })).gap > 0.0);
            CHECK(reject("s - 1e-3", with_x(layout.s[0], -1e-3)).primal_cone >= 1e-6);
        }
        CHECK(reject("r scaled by 1.01", with_xi([&](Multipliers& xi) { xi.r[g] *= 1.01; })).dual_cone > 0.0);
        CHECK(reject("r scaled by 0.9", with_xi([&](Multipliers& xi) { xi.r[g] *= 0.9; })).gap > 0.0);
        {
            Pair flipped = right;
            const Index begin = layout.conic_cone[g] + 1;
            flipped.y.segment(begin, network.conic[g].A.rows()) *= -1.0;
            CHECK(reject("flipped tail of a cone dual", flipped).dual_variable >= 1e-4);
        }
        {
            Index unit = 0;
            state.trace.z[last].maxCoeff(&unit);
            CHECK(reject("z - 1e-3", with_x(layout.z[last] + unit, -1e-3)).primal_constraint >= 1e-4);
        }
        CHECK(reject("t - 1e-3", with_x(layout.t[static_cast<std::size_t>(module)], -1e-3)).primal_cone >= 1e-6);
        {
            const LocalState elsewhere = evaluate(network, other);
            reject("the pair of another point",
                   {program.primal(elsewhere), right.s, program.dual(canonical_selector(network, elsewhere))});
            reject("the multipliers of another point",
                   {right.x, right.s, program.dual(canonical_selector(network, elsewhere))});
        }
        Pair slack = right;
        slack.s(0) += 1e-3;
        CHECK(task.judge(slack.x, slack.s, slack.y).relative() > kAccepted);
    }
}

TEST_CASE("mosek referee: planted programs of every cone, with and without a quadratic objective") {
    if (!referee_usable()) return;
    Random random(51);
    const std::vector<PlantedBlock> blocks{
        {Cone::RotatedSecondOrder, 4}, {Cone::Zero, 2}, {Cone::SecondOrder, 3}, {Cone::Nonnegative, 4}};
    for (int trial = 0; trial < 40; ++trial) {
        const Planted truth = plant_unique(blocks, trial % 2 == 1, random);
        const Judgement right = solvers::mosek::judge(truth.program, truth.x, truth.s, truth.y);
        INFO("trial ", trial, ": ", show(right));
        CHECK(right.relative() <= 1e-12);
        const auto measured = solvers::measure(truth.program, truth.x, truth.s, truth.y);
        const double size = right.objective_scale * 1e-12;
        CHECK(std::abs(right.primal_objective - measured.primal_objective) <= size);
        CHECK(std::abs(right.dual_objective - measured.dual_objective) <= size);
        // Any entry of y moved by 1e-3 is seen: stationarity fails, or a cone, or the gap opens.
        Vector wrong = truth.y;
        wrong(random_index(0, wrong.size() - 1, random)) += 1e-3;
        CHECK(solvers::mosek::judge(truth.program, truth.x, truth.s, wrong).relative() > 1e-9);
    }
}

TEST_CASE("mosek referee: judges other solvers' answers of every program") {
    if (!referee_usable() || !usable("clarabel")) return;
    const solvers::Backend& clarabel = solvers::backend("clarabel");
    Random random(52);
    const auto judge_answer = [&](const ConicProgram& program) {
        const solvers::Solution solution = clarabel.open(program, {})->solve();
        REQUIRE(solution.claimed.status == solvers::Status::Solved);
        const Judgement judgement = solvers::mosek::judge(program, solution.x, solution.s, solution.y);
        INFO(show(judgement));
        CHECK(judgement.relative() <= 1e-7);
        CHECK(std::abs(judgement.primal_objective - solution.measured.primal_objective) <=
              1e-9 * (1.0 + judgement.objective_scale));
    };
    for (int trial = 0; trial < 5; ++trial) {
        const PointedNetwork pointed = degenerate_network({3, {4, 3}, {2}, {2, 3}}, random);
        const LocalState state = evaluate(pointed.network, pointed.x);
        ValueFunction value_function(pointed.network);
        value_function.set_point(pointed.x);
        judge_answer(value_function.program());
        conic::DualProgram dual(pointed.network);
        dual.set_point(pointed.x);
        judge_answer(dual.program());
        const Judgement closed = solvers::mosek::judge(
            dual.program(), dual.primal(canonical_selector(pointed.network, state)),
            dual.program().b - dual.program().A * dual.primal(canonical_selector(pointed.network, state)),
            dual.dual(state));
        CHECK(closed.relative() <= 1e-12);
        conic::OptimalSetProgram readout(pointed.network, state, conic::Goal::MaxReadout);
        readout.set_direction(random_vector(3, random));
        judge_answer(readout.program());
        judge_answer(conic::OptimalSetProgram(pointed.network, state, conic::Goal::MinNorm).program());
        conic::InferenceProgram inference(pointed.network, 2.0);
        inference.set_query(random_vector(3, random));
        judge_answer(inference.program());
    }
}

TEST_CASE("mosek referee: files keep shape, names and, where the format can, the pair") {
    if (!referee_usable()) return;
    Random random(53);
    const Network network = random_network({3, {4, 3}, {2}, {3}}, random);
    const LocalState state = evaluate(network, random_vector(3, random));
    ValueFunction program(network);
    program.set_point(state.x);
    Task task(program.program());
    const solvers::mosek::Shape shape = task.shape();
    CHECK(shape.variables == program.program().columns());
    CHECK(shape.constraints + shape.cone_rows == program.program().rows());
    CHECK(shape.cones == 2);
    CHECK(shape.nonzeros + shape.cone_nonzeros == program.program().A.nonZeros());
    const ScratchFolder folder;
    for (const char* name : {"model.task", "model.ptf", "model.cbf", "model.jtask"}) {
        const std::string file = (folder / name).string();
        task.write(file);
        Task back(file);
        const solvers::mosek::Shape read = back.shape();
        INFO(std::string(name));
        if (std::string_view(name) == "model.cbf") {
            CHECK(read.constraints == 0);  // every CON block of a CBF file becomes an affine conic constraint
            CHECK(read.cone_rows == program.program().rows());
        } else {
            CHECK(read.variables == shape.variables);
            CHECK(read.constraints == shape.constraints);
            CHECK(read.cones == shape.cones);
            CHECK(read.cone_nonzeros == shape.cone_nonzeros);
            CHECK(back.variable("z[0][2]") == program.layout().z[0] + 2);
            CHECK(back.constraint("relu[1][0]") >= 0);
            CHECK(back.constraint("no such name") == -1);
            CHECK(back.cone("quadratic[0].cone") == 0);
            CHECK(back.cone("conic[0].cone") == 1);
        }
    }
    CHECK(contains(input_error([&] { Task((folder / "none.cbf").string()); }), "none.cbf"));
    std::ofstream(folder / "broken.cbf") << "VER\n3\nOBJSENSE\nSIDEWAYS\n";
    CHECK(contains(input_error([&] { Task((folder / "broken.cbf").string()); }), "MOSEK cannot read"));
    CHECK(contains(input_error([&] { task.write((folder / "model.unknown").string()); }), "MOSEK cannot write"));
}

TEST_CASE("mosek referee: bad pairs are refused, ugly networks judged, threads do not disturb each other") {
    if (!referee_usable()) return;
    Random random(54);
    for (const Network& network : ugly_networks(random)) {
        const LocalState state = evaluate(network, random_vector(network.input_dim, random));
        ValueFunction program(network);
        program.set_point(state.x);
        const Pair pair = closed_form(program, state, canonical_selector(network, state));
        const Judgement judgement = solvers::mosek::judge(program.program(), pair.x, pair.s, pair.y);
        INFO(network.name, ": ", show(judgement));
        CHECK(judgement.relative() <= 1e-13);
    }
    const Network network = random_network({2, {3}, {2}, {2}}, random);
    const LocalState state = evaluate(network, random_vector(2, random));
    ValueFunction program(network);
    program.set_point(state.x);
    const Pair pair = closed_form(program, state, canonical_selector(network, state));
    Task task(program.program());
    Vector not_finite = pair.x;
    not_finite(0) = std::numeric_limits<double>::quiet_NaN();
    CHECK(contains(input_error([&] { task.judge(not_finite, pair.s, pair.y); }), "not finite"));
    CHECK(contains(input_error([&] { task.judge(pair.x.head(1), pair.s, pair.y); }), "sizes"));
    CHECK(contains(input_error([&] { task.judge(pair.x, pair.s, pair.y.head(2)); }), "sizes"));
    const Judgement huge = task.judge(1e200 * pair.x, pair.s, -1e200 * pair.y);
    CHECK(!(huge.relative() <= kAccepted));
    Vector zero = Vector::Zero(pair.y.size());
    CHECK(task.judge(Vector::Zero(pair.x.size()), zero, zero).relative() > kAccepted);

    std::vector<std::thread> threads;
    std::vector<double> figures(4);
    for (std::size_t k = 0; k < figures.size(); ++k)
        threads.emplace_back([&, k] {
            for (int round = 0; round < 50; ++round)
                figures[k] = solvers::mosek::judge(program.program(), pair.x, pair.s, pair.y).relative();
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const double figure : figures)
        CHECK(figure == task.judge(pair.x, pair.s, pair.y).relative());
}

TEST_CASE("mosek referee: without a licence solving is refused with MOSEK's own words, and the process goes on") {
    if (!referee_usable() || solvers::mosek::licence().ready) return;
    CHECK(contains(solvers::mosek::licence().reason, "not enabled: no licence; MOSEK says MSK_RES_ERR_"));
    Random random(55);
    const Planted truth = plant_unique({{Cone::Nonnegative, 3}}, false, random);
    CHECK_THROWS_WITH_AS(solvers::backend("mosek").open(truth.program, {}), doctest::Contains("no licence"),
                         SolverUnavailable);
    Task task(truth.program);
    CHECK_THROWS_WITH_AS(task.solve({}), doctest::Contains("no licence"), SolverUnavailable);
    CHECK(task.judge(truth.x, truth.s, truth.y).relative() <= 1e-12);
}

TEST_CASE("mosek library: what cannot be used says why; the call that aborts is not among those looked up") {
    CHECK(contains(solvers::mosek::load("/nowhere/libmosek64.so.11.2").found.reason, "cannot be loaded"));
    CHECK(contains(solvers::mosek::load("libm.so.6").found.reason, "has no symbol MSK_"));
    CHECK(contains(solvers::mosek::load(CERTICONE_OLD_MOSEK).found.reason,
                   "is MOSEK 0.0.0; versions 10.2 and 11 are supported"));
    for (const std::string_view name : solvers::mosek::function_names())
        CHECK(name != "MSK_getdviolacc");
    for (const int code : {1000, 1003, 1005, 1008, 1010, 1021, 1025, 1028, 3900})
        CHECK(solvers::mosek::is_licence_code(code));
    for (const int code : {0, 999, 1004, 1009, 1022, 1024, 1029, 1050, 3899})
        CHECK(!solvers::mosek::is_licence_code(code));
}
