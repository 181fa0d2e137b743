// MOSEK through Fusion C++. Without a licence: the models that Fusion builds have the programs' shape, data and names, as
// MOSEK's runtime reads them back, follow updates, and hold the closed-form pairs optimal; multipliers are read with the
// right signs. With one: the solves. Skipped, with the reason, where Fusion is not built in.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>

#include "conic/dual_program.hpp"
#include "conic/inference_program.hpp"
#include "conic/optimal_set_program.hpp"
#include "file_helpers.hpp"
#include "hand_networks.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "paper_data.hpp"
#include "planted_programs.hpp"
#include "skip.hpp"
#include "solvers/mosek_fusion.hpp"
#include "solvers/mosek_runtime.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Block;
using conic::Cone;
using conic::ConicProgram;
using conic::ValueFunction;
using solvers::fusion_model;
using solvers::FusionModel;
using solvers::Solution;
using solvers::mosek::Judgement;
using solvers::mosek::Task;

namespace {

constexpr double kAccepted = 1e-9;

bool built_in() {
    const solvers::Readiness available = solvers::mosek_fusion_backend().available();
    if (!available.ready) left_out("solver mosek-fusion", available.reason, false);
    return available.ready;
}

bool licensed() {
    if (!built_in()) return false;
    const solvers::Readiness enabled = solvers::mosek_fusion_backend().enabled();
    if (!enabled.ready) MESSAGE("solves of mosek-fusion are not tested: " << enabled.reason);
    return enabled.ready;
}

struct Named {
    std::string name;
    ConicProgram program;
};

/// The five programs of one network, at a point where it is degenerate so that none of them is trivial.
std::vector<Named> five_programs() {
    Random random(1);
    const auto [network, x] = degenerate_network({3, {4, 3}, {2, 1}, {2, 3}, 0.5}, random);
    const LocalState state = evaluate(network, x);
    ValueFunction value_function(network);
    value_function.set_point(x);
    conic::DualProgram dual(network);
    dual.set_point(x);
    conic::OptimalSetProgram readout(network, state, conic::Goal::MaxReadout);
    readout.set_direction(random_vector(3, random));
    const conic::OptimalSetProgram norm(network, state, conic::Goal::MinNorm);
    conic::InferenceProgram inference(network, 0.7);
    inference.set_query(random_vector(3, random));
    return {{"value function", value_function.program()},
            {"dual", dual.program()},
            {"max-readout", readout.program()},
            {"min-norm", norm.program()},
            {"inference", inference.program()}};
}

bool is_linear(const Block& block) {
    return block.cone == Cone::Zero || block.cone == Cone::Nonnegative ||
           (block.cone == Cone::SecondOrder && block.size == 1) ||
           (block.cone == Cone::RotatedSecondOrder && block.size == 2);
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// A model as MOSEK's runtime reads it from the file that Fusion wrote, with pairs placed in it by name.
class ReadBack {
  public:
    ReadBack(FusionModel& model, const ConicProgram& program, const char* ending = "task")
        : form_(program), task_([&] {
              const std::string file = (folder_ / fmt::format("model.{}", ending)).string();
              model.write(file);
              return Task(file);
          }()) {
        REQUIRE(task_.variable("1.0") == 0);
        for (const conic::Columns& columns : form_.program().variables)
            for (Index k = 0; k < columns.size; ++k)
                variables_.push_back(found(task_.variable(fmt::format("{}[{}]", columns.name, k)), columns.name));
        Index rows = 0;
        std::vector<std::pair<Index, Index>> cones;  // index and size
        for (const Block& block : form_.program().blocks)
            if (!is_linear(block)) cones.emplace_back(found(task_.cone(block.name + "[]"), block.name), block.size);
        for (const Block& block : form_.program().blocks) {
            if (!is_linear(block)) {
                // ẏ of the cones one after the other, in MOSEK's order
                Index first = 0;
                for (const auto& [cone, size] : cones)
                    if (cone < task_.cone(block.name + "[]")) first += size;
                for (Index k = 0; k < block.size; ++k)
                    rows_.push_back(first + k);
                continue;
            }
            rows += block.size;
            for (Index k = 0; k < block.size; ++k)
                rows_.push_back(found(task_.constraint(fmt::format("{}[{}]", block.name, k)), block.name));
        }
        shape_ = {form_.program().columns() + 1, rows, static_cast<Index>(cones.size()), 0, 0, 0};
        const conic::SparseMatrix& A = form_.program().A;
        for (const Block& block : form_.program().blocks) {
            Index entries = 0;
            for (Index j = 0; j < A.cols(); ++j)
                for (conic::SparseMatrix::InnerIterator it(A, j); it; ++it)
                    entries += it.row() >= block.begin && it.row() < block.begin + block.size;
            (is_linear(block) ? shape_.nonzeros : shape_.cone_nonzeros) += entries;
            if (!is_linear(block)) shape_.cone_rows += block.size;
        }
    }

    void check_shape() const {
        const solvers::mosek::Shape shape = task_.shape();
        CHECK(shape.variables == shape_.variables);
        CHECK(shape.constraints == shape_.constraints);
        CHECK(shape.cones == shape_.cones);
        CHECK(shape.nonzeros == shape_.nonzeros);
        CHECK(shape.cone_rows == shape_.cone_rows);
        CHECK(shape.cone_nonzeros == shape_.cone_nonzeros);
    }

    /// (x, y) of our convention in MOSEK's: y' = −y on linear rows, ẏ = y on cones; Fusion's '1.0' is 1.
    Judgement judge(const Vector& x_in, const Vector& y_in) {
        const ConicProgram& program = form_.program();
        const Vector x = form_.extend_x(x_in), y = form_.extend_y(x_in, y_in);
        Vector native_x = Vector::Zero(shape_.variables), native_y(shape_.constraints), doty(shape_.cone_rows);
        native_x(0) = 1.0;
        for (std::size_t j = 0; j < variables_.size(); ++j)
            native_x(variables_[j]) = x(static_cast<Index>(j));
        for (const Block& block : program.blocks)
            for (Index row = block.begin; row < block.begin + block.size; ++row) {
                const Index place = rows_[static_cast<std::size_t>(row)];
                if (is_linear(block))
                    native_y(place) = -y(row);
                else
                    doty(place) = y(row);
            }
        Judgement result = task_.judge_native(native_x, native_y, doty, Vector::Zero(shape_.variables));
        const conic::SparseMatrix A = program.A.cwiseAbs();
        const auto largest = [](const Vector& a, const Vector& b) {
            return std::max(a.lpNorm<Eigen::Infinity>(), b.lpNorm<Eigen::Infinity>());
        };
        result.primal_scale = largest(A * x.cwiseAbs(), program.b);
        result.dual_scale = largest(A.transpose() * y.cwiseAbs(), program.c);
        result.objective_scale = program.c.cwiseAbs().dot(x.cwiseAbs()) + program.b.cwiseAbs().dot(y.cwiseAbs());
        return result;
    }

  private:
    static Index found(Index index, const std::string& name) {
        INFO("name ", name);
        REQUIRE(index >= 0);
        return index;
    }

    ScratchFolder folder_;
    conic::LinearObjective form_;
    Task task_;
    std::vector<Index> variables_, rows_;
    solvers::mosek::Shape shape_;
};

/// Everything that MOSEK says of a pair, for comparison.
std::array<double, 8> figures(const Judgement& j) {
    return {j.primal_objective, j.dual_objective, j.primal_constraint, j.primal_variable,
            j.primal_cone,      j.dual_variable,  j.dual_constraint,   j.dual_cone};
}

const std::vector<PlantedBlock> one_of_each{
    {Cone::RotatedSecondOrder, 4}, {Cone::Zero, 2}, {Cone::SecondOrder, 3}, {Cone::Nonnegative, 4}};
/// The cones that Fusion refuses as cones.
const std::vector<PlantedBlock> small_cones{
    {Cone::SecondOrder, 1}, {Cone::RotatedSecondOrder, 2}, {Cone::SecondOrder, 2}, {Cone::RotatedSecondOrder, 3}};

}  // namespace

TEST_CASE("mosek-fusion: shape, names and data of all five programs, in every format that is read back") {
    if (!built_in()) return;
    Random random(2);
    for (const auto& [name, program] : five_programs()) {
        INFO(name);
        const auto model = fusion_model(program);
        // .cbf is written, but has no names and no linear constraints to look up.
        for (const char* ending : {"task", "ptf", "task.gz", "jtask"}) {
            INFO(ending);
            ReadBack file(*model, program, ending);
            file.check_shape();
            // Data: MOSEK says the same of any pair in this model and in the one that the runtime builds of the program.
            Task task(program);
            for (int draw = 0; draw < 5; ++draw) {
                const Vector x = random_vector(program.columns(), random);
                Vector y = random_vector(program.rows(), random);
                for (const Block& block : program.blocks)
                    if (block.cone == Cone::Nonnegative)
                        y.segment(block.begin, block.size) = y.segment(block.begin, block.size).cwiseAbs().eval();
                const auto expected = figures(task.judge(x, program.b - program.A * x, y));
                const auto measured = figures(file.judge(x, y));
                for (std::size_t k = 0; k < expected.size(); ++k) {
                    INFO("figure ", k);
                    CHECK(std::abs(measured[k] - expected[k]) <= 1e-12 * (1.0 + std::abs(expected[k])));
                }
            }
        }
    }
}

TEST_CASE("mosek-fusion: after updates of b, c and the constant the model is the one that is built afresh") {
    if (!built_in()) return;
    const ScratchFolder folder;
    const std::string updated = (folder / "updated.ptf").string(), fresh = (folder / "fresh.ptf").string();
    Random random(3);
    for (auto& [name, program] : five_programs()) {
        INFO(name);
        const auto model = fusion_model(program);
        for (int step = 0; step < 4; ++step) {
            // Entries become zero and stop being zero.
            const auto change = [&](Vector& vector) {
                for (double& entry : vector)
                    entry = random_index(0, 2, random) == 0 ? 0.0 : random_vector(1, random)(0);
            };
            if (step != 1) change(program.b);
            if (step != 2) change(program.c);
            program.c0 = random_vector(1, random)(0);
            if (step != 1) model->update_b(program.b);
            if (step != 2) model->update_c(program.c);
            model->update_constant(program.c0);
            model->write(updated);
            solvers::write_fusion_model(program, fresh);
            CHECK(text_of(updated) == text_of(fresh));
        }
        CHECK_THROWS_AS(model->update_b(Vector::Zero(program.rows() + 1)), InputError);
        CHECK_THROWS_AS(model->update_c(Vector::Zero(program.columns() + 1)), InputError);
    }
}

TEST_CASE(
    "mosek-fusion: the closed-form pairs of the paper's networks are optimal in Fusion's models, others are not") {
    if (!built_in()) return;
    for (int experiment = 1; experiment <= 4; ++experiment) {
        auto [network, points] = paper_data(experiment);
        if (experiment == 3) {  // its one point is degenerate: there other pairs are optimal, too
            points.conservativeResize(Eigen::NoChange, 2);
            points.col(1).setConstant(0.3);
        }
        ValueFunction program(network);
        conic::DualProgram dual(network);
        const auto model = fusion_model(program.program()), dual_model = fusion_model(dual.program());
        const Index count = std::min<Index>(points.cols(), 10);
        double worst = 0.0, least = std::numeric_limits<double>::infinity();
        for (Index k = 0; k < count; ++k) {
            INFO("experiment ", experiment, ", point ", k);
            const LocalState state = evaluate(network, points.col(k * (points.cols() / count)));
            const Multipliers xi = canonical_selector(network, state);
            const auto accept = [&](FusionModel& built, const ConicProgram& data, const Vector& x, const Vector& y,
                                    double value) {
                ReadBack file(built, data);
                const Judgement judgement = file.judge(x, y);
                INFO(std::string(judgement.worst()));
                CHECK(judgement.relative() <= kAccepted);
                CHECK(std::abs(judgement.primal_objective - value) <= kAccepted * std::abs(value));
                CHECK(std::abs(judgement.dual_objective - value) <= kAccepted * std::abs(value));
                worst = std::max(worst, judgement.relative());
                if (!state.pattern.nondegenerate()) return;
                // One entry of each block off by 1e-3 of the largest, one column likewise, and each block's sign turned.
                const auto reject = [&](const Vector& other_x, const Vector& other_y) {
                    const double figure = file.judge(other_x, other_y).relative();
                    CHECK(figure > kAccepted);
                    least = std::min(least, figure);
                };
                for (const Block& block : data.blocks) {
                    INFO(block.name);
                    Vector other = y;
                    other(block.begin) += 1e-3 * y.lpNorm<Eigen::Infinity>();
                    reject(x, other);
                    other = y;
                    other.segment(block.begin, block.size) *= -1.0;
                    if (other != y) reject(x, other);
                }
                for (const conic::Columns& columns : data.variables) {
                    INFO(columns.name);
                    Vector other = x;
                    other(columns.begin) -= 1e-3 * x.lpNorm<Eigen::Infinity>();
                    reject(other, y);
                }
            };
            program.set_point(state.x);
            model->update_b(program.program().b);
            model->update_constant(program.program().c0);
            accept(*model, program.program(), program.primal(state), program.dual(xi), state.value);
            dual.set_point(state.x);
            dual_model->update_c(dual.program().c);
            dual_model->update_constant(dual.program().c0);
            accept(*dual_model, dual.program(), dual.primal(xi), dual.dual(state), -state.value);
        }
        std::cout << fmt::format("Fusion: experiment {}, {} points: accepted at {:.1e}, rejected at {:.1e} and more\n",
                                 experiment, count, worst, least);
    }
}

TEST_CASE("mosek-fusion: planted pairs, in all cones and with quadratic objectives, are optimal in Fusion's models") {
    if (!built_in()) return;
    Random random(4);
    for (int trial = 0; trial < 40; ++trial) {
        INFO("trial ", trial);
        const Planted truth = plant_unique(trial % 4 < 2 ? one_of_each : small_cones, trial % 2 == 1, random);
        const auto model = fusion_model(truth.program);
        ReadBack file(*model, truth.program);
        file.check_shape();
        const Judgement judgement = file.judge(truth.x, truth.y);
        INFO(std::string(judgement.worst()));
        CHECK(judgement.relative() <= 1e-12);
        CHECK(std::abs(judgement.primal_objective - truth.objective) <= 1e-12 * (1.0 + judgement.objective_scale));
        for (const Block& block : truth.program.blocks) {
            INFO(block.name);
            Vector other = truth.y;
            other.segment(block.begin, block.size) *= -1.0;
            if (other != truth.y) CHECK(file.judge(truth.x, other).relative() > 1e-6);
        }
    }
}

TEST_CASE("mosek-fusion: multipliers are read with their signs from Fusion's duals, each cone by hand and at random") {
    if (!built_in()) return;
    if (solvers::mosek_fusion_backend().enabled().ready) {
        CHECK_THROWS_WITH_AS(fusion_model(five_programs()[0].program)->reread(Vector(), Vector()),
                             doctest::Contains("only without a licence"), InputError);
        left_out("reading injected pairs", "there is a licence: MOSEK would solve in their place", false);
        return;
    }
    Random random(5);
    // Any pair comes back as it was put in, in each of the five programs.
    for (const auto& [name, program] : five_programs()) {
        INFO(name);
        for (int draw = 0; draw < 5; ++draw) {
            const Vector x = random_vector(program.columns(), random), y = random_vector(program.rows(), random);
            const Solution answer = fusion_model(program)->reread(x, y);
            CHECK(answer.x == x);
            CHECK(answer.y == y);
        }
    }
    // The pairs are optimal in MOSEK's own eyes (the case before); here MOSEK holds them and Fusion hands them over.
    for (int trial = 0; trial < 20; ++trial) {
        const Planted truth = plant_unique(trial % 4 < 2 ? one_of_each : small_cones, trial % 2 == 1, random);
        const Solution answer = fusion_model(truth.program)->reread(truth.x, truth.y);
        CHECK(answer.x == truth.x);
        CHECK(answer.y == truth.y);
        CHECK((answer.s - truth.s).norm() <= 1e-12);
        const double rounding = 1e-12 * (1.0 + std::abs(truth.objective));
        CHECK(std::abs(answer.claimed.primal_objective - truth.objective) <= rounding);
        CHECK(std::abs(answer.claimed.dual_objective - truth.objective) <= rounding);
    }
    // a = 2x + 1, q = 3x − 1, u = 2x at x = 1: ν = c = 5, p = αq = 8, r = λ sign(u) = ½.
    const Network network = hand_network();
    ValueFunction program(network);
    program.set_point(vector({1.0}));
    const LocalState state = evaluate(network, vector({1.0}));
    const Solution answer = fusion_model(program.program())
                                ->reread(program.primal(state), program.dual(canonical_selector(network, state)));
    const Multipliers xi = program.multipliers(answer.y);
    CHECK(xi.nu[0](0) == 5.0);
    CHECK(xi.p[0](0) == 8.0);
    CHECK(xi.r[0](0) == 0.5);
    CHECK(std::abs(answer.claimed.primal_objective - 30.0) <= 1e-12);
    CHECK(std::abs(answer.claimed.dual_objective - 30.0) <= 1e-12);
}

TEST_CASE("mosek-fusion: any name will do, and one that is there twice gets a number") {
    if (!built_in()) return;
    const std::vector<std::string> names{"relu[0]", "relu[0]", "relu[0]~2", "1.0", "a 'b' \"c\"", "p,\n\tν", "", ""};
    conic::Builder builder;
    for (const std::string& name : names)
        builder.set(builder.add_rows(name, Cone::Nonnegative, 1), builder.add_columns(name, 1), -1.0);
    ConicProgram program = builder.build();
    program.c.setOnes();
    const ScratchFolder folder;
    const std::string file = (folder / "names.task").string();
    solvers::write_fusion_model(program, file);
    const Task task(file);
    CHECK(task.shape().variables == static_cast<Index>(names.size()) + 1);
    CHECK(task.shape().constraints == static_cast<Index>(names.size()));
    for (const std::string name :
         {"relu[0][0]", "relu[0]~2[0]", "relu[0]~2~2[0]", "1.0[0]", "a 'b' \"c\"[0]", "p,____[0]"}) {
        INFO(name);
        CHECK(task.constraint(name) >= 0);
        CHECK(task.variable(name) >= 0);
    }
}

TEST_CASE("mosek-fusion: files that cannot be written are errors with the reason, and the model lives on") {
    if (!built_in()) return;
    const ScratchFolder folder;
    const ConicProgram program = five_programs()[0].program;
    const auto model = fusion_model(program);
    for (const char* name : {"model.lp", "model.mps", "model", "model.ptf.txt"})
        CHECK(contains(input_error([&] { model->write((folder / name).string()); }), ".task"));
    CHECK(contains(input_error([&] { model->write((folder / "not there/model.task").string()); }), "1052"));
    CHECK(folder.files() == 0);
    model->write((folder / "model.cbf").string());
    CHECK(folder.files() == 1);
    ReadBack(*model, program).check_shape();
    ConicProgram concave = program;
    concave.P.insert(0, 0) = -1.0;
    CHECK(contains(input_error([&] { fusion_model(concave); }), "convex"));
}

TEST_CASE("mosek-fusion: without a licence the error says so in MOSEK's words, and everything else goes on") {
    if (!built_in()) return;
    const solvers::Backend& backend = solvers::mosek_fusion_backend();
    CHECK(contains(backend.version(), "."));
    const solvers::Readiness enabled = backend.enabled();
    MESSAGE("mosek-fusion " << backend.version() << ": " << enabled.reason);
    if (enabled.ready) return;
    const ConicProgram program = five_programs()[0].program;
    const auto model = fusion_model(program);
    for (int again = 0; again < 3; ++again) {
        for (const auto& ask :
             std::array<std::function<void()>, 2>{[&] { backend.open(program, {}); }, [&] { model->solve({}); }}) {
            std::string message;
            try {
                ask();
            } catch (const SolverUnavailable& error) {
                message = error.what();
            }
            CHECK(contains(message, "mosek-fusion"));
            CHECK(contains(message, "not enabled: no licence"));
            CHECK(contains(message, "MSK_RES_ERR_"));
            CHECK(!contains(message, "\n"));
        }
        ReadBack(*model, program).check_shape();
    }
}

TEST_CASE("mosek-fusion: with a licence, solves agree with the closed forms, and the model is written when asked") {
    if (!licensed()) return;
    const ScratchFolder folder;
    const solvers::Backend& backend = solvers::mosek_fusion_backend();
    for (int experiment = 1; experiment <= 4; ++experiment) {
        const auto [network, points] = paper_data(experiment);
        ValueFunction program(network);
        program.set_point(points.col(0));
        solvers::Settings settings;
        settings.options["write"] = (folder / "model.task").string();
        const auto workspace = backend.open(program.program(), settings);
        for (Index k = 0; k < std::min<Index>(points.cols(), 5); ++k) {
            INFO("experiment ", experiment, ", point ", k);
            const LocalState state = evaluate(network, points.col(k));
            program.set_point(state.x);
            workspace->update_b(program.program().b);
            const Solution answer = workspace->solve();
            REQUIRE(answer.claimed.status == solvers::Status::Solved);
            const ConicProgram& data = program.program();
            const double value = data.c.dot(answer.x) + data.c0, scale = 1.0 + value_size(network, state.x);
            CHECK(std::abs(value - state.value) <= 1e-6 * scale);
            CHECK(answer.measured.gap <= 1e-6 * scale);
            CHECK(answer.measured.dual_residual <= 1e-6 * scale);  // so y has the signs of the convention
            CHECK(Task(settings.options["write"]).shape().variables == data.columns() + 1);
        }
    }
    Random random(6);
    for (int trial = 0; trial < 20; ++trial) {
        INFO("trial ", trial);
        const Planted truth = plant_unique(trial % 4 < 2 ? one_of_each : small_cones, trial % 2 == 1, random);
        const Solution answer = backend.open(truth.program, {})->solve();
        REQUIRE(answer.claimed.status == solvers::Status::Solved);
        const ErrorBounds bounds(truth, answer);
        CHECK(std::abs(answer.measured.primal_objective - truth.objective) <= bounds.objective);
        CHECK((answer.x - truth.x).norm() <= bounds.x);
        CHECK((answer.y - truth.y).norm() <= bounds.y);
    }
}
