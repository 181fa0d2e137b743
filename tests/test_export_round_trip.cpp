// Export to CBF, read, solve: the known value comes back, for every program and network of data/suite and data/paper.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "conic/linear_objective.hpp"
#include "formats/cbf.hpp"
#include "known_programs.hpp"
#include "verify/solve_file.hpp"

using namespace certicone;

namespace {

struct Worst {
    double error = 0.0;
    std::string name;
};

}  // namespace

TEST_CASE("f(x) comes back to 1e-8 relative, and the pair is consistent with the known one") {
    std::map<std::string, Worst> worst;
    Index count = 0, zeros = 0;
    test::for_each_point(12, [&](const Network& network, const Vector& x, Index j) {
        for (const test::NamedProgram& entry : test::known_programs(network, x, j)) {
            CAPTURE(entry.name);
            const verify::KnownSolution& known = entry.known.known;
            const conic::LinearObjective form(entry.known.program);
            const std::string text = formats::to_cbf({entry.name, form.program(), {}, {}});
            const formats::CbfModel model = formats::parse_cbf(text, entry.name);
            const solvers::Solution answer = verify::solve_by_default(model.program, {}).solution;
            // Where the value is 0 no error is small relative to it; where it is what is left of c0, c0 is rounded.
            const double size = std::abs(known.objective);
            const double error = std::abs(answer.measured.primal_objective - known.objective);
            ++count;
            zeros += size == 0.0;
            const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * std::abs(entry.known.program.c0);
            CHECK(error <= (size > 0.0 ? 1e-8 * size + rounding : 1e-12));
            CHECK(known.gap <= 1e-9 * size + 1e-20);  // inference: proved by its own multipliers
            if (size > 0.0 && error / size > worst[entry.program].error)
                worst[entry.program] = {error / size, entry.name};

            verify::StoredSolution stored;
            stored.objective = known.objective;
            stored.x = form.extend_x(known.x);
            stored.y = form.extend_y(known.x, known.y);
            if (known.source == "closed form") {
                const verify::KnownComparison compared = verify::compare_with_known(model, answer, stored);
                CHECK_MESSAGE(compared.consistent(), compared.mismatch, " ", compared.objective_error, " ",
                              compared.membership, " ", compared.bound);
            }
        }
    });
    CHECK(count > 1500);
    for (const auto& [program, found] : worst)
        MESSAGE(fmt::format("{:<12} worst {:.1e} ({})", program, found.error, found.name));
    MESSAGE(fmt::format("{} instances, {} of value 0", count, zeros));
}

TEST_CASE("closed-form pairs of all programs are optimal by the numbers") {
    Index count = 0;
    double worst = 0.0;
    test::for_each_point(12, [&](const Network& network, const Vector& x, Index j) {
        for (const test::NamedProgram& entry : test::known_programs(network, x, j)) {
            const verify::KnownSolution& known = entry.known.known;
            if (known.source != "closed form") continue;
            CAPTURE(entry.name);
            const conic::ConicProgram& program = entry.known.program;
            const solvers::Measured found =
                solvers::measure(program, known.x, program.b - program.A * known.x, known.y);
            const conic::SparseMatrix A = program.A.cwiseAbs();
            const double primal = std::max((A * known.x.cwiseAbs()).maxCoeff(), program.b.cwiseAbs().maxCoeff());
            const double dual = std::max({(A.transpose() * known.y.cwiseAbs()).maxCoeff(),
                                          program.c.cwiseAbs().maxCoeff(), known.x.cwiseAbs().maxCoeff()});
            const double value = program.c.cwiseAbs().dot(known.x.cwiseAbs()) +
                                 program.b.cwiseAbs().dot(known.y.cwiseAbs()) + std::abs(program.c0) +
                                 known.x.dot(program.P * known.x);
            const double figure =
                std::max({found.primal_cone / std::max(primal, 1e-300), found.dual_residual / std::max(dual, 1e-300),
                          found.dual_cone / std::max(dual, 1e-300), found.gap / std::max(value, 1e-300),
                          std::abs(found.primal_objective - known.objective) / std::max(value, 1e-300)});
            CHECK(figure <= 1e-13);
            worst = std::max(worst, figure);
            ++count;
        }
    });
    CHECK(count > 1200);
    MESSAGE(fmt::format("{} closed-form pairs, worst figure {:.1e}", count, worst));
}
