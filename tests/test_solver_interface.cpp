// What stands before and behind every backend: the registry, the checks of programs, and the measured figures.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "planted_programs.hpp"
#include "support/error.hpp"

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
