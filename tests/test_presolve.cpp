// Presolve and equilibration: optimal pairs survive the way there and back.
#include <doctest/doctest.h>

#include "conic/equilibrate.hpp"
#include "conic/linear_objective.hpp"
#include "conic/presolve.hpp"
#include "known_programs.hpp"
#include "planted_programs.hpp"
#include "skip.hpp"
#include "verify/examiner.hpp"
#include "verify/solve_file.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("by hand: a fixed column, a norm of constants and a square") {
    // min 2t + 3q + z with ω = (3, 4), (t, ω) ∈ Q; η = 6, (q, 2, η) ∈ Qr; z ≥ t: t = 5, q = 36/4 = 9, z = 5: 10 + 27 + 5 = 42.
    conic::Builder builder;
    const Index t = builder.add_columns("t", 1), omega = builder.add_columns("omega", 2),
                q = builder.add_columns("q", 1);
    const Index eta = builder.add_columns("eta", 1), z = builder.add_columns("z", 1);
    const Index fix = builder.add_rows("fix", conic::Cone::Zero, 3);
    builder.set(fix, omega, 1.0);
    builder.set(fix + 1, omega + 1, 2.0);
    builder.set(fix + 2, eta, -1.0);
    const Index norm = builder.add_rows("norm", conic::Cone::SecondOrder, 3);
    builder.set(norm, t, -1.0);
    builder.set(norm + 1, omega, -1.0);
    builder.set(norm + 2, omega + 1, -1.0);
    const Index square = builder.add_rows("square", conic::Cone::RotatedSecondOrder, 3);
    builder.set(square, q, -1.0);
    builder.set(square + 2, eta, -1.0);
    const Index last = builder.add_rows("last", conic::Cone::Nonnegative, 1);
    builder.set(last, z, -1.0);
    builder.set(last, t, 1.0);
    conic::ConicProgram program = builder.build();
    program.b << 3.0, 8.0, -6.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0;
    program.c(t) = 2.0;
    program.c(q) = 3.0;
    program.c(z) = 1.0;
    const conic::Presolved presolved(program);
    CHECK(presolved.program().columns() == 3);  // t, q and z, in linear rows
    for (const conic::Block& block : presolved.program().blocks)
        CHECK(block.cone == conic::Cone::Nonnegative);
    const solvers::Solution answer = verify::solve_from_file(program, solvers::backend(verify::default_solver()), {});
    CHECK(answer.measured.primal_objective == doctest::Approx(42.0));
    CHECK(answer.measured.dual_objective == doctest::Approx(42.0));
    CHECK(answer.measured.dual_residual < 1e-9);
    CHECK(answer.measured.dual_cone < 1e-9);
    // Multiplier of the norm: (3, −3·(3, 4)/5); of the square: (3, 3·36/8, −3·6/2).
    const Vector expected = (Vector(6) << 3.0, -1.8, -2.4, 3.0, 13.5, -9.0).finished();
    CHECK((answer.y.segment(norm, 6) - expected).norm() < 1e-8);
}

TEST_CASE("a square whose column is not fixed becomes a quadratic objective") {
    // min q − x with (q, ½, x) ∈ Qr, i.e. q ≥ x²: −1/4 at x = ½; x ≤ 10 keeps a row.
    conic::Builder builder;
    const Index q = builder.add_columns("q", 1), x = builder.add_columns("x", 1);
    const Index square = builder.add_rows("square", conic::Cone::RotatedSecondOrder, 3);
    builder.set(square, q, -1.0);
    builder.set(square + 2, x, -1.0);
    builder.set(builder.add_rows("row", conic::Cone::Nonnegative, 1), x, 1.0);
    conic::ConicProgram program = builder.build();
    program.b << 0.0, 0.5, 0.0, 10.0;
    program.c(q) = 1.0;
    program.c(x) = -1.0;
    const conic::Presolved presolved(program);
    CHECK(presolved.program().columns() == 1);
    CHECK(presolved.program().P.coeff(0, 0) == 2.0);
    const solvers::Solution answer = verify::solve_from_file(program, solvers::backend(verify::default_solver()), {});
    CHECK(answer.measured.primal_objective == doctest::Approx(-0.25));
    CHECK(answer.measured.dual_objective == doctest::Approx(-0.25));
    CHECK(answer.x(x) == doctest::Approx(0.5));
}

TEST_CASE("planted programs with all cones are solved to their planted value") {
    for (const char* name : {"clarabel", "scs"}) {
        const solvers::Backend& backend = solvers::backend(name);
        if (!usable(name)) continue;
        Random random(4);
        for (int round = 0; round < 40; ++round) {
            CAPTURE(round);
            using conic::Cone;
            const Planted planted =
                plant({{Cone::Zero, 3}, {Cone::Nonnegative, 6}, {Cone::SecondOrder, 4}, {Cone::RotatedSecondOrder, 5}},
                      7, false, random);
            const solvers::Solution answer = verify::solve_from_file(planted.program, backend, {});
            const double value = solvers::measure(planted.program, planted.x, planted.s, planted.y).primal_objective;
            CHECK(answer.measured.primal_objective == doctest::Approx(value).epsilon(1e-6));
        }
    }
}

namespace {

void check_units(const conic::ConicProgram& program, const conic::Scaling& scaling) {
    const auto power = [](double value) {
        int exponent = 0;
        return std::frexp(value, &exponent) == 0.5;
    };
    CHECK(std::all_of(scaling.row.begin(), scaling.row.end(), power));
    CHECK(std::all_of(scaling.column.begin(), scaling.column.end(), power));
    CHECK(power(scaling.primal));
    CHECK(power(scaling.objective));
    for (const conic::Block& block : program.blocks) {
        const auto part = scaling.row.segment(block.begin, block.size);
        if (block.cone == conic::Cone::SecondOrder) CHECK((part.array() == part(0)).all());
        if (block.cone == conic::Cone::RotatedSecondOrder) {
            CHECK((part.tail(block.size - 2).array() == part(2)).all());
            CHECK(part(0) * part(1) == part(2) * part(2));
        }
    }
}

}  // namespace

TEST_CASE("units are powers of two, and cones keep their shape: those of any program, and those of our own") {
    for_each_point(1, [](const Network& network, const Vector& x, Index j) {
        for (const NamedProgram& entry : known_programs(network, x, j)) {
            CAPTURE(entry.name);
            const conic::LinearObjective form(entry.known.program);
            check_units(form.program(), conic::equilibrate(form.program()));
            const conic::Scaling& units = entry.known.units;
            check_units(entry.known.program, units);
            // There and back without rounding.
            CHECK(units.unscale_x(units.scaled_x(entry.known.known.x)) == entry.known.known.x);
            CHECK(units.unscale_y(units.scaled_y(entry.known.known.y)) == entry.known.known.y);
        }
    });
}

TEST_CASE("bounds of multipliers reach through cones: by hand") {
    // min 8 t with (2, 1) − ω = 0 and ‖ω‖ ≤ t: y of the cone is (8, r) with ‖r‖ ≤ 8, and so is that of the link.
    conic::Builder builder;
    builder.add_columns("t", 1);
    builder.add_columns("omega", 2);
    builder.add_rows("link", conic::Cone::Zero, 2);
    builder.add_rows("cone", conic::Cone::SecondOrder, 3);
    builder.set(0, 1, 1.0);
    builder.set(1, 2, 1.0);
    builder.set(2, 0, -1.0);
    builder.set(3, 1, -1.0);
    builder.set(4, 2, -1.0);
    conic::ConicProgram program = builder.build();
    program.b.head(2) << 2.0, 1.0;
    program.c(0) = 8.0;
    const conic::Scaling scaling = conic::equilibrate(program);
    const conic::ConicProgram scaled = conic::scaled(program, scaling);
    CHECK(scaling.row == Vector::Constant(5, 8.0));
    CHECK(scaled.c == vector({1.0, 0.0, 0.0}));
    CHECK(Matrix(scaled.A).cwiseAbs().rowwise().maxCoeff() == Vector::Ones(5));
    CHECK(scaling.primal == 16.0);
}

TEST_CASE("a bound that no double holds is none, and the search for bounds ends") {
    conic::Builder builder;
    builder.add_columns("x", 1);
    builder.add_rows("row", conic::Cone::Zero, 1);
    builder.set(0, 0, 1e-300);
    conic::ConicProgram program = builder.build();
    program.c(0) = 1e308;
    CHECK(conic::equilibrate(program).row.allFinite());
}
