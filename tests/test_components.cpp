// Programs that fall apart, pairs of solvers, and quadratic objectives as cones.
#include <doctest/doctest.h>

#include "conic/components.hpp"
#include "conic/linear_objective.hpp"
#include "conic/value_function.hpp"
#include "file_helpers.hpp"
#include "planted_programs.hpp"
#include "skip.hpp"
#include "solvers/separable.hpp"
#include "support/error.hpp"

using namespace certicone;
using namespace certicone::test;
using conic::Component;
using conic::Cone;
using conic::ConicProgram;

namespace {

/// Two planted programs side by side, rows and columns interleaved by block.
ConicProgram side_by_side(const ConicProgram& first, const ConicProgram& second) {
    conic::Builder builder;
    builder.add_columns("first", first.columns());
    builder.add_columns("second", second.columns());
    std::vector<Index> first_row, second_row;
    const std::size_t blocks = std::max(first.blocks.size(), second.blocks.size());
    for (std::size_t k = 0; k < blocks; ++k) {
        const auto add = [&](const ConicProgram& program, const char* name, std::vector<Index>& rows) {
            if (k >= program.blocks.size()) return;
            const conic::Block& block = program.blocks[k];
            const Index begin = builder.add_rows(name + block.name, block.cone, block.size);
            for (Index i = 0; i < block.size; ++i)
                rows.push_back(begin + i);
        };
        add(first, "first ", first_row);
        add(second, "second ", second_row);
    }
    const auto put = [&](const ConicProgram& program, const std::vector<Index>& rows, Index columns) {
        for (int j = 0; j < program.A.outerSize(); ++j)
            for (conic::SparseMatrix::InnerIterator it(program.A, j); it; ++it)
                builder.set(rows[static_cast<std::size_t>(it.row())], columns + j, it.value());
    };
    put(first, first_row, 0);
    put(second, second_row, first.columns());
    ConicProgram whole = builder.build();
    for (std::size_t i = 0; i < first_row.size(); ++i)
        whole.b(first_row[i]) = first.b(static_cast<Index>(i));
    for (std::size_t i = 0; i < second_row.size(); ++i)
        whole.b(second_row[i]) = second.b(static_cast<Index>(i));
    whole.c << first.c, second.c;
    whole.c0 = first.c0 + second.c0;
    return whole;
}

}  // namespace

TEST_CASE("components: the value function falls into the backbone and its modules (Proposition 1)") {
    Random random(61);
    const Network network = random_network({4, {6, 5}, {2, 3}, {3, 1}, 0.5}, random);
    conic::ValueFunction value_function(network);
    value_function.set_point(random_vector(4, random));
    const ConicProgram& program = value_function.program();
    const std::vector<Component> parts = conic::components(program);
    REQUIRE(parts.size() == 5);
    CHECK(parts[0].linear);
    Index rows = 0, columns = 0, entries = 0;
    for (const Component& part : parts) {
        CHECK_NOTHROW(conic::validate(part.program));
        CHECK(part.linear == (&part == &parts[0]));
        rows += part.program.rows();
        columns += part.program.columns();
        entries += part.program.A.nonZeros();
        for (std::size_t i = 0; i < part.rows.size(); ++i)
            CHECK(part.program.b(static_cast<Index>(i)) == program.b(part.rows[i]));
        for (std::size_t j = 0; j < part.columns.size(); ++j)
            for (std::size_t i = 0; i < part.rows.size(); ++i)
                CHECK(part.program.A.coeff(static_cast<Index>(i), static_cast<Index>(j)) ==
                      program.A.coeff(part.rows[i], part.columns[j]));
    }
    CHECK(rows == program.rows());
    CHECK(columns == program.columns());
    CHECK(entries == program.A.nonZeros());
}

TEST_CASE("components: P joins columns, rows without entries stay, nothing is lost") {
    conic::Builder builder;
    builder.add_columns("x", 4);
    const Index cone = builder.add_rows("cone", Cone::SecondOrder, 2);
    const Index line = builder.add_rows("line", Cone::Nonnegative, 2);
    builder.set(cone, 0, -1.0);
    builder.set(cone + 1, 1, -1.0);
    builder.set(line, 2, -1.0);
    ConicProgram program = builder.build();
    CHECK(conic::components(program).size() == 2);
    program.P.coeffRef(2, 1) = program.P.coeffRef(1, 2) = 0.5;
    program.P.coeffRef(1, 1) = program.P.coeffRef(2, 2) = 1.0;
    const std::vector<Component> parts = conic::components(program);
    REQUIRE(parts.size() == 2);  // columns 0, 1, 2 with the cone; column 3 and the empty row
    CHECK(parts[0].columns == std::vector<Index>{3});
    CHECK(parts[0].rows == std::vector<Index>{3});
    CHECK(parts[1].columns == std::vector<Index>{0, 1, 2});
    CHECK(parts[1].rows == std::vector<Index>{0, 1, 2});
    CHECK(!parts[1].linear);
    CHECK(parts[1].program.P.coeff(2, 1) == 0.5);
}

TEST_CASE("separable: a pair of solvers answers like one, in the units of the whole program") {
    Random random(62);
    for (const char* name : {"highs+clarabel", "scs+scs", "highs+scs"}) {
        const solvers::Backend& pair = solvers::backend(name);
        CHECK(pair.name() == name);
        CHECK(&solvers::backend(name) == &pair);
        if (!usable(name)) continue;
        for (int trial = 0; trial < 20; ++trial) {
            // A large linear part beside a small cone part: units of their own matter.
            Planted linear = plant_unique({{Cone::Zero, 2}, {Cone::Nonnegative, 5}}, false, random);
            Planted cones = plant_unique({{Cone::SecondOrder, 3}, {Cone::RotatedSecondOrder, 4}}, false, random);
            cones.program.b *= 1e-4;
            cones.program.c *= 1e-3;
            const ConicProgram whole = side_by_side(linear.program, cones.program);
            const auto workspace = pair.open(whole, {});
            solvers::Solution solution = workspace->solve();
            INFO(name, ", trial ", trial, ", ", solution.claimed.text);
            REQUIRE(solution.claimed.status == solvers::Status::Solved);
            CHECK((solution.x.head(linear.x.size()) - linear.x).norm() <= 1e-6);
            CHECK((solution.x.tail(cones.x.size()) - 1e-4 * cones.x).norm() <= 1e-4 * 1e-3);
            const double objective = linear.program.c.dot(linear.x) + 1e-4 * cones.program.c.dot(cones.x) + whole.c0;
            CHECK(std::abs(solution.measured.primal_objective - objective) <= 1e-7);
            CHECK(solution.measured.gap <= 1e-7);
            CHECK(solution.measured.dual_cone <= 1e-9);
            // Other b and c in the same workspace.
            workspace->update_b(2.0 * whole.b);
            workspace->update_c(3.0 * whole.c);
            solution = workspace->solve();
            REQUIRE(solution.claimed.status == solvers::Status::Solved);
            CHECK((solution.x.head(linear.x.size()) - 2.0 * linear.x).norm() <= 2e-6);
            CHECK(std::abs(solution.measured.primal_objective - whole.c0 - 6.0 * (objective - whole.c0)) <= 6e-7);
        }
    }
    CHECK_THROWS_WITH_AS(solvers::backend("highs+nothing"), doctest::Contains("nothing"), InputError);
    CHECK_THROWS_AS(solvers::backend("+"), InputError);
    const Planted planted = plant_unique({{Cone::SecondOrder, 3}}, false, random);
    if (usable("highs"))
        CHECK(contains(input_error([&] { solvers::backend("highs+highs").open(planted.program, {}); }), "cone"));
}

TEST_CASE(
    "separable: rows without entries that cannot be met make the whole infeasible, and an undecided part undecided") {
    if (!usable("highs+clarabel")) return;
    const solvers::Backend& pair = solvers::backend("highs+clarabel");
    conic::Builder builder;  // min t, |1| ≤ t: the rows without entries are alone in the linear part
    const Index norm = builder.add_rows("norm", Cone::SecondOrder, 2);
    builder.set(norm, builder.add_columns("t", 1), -1.0);
    const Index empty = builder.add_rows("empty", Cone::Nonnegative, 2);
    const Index cone = builder.add_rows("empty cone", Cone::SecondOrder, 3);
    ConicProgram program = builder.build();
    program.c.setOnes();
    program.b(norm + 1) = 1.0;
    program.b(cone) = 2.0;
    const auto workspace = pair.open(program, {});
    CHECK(workspace->solve().claimed.status == solvers::Status::Solved);
    program.b(empty + 1) = -1e-6;
    workspace->update_b(program.b);
    solvers::Solution answer = workspace->solve();
    CHECK(answer.claimed.status == solvers::Status::Infeasible);
    CHECK_MESSAGE(contains(answer.claimed.text, "'empty'"), answer.claimed.text);
    program.b(empty + 1) = 0.0;
    program.b(cone + 1) = -2.1;
    workspace->update_b(program.b);
    answer = workspace->solve();
    CHECK(answer.claimed.status == solvers::Status::Infeasible);
    CHECK_MESSAGE(contains(answer.claimed.text, "'empty cone'"), answer.claimed.text);
    program.b(cone + 1) = 0.0;
    workspace->update_b(program.b);
    CHECK(workspace->solve().claimed.status == solvers::Status::Solved);

    // A part that ends early is the word of the whole, whatever the others say.
    Random random(64);
    const Planted linear = plant_unique({{Cone::Nonnegative, 6}}, false, random);
    const Planted cones = plant_unique({{Cone::SecondOrder, 5}}, false, random);
    for (const ConicProgram& whole :
         {side_by_side(linear.program, cones.program), side_by_side(cones.program, linear.program)}) {
        solvers::Settings settings;
        settings.max_iterations = 1;
        const solvers::Status status = pair.open(whole, settings)->solve().claimed.status;
        CHECK(status != solvers::Status::Solved);
        CHECK(pair.open(whole, {})->solve().claimed.status == solvers::Status::Solved);
    }
}

TEST_CASE("linear objective: the same optimum, pair and value without P") {
    Random random(63);
    for (int trial = 0; trial < 30; ++trial) {
        const Planted truth = plant_unique(
            {{Cone::RotatedSecondOrder, 4}, {Cone::Zero, 2}, {Cone::SecondOrder, 3}, {Cone::Nonnegative, 4}}, true,
            random);
        REQUIRE(truth.program.P.nonZeros() > 0);
        const conic::LinearObjective form(truth.program);
        CHECK(form.changed());
        CHECK_NOTHROW(conic::validate(form.program()));
        const Vector x = form.extend_x(truth.x), s = form.extend_s(truth.x, truth.s),
                     y = form.extend_y(truth.x, truth.y);
        const solvers::Measured before = solvers::measure(truth.program, truth.x, truth.s, truth.y);
        const solvers::Measured after = solvers::measure(form.program(), x, s, y);
        const double unit = 1e-13 * (1.0 + truth.x.squaredNorm());
        CHECK(after.primal_residual <= before.primal_residual + unit);
        CHECK(after.dual_residual <= before.dual_residual + unit);
        CHECK(after.primal_cone <= before.primal_cone + unit);
        CHECK(after.dual_cone <= before.dual_cone + unit);
        CHECK(std::abs(after.primal_objective - before.primal_objective) <= unit);
        CHECK(std::abs(after.dual_objective - before.dual_objective) <= unit);
        CHECK(form.columns_of(x) == truth.x);
        CHECK(form.rows_of(y) == truth.y);
        CHECK(form.extend_b(truth.program.b) == form.program().b);
        CHECK(form.extend_c(truth.program.c) == form.program().c);
    }
    conic::Builder builder;
    builder.add_columns("x", 2);
    builder.add_rows("row", Cone::Nonnegative, 1);
    builder.set(0, 0, 1.0);
    ConicProgram program = builder.build();
    CHECK(!conic::LinearObjective(program).changed());
    program.P.coeffRef(0, 0) = -1.0;
    CHECK(contains(input_error([&] { conic::LinearObjective form(program); }), "not convex"));
    program.P.coeffRef(0, 0) = 1.0;
    program.P.coeffRef(0, 1) = program.P.coeffRef(1, 0) = 2.0;
    program.P.coeffRef(1, 1) = 1.0;
    CHECK(contains(input_error([&] { conic::LinearObjective form(program); }), "not convex"));
}
