// Export to CBF, read, solve: the known value comes back, for every program and network.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "conic/linear_objective.hpp"
#include "formats/cbf.hpp"
#include "known_programs.hpp"
#include "support/file.hpp"
#include "verify/examiner.hpp"
#include "verify/solve_file.hpp"

using namespace certicone;

TEST_CASE("probe") {
    const solvers::Backend& backend = solvers::backend(verify::default_solver());
    std::map<std::string, std::pair<double, std::string>> worst;
    int count = 0, bad = 0;
    test::for_each_point(20, [&](const Network& network, const Vector& x, Index j) {
        if (network.name.starts_with("exp1") && j > 1) return;
        for (const test::NamedProgram& entry : test::known_programs(network, x, j)) {
            const conic::LinearObjective form(entry.known.program);
            const formats::CbfModel model = formats::parse_cbf(formats::to_cbf({entry.name, form.program(), {}, {}}), entry.name);
            const solvers::Solution answer = verify::solve_model(model, backend, {});
            const double error = std::abs(answer.measured.primal_objective - entry.known.known.objective) / std::max(1e-300, std::abs(entry.known.known.objective));
            ++count;
            if (answer.claimed.status != solvers::Status::Solved || !(error <= 1e-8)) {
                ++bad;
                MESSAGE(entry.name << " " << answer.claimed.text << " value " << entry.known.known.objective << " error " << error << " c0 " << entry.known.program.c0 << " known gap " << entry.known.known.gap/std::abs(entry.known.known.objective) << " diff " << answer.measured.primal_objective - entry.known.known.objective<< " gap " << answer.measured.gap << " pr " << answer.measured.primal_residual << " pc " << answer.measured.primal_cone << " dr " << answer.measured.dual_residual);
            }
            auto& w = worst[entry.program];
            if (error > w.first) w = {error, entry.name};
        }
    });
    for (const auto& [p, w] : worst) MESSAGE(p << " " << w.first << " " << w.second);
    MESSAGE(count << " solved, bad " << bad);
}
