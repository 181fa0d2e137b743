// What stands before and behind every backend: the registry, the checks of programs, and the measured figures.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "planted_programs.hpp"
#include "skip.hpp"
#include "support/error.hpp"
#include "verify/answer.hpp"
#include "verify/solve_file.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Cone;
using conic::ConicProgram;
using solvers::measure;
using solvers::Measured;

namespace {

const std::vector<PlantedBlock> one_of_each{
    {Cone::RotatedSecondOrder, 4}, {Cone::Zero, 2}, {Cone::SecondOrder, 3}, {Cone::Nonnegative, 4}};

std::string refusal(const ConicProgram& program) {
    try {
        validate(program);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("solver interface: the registry, in order; a backend that is not built in says so") {
    std::vector<std::string> names;
    for (const solvers::Backend* backend : solvers::backends()) {
        names.emplace_back(backend->name());
        CHECK(&solvers::backend(backend->name()) == backend);
        CHECK(!backend->available().reason.empty());
        if (backend->available().ready) {
            CHECK(backend->version().find_first_of("0123456789") != std::string::npos);
            CHECK(!backend->capabilities().cones.empty());
        } else {
            Random random(1);
            CHECK_THROWS_AS(backend->open(plant({{Cone::Zero, 1}}, 1, false, random).program, {}), SolverUnavailable);
        }
    }
    REQUIRE(names.size() >= 4);
    CHECK(std::vector<std::string>(names.begin(), names.begin() + 4) ==
          std::vector<std::string>{"scs", "clarabel", "highs", "osqp"});
    CHECK_THROWS_WITH_AS(solvers::backend("simplex"), doctest::Contains("scs, clarabel, highs, osqp"), InputError);
}

TEST_CASE("solver interface: planted solutions are what they claim") {
    Random random(2);
    for (int trial = 0; trial < 50; ++trial) {
        const Planted truth = plant_unique(one_of_each, trial % 2 == 1, random);
        validate(truth.program);
        CHECK(truth.unique());
        // Each cone by its own inequality, and complementary block by block.
        const double rounding = 1e-14;
        for (const conic::Block& block : truth.program.blocks) {
            const Vector s = truth.s.segment(block.begin, block.size), y = truth.y.segment(block.begin, block.size);
            CHECK(std::abs(s.dot(y)) <= rounding);
            const auto inside = [&](const Vector& v) {
                switch (block.cone) {
                    case Cone::Zero: return v.isZero(0.0);
                    case Cone::Nonnegative: return v.minCoeff() >= 0.0;
                    case Cone::SecondOrder: return v.tail(v.size() - 1).norm() <= v(0) + rounding;
                    case Cone::RotatedSecondOrder:
                        return v.tail(v.size() - 2).squaredNorm() <= 2.0 * v(0) * v(1) + rounding &&
                               v.head(2).minCoeff() >= -rounding;
                }
                return false;
            };
            CHECK(inside(s));
            CHECK((block.cone == Cone::Zero || inside(y)));
        }
        const Measured found = measure(truth.program, truth.x, truth.s, truth.y);
        for (const double figure :
             {found.primal_residual, found.dual_residual, found.primal_cone, found.dual_cone, found.gap})
            CHECK(figure <= 100.0 * rounding);
        CHECK(std::abs(found.primal_objective - truth.objective) <= 100.0 * rounding);
        CHECK(std::abs(found.dual_objective - truth.objective) <= 100.0 * rounding);
    }
}

TEST_CASE("solver interface: measured figures see every kind of tampering") {
    Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        const Planted truth = plant_unique(one_of_each, trial % 2 == 1, random);
        const double size = 1e-6, seen = 1e-8;
        for (Index j = 0; j < truth.program.columns(); ++j) {
            Vector x = truth.x;
            x(j) += size;
            const Measured found = measure(truth.program, x, truth.s, truth.y);
            CHECK(found.primal_residual >= seen);
            CHECK((found.dual_residual > seen) == (truth.program.P.nonZeros() > 0));
        }
        for (Index i = 0; i < truth.program.rows(); ++i) {
            Vector s = truth.s, y = truth.y;
            s(i) += size;
            y(i) -= size;
            CHECK(measure(truth.program, truth.x, s, truth.y).primal_residual >= 0.99 * size);
            CHECK(measure(truth.program, truth.x, truth.s, y).dual_residual >= seen);
        }
        // b and c move with s and y, so that only the cones (and with them the gap) can tell.
        for (const conic::Block& block : truth.program.blocks) {
            INFO(std::string(to_string(block.cone)));
            ConicProgram moved = truth.program;
            Vector s = truth.s, y = truth.y;
            s(block.begin) -= s.segment(block.begin, block.size).norm() + size;
            y(block.begin) -= y.segment(block.begin, block.size).norm() + size;
            moved.b += s - truth.s;
            moved.c -= moved.A.transpose() * (y - truth.y);
            const Measured found = measure(moved, truth.x, s, y);
            CHECK(found.primal_residual <= 1e-13);
            CHECK(found.dual_residual <= 1e-13);
            CHECK(found.primal_cone >= 0.5 * size);
            CHECK((found.dual_cone >= 0.5 * size) == (block.cone != Cone::Zero));
        }
        // A pair in its cones, feasible, but not complementary: the gap is sᵀy.
        const Vector inside = Vector::Unit(truth.s.size(), truth.program.blocks.back().begin);
        ConicProgram moved = truth.program;
        moved.b += inside;
        moved.c -= moved.A.transpose() * inside;
        const Vector s = truth.s + inside, y = truth.y + inside;
        const Measured found = measure(moved, truth.x, s, y);
        CHECK(std::abs(found.gap - s.dot(y)) <= 1e-12);
        CHECK(found.gap >= 1.0);
    }
}

namespace {

/// A solver that gives the answer it was told to, call by call, and calls it solved.
class Told : public solvers::Backend {
  public:
    using Answer = std::function<solvers::Solution(const ConicProgram& program, int call)>;
    explicit Told(Answer answer) : answer_(std::move(answer)) {}
    explicit Told(const solvers::Solution& answer) : Told([=](const ConicProgram&, int) { return answer; }) {}
    std::string_view name() const override { return "told"; }
    std::string version() const override { return "1.0"; }
    solvers::Capabilities capabilities() const override {
        return {{Cone::Zero, Cone::Nonnegative, Cone::SecondOrder, Cone::RotatedSecondOrder}, true, true, true, false};
    }
    std::span<const solvers::Option> options() const override { return {}; }
    solvers::Readiness available() const override { return {true, "built in"}; }

  private:
    struct Session : solvers::Workspace {
        Session(ConicProgram program, const Told& backend) : Workspace(std::move(program)), told(backend) {}
        solvers::Solution run(bool, bool, bool) override {
            solvers::Solution answer = told.answer_(program(), told.calls_++);
            answer.claimed.status = solvers::Status::Solved;
            answer.claimed.text = "solved";
            return answer;
        }
        const Told& told;
    };
    std::unique_ptr<solvers::Workspace> setup(ConicProgram program, const solvers::Settings&) const override {
        return std::make_unique<Session>(std::move(program), *this);
    }

    Answer answer_;
    mutable int calls_ = 0;
};

solvers::Solution planted_answer(const Planted& truth) { return {truth.x, truth.s, truth.y, {}, {}}; }

}  // namespace

TEST_CASE(
    "solver interface: a number that is not finite is measured as such, and its answer has failed, with the place") {
    Random random(5);
    const Planted truth = plant_unique(one_of_each, true, random);
    const double bad[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity()};
    const auto all_finite = [](const Measured& m) {
        return std::isfinite(m.primal_residual + m.dual_residual + m.primal_cone + m.dual_cone + m.primal_objective +
                             m.dual_objective + m.gap);
    };
    const auto check = [&](std::string_view name, Vector solvers::Solution::*part, const auto& parts) {
        for (const auto& run : parts)
            for (Index i = 0; i < run.size; ++i)
                for (const double value : bad) {
                    solvers::Solution answer = planted_answer(truth);
                    (answer.*part)(run.begin + i) = value;
                    const std::string place = fmt::format("{}[{}], entry {} of '{}'", name, run.begin + i, i, run.name);
                    INFO(place);
                    CHECK(!all_finite(measure(truth.program, answer.x, answer.s, answer.y)));
                    const solvers::Solution judged = Told(answer).open(truth.program, {})->solve();
                    CHECK(judged.claimed.status == solvers::Status::Failed);
                    CHECK(judged.claimed.text.find(fmt::format("solved, but {}, is {}", place, value)) == 0);
                    if (std::isnan(value) && name != "x")
                        CHECK(std::isnan(name == "s" ? judged.measured.primal_cone : judged.measured.dual_cone));
                }
    };
    check("x", &solvers::Solution::x, truth.program.variables);
    check("s", &solvers::Solution::s, truth.program.blocks);
    check("y", &solvers::Solution::y, truth.program.blocks);
    // Entries that are finite, with products that are not.
    solvers::Solution large = planted_answer(truth);
    large.x.setConstant(1e300);
    const solvers::Solution judged = Told(large).open(truth.program, {})->solve();
    CHECK(judged.claimed.status == solvers::Status::Failed);
    CHECK(judged.claimed.text.find("solved, but its ") == 0);
    CHECK(Told(planted_answer(truth)).open(truth.program, {})->solve().claimed.status == solvers::Status::Solved);
}

TEST_CASE("solving from a file: the answer that keeps the tolerance is taken, not the one that claims to") {
    if (!usable("clarabel")) return;
    // min x₀ with x₀ ≥ 1, x₁ − x₀ ≤ 4, −x₀ − x₁ ≤ 8: what x₁ does shows neither in the gap nor in stationarity.
    conic::Builder builder;
    builder.add_columns("x", 2);
    builder.add_rows("bound", Cone::Nonnegative, 1);
    builder.add_rows("free", Cone::Nonnegative, 2);
    ConicProgram program = builder.build();
    Matrix A(3, 2);
    A << -1, 0, -1, 1, -1, -1;
    program.A = planted::sparse(A);
    program.b = Vector::Zero(3);
    program.b << -1.0, 4.0, 8.0;
    program.c << 1.0, 0.0;
    const auto answer = [](const ConicProgram& scaled, bool violated) {
        solvers::Settings strict;
        strict.eps_abs = strict.eps_rel = 1e-12;
        solvers::Solution solution = solvers::backend("clarabel").open(scaled, strict)->solve();
        if (violated)
            solution.x(1) -= 1e3;
        else
            solution.y *= 1.0 + 2e-10;  // a larger gap than the other's, within the tolerance
        solution.s = scaled.b - scaled.A * solution.x;
        return solution;
    };
    const Told now_and_then([&](const ConicProgram& scaled, int call) { return answer(scaled, call != 1); });
    const solvers::Solution best = verify::solve_from_file(program, now_and_then, {});
    CHECK(best.measured.primal_cone <= 1e-8);
    CHECK(verify::broken_promise(program, best, {}).value_or("") == "");
    const Told always([&](const ConicProgram& scaled, int) { return answer(scaled, true); });
    const solvers::Solution lie = verify::solve_from_file(program, always, {});
    CHECK(lie.claimed.status == solvers::Status::Solved);  // so it says
    CHECK(verify::broken_promise(program, lie, {}).value_or("").find("distance from the cone") != std::string::npos);
}

TEST_CASE("solver interface: programs that do not fit together are refused, with what is wrong") {
    Random random(4);
    const ConicProgram good = plant(one_of_each, 3, true, random).program;
    CHECK(refusal(good).empty());
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    const auto spoilt = [&](auto&& spoil) {
        ConicProgram program = good;
        spoil(program);
        return refusal(program);
    };
    using P = ConicProgram;
    CHECK(spoilt([](P& p) { p.blocks.pop_back(); }).find("do not cover the rows") != std::string::npos);
    CHECK(spoilt([](P& p) { p.blocks.back().size += 1; }).find("do not cover the rows") != std::string::npos);
    CHECK(spoilt([](P& p) { p.blocks[1].begin += 1; }).find(good.blocks[1].name) != std::string::npos);
    CHECK(spoilt([](P& p) { p.blocks[2].size = 0; }).find(good.blocks[2].name) != std::string::npos);
    CHECK(spoilt([](P& p) {
              p.blocks.insert(p.blocks.begin(), {"short", Cone::RotatedSecondOrder, 0, 1});
          }).find("two rows") != std::string::npos);
    CHECK(spoilt([](P& p) { p.variables.clear(); }).find("variables") != std::string::npos);
    CHECK(spoilt([&](P& p) { p.b(2) = nan; }).find("finite") != std::string::npos);
    CHECK(spoilt([&](P& p) { p.c(1) = infinity; }).find("finite") != std::string::npos);
    CHECK(spoilt([&](P& p) { p.c0 = nan; }).find("finite") != std::string::npos);
    CHECK(spoilt([&](P& p) { p.A.valuePtr()[0] = nan; }).find("A or P") != std::string::npos);
    CHECK(spoilt([&](P& p) { p.P.valuePtr()[0] = nan; }).find("A or P") != std::string::npos);
    CHECK(spoilt([](P& p) { p.b.conservativeResize(3); }).find("fit A") != std::string::npos);
    CHECK(spoilt([](P& p) { p.P.resize(2, 2); }).find("P does not fit") != std::string::npos);
}

TEST_CASE("solver interface: settings that make no sense are refused") {
    const auto refused = [](auto&& spoil) {
        solvers::Settings settings;
        spoil(settings);
        try {
            solvers::validate(settings);
        } catch (const InputError&) {
            return true;
        }
        return false;
    };
    using S = solvers::Settings;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(!refused([](S&) {}));
    CHECK(refused([](S& s) { s.eps_abs = -1e-9; }));
    CHECK(refused([&](S& s) { s.eps_rel = nan; }));
    CHECK(refused([](S& s) { s.eps_abs = s.eps_rel = 0.0; }));
    CHECK(refused([](S& s) { s.max_iterations = -1; }));
    CHECK(refused([](S& s) { s.time_limit = -1.0; }));
    CHECK(refused([&](S& s) { s.time_limit = nan; }));
}
