#include <fmt/ostream.h>

#include <iostream>
#include <optional>
#include <sstream>

#include "formats/cbf.hpp"
#include "support/error.hpp"
#include "verify/answer.hpp"
#include "verify/commands.hpp"
#include "verify/report.hpp"
#include "verify/report_json.hpp"
#include "verify/solve_file.hpp"

namespace certicone::verify {

namespace {

struct SolveArguments {
    std::string file, solution, solver, json;
    std::vector<std::string> options;
    solvers::Settings settings;
};

/// NAME=VALUE of --option into the settings. The solver is opened on min 0, x = 0: what it does not take is refused here, even
/// where presolve leaves it nothing to solve.
void take_options(const SolveArguments& arguments, const solvers::Backend* named, solvers::Settings& settings) {
    if (arguments.options.empty()) return;
    if (!named) throw InputError("--option is of one solver: name it with --solver");
    for (const std::string& option : arguments.options) {
        const std::size_t equals = option.find('=');
        if (equals == std::string::npos || equals == 0)
            throw InputError(fmt::format("--option {}: NAME=VALUE expected", option));
        settings.options[option.substr(0, equals)] = option.substr(equals + 1);
    }
    conic::Builder builder;
    builder.set(builder.add_rows("row", conic::Cone::Zero, 1), builder.add_columns("x", 1), 1.0);
    named->open(builder.build(), settings);
}

/// "3 zero, 12 nonnegative, 2 second-order in 9 rows".
std::string cones_text(const conic::ConicProgram& program) {
    std::string text;
    for (const conic::Cone cone :
         {conic::Cone::Zero, conic::Cone::Nonnegative, conic::Cone::SecondOrder, conic::Cone::RotatedSecondOrder}) {
        Index rows = 0, blocks = 0;
        for (const conic::Block& block : program.blocks) {
            if (block.cone != cone) continue;
            rows += block.size;
            ++blocks;
        }
        if (rows == 0) continue;
        const bool linear = cone == conic::Cone::Zero || cone == conic::Cone::Nonnegative;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", linear ? rows : blocks, to_string(cone));
        if (!linear) text += fmt::format(" in {} rows", rows);
    }
    return text;
}

void print_comparison(std::ostream& out, const KnownComparison& known, const StoredSolution& stored) {
    if (!known.mismatch.empty()) fmt::print(out, "known      NOT: {}\n", known.mismatch);
    const char* relation = known.objective_error <= known.bound ? "<=" : ">";
    fmt::print(out, "known      objective {:.17g} ({}), off by {:.1e} {} {:.1e} (what residuals and gap allow)\n",
               stored.objective, stored.source, known.objective_error, relation, known.bound);
    relation = known.membership <= known.bound ? "<=" : ">";
    if (stored.dual_unique.value_or(false))
        fmt::print(out, "           dual unique: distance {:.1e} relative; complementarity {:.1e} {} {:.1e}\n",
                   known.dual_distance, known.membership, relation, known.bound);
    else
        fmt::print(
            out,
            "           dual {}: membership, stationarity {:.1e} and cones {:.1e} relative, complementarity {:.1e} {} "
            "{:.1e}; distance from the stored element {:.1e} relative\n",
            stored.dual_unique ? fmt::format("a set of dimension {}", stored.dual_dimension) : "not decided",
            known.dual_residual, known.dual_cone, known.membership, relation, known.bound, known.dual_distance);
}

Json comparison_json(const KnownComparison& known, const StoredSolution& stored) {
    return {{"consistent", known.consistent()},
            {"mismatch", known.mismatch},
            {"objective", number(stored.objective)},
            {"source", stored.source},
            {"objective_error", number(known.objective_error)},
            {"complementarity", number(known.membership)},
            {"bound", number(known.bound)},
            {"dual_residual", number(known.dual_residual)},
            {"dual_cone", number(known.dual_cone)},
            {"dual_unique", stored.dual_unique ? Json(*stored.dual_unique) : Json(nullptr)},
            {"dual_distance", number(known.dual_distance)}};
}

/// certicone-solve/1 (docs/export.md).
Json answer_json(const SolveArguments& arguments, const formats::CbfModel& model, const solvers::Backend& backend,
                 const solvers::Solution& answer, const std::string& broken) {
    const solvers::Measured& found = answer.measured;
    return {{"format", "certicone-solve/1"},
            {"instance",
             {{"file", arguments.file},
              {"sense", model.maximise ? "max" : "min"},
              {"variables", model.program.columns()},
              {"nonzeros", model.program.A.nonZeros()},
              {"cones", cones_text(model.program)}}},
            {"solver",
             {{"name", backend.name()},
              {"version", backend.version()},
              {"solved", answer.claimed.status == solvers::Status::Solved},
              {"status", std::string(to_string(answer.claimed.status))},
              {"text", answer.claimed.text},
              {"iterations", answer.claimed.iterations},
              {"seconds", number(answer.claimed.seconds)}}},
            {"broken", broken},
            {"objective", number(model.objective(found.primal_objective))},
            {"dual_objective", number(model.objective(found.dual_objective))},
            {"measured",
             {{"primal_residual", number(found.primal_residual)},
              {"dual_residual", number(found.dual_residual)},
              {"primal_cone", number(found.primal_cone)},
              {"dual_cone", number(found.dual_cone)},
              {"gap", number(found.gap)}}},
            {"primal", to_json(answer.x)},
            {"dual", to_json(model.multipliers(answer.y))}};
}

int run(const SolveArguments& arguments) {
    solvers::Settings settings = arguments.settings;
    solvers::validate(settings);
    const solvers::Backend* named = arguments.solver.empty() ? nullptr : &solvers::backend(arguments.solver);
    if (named) solvers::require_usable(*named);
    take_options(arguments, named, settings);
    const formats::CbfModel model = formats::read_cbf(arguments.file);
    std::optional<StoredSolution> stored;
    if (!arguments.solution.empty()) stored = read_solution(arguments.solution);
    std::optional<Output> file;
    if (!arguments.json.empty()) file.emplace(arguments.json);
    const conic::ConicProgram& program = model.program;
    std::ostringstream text;
    fmt::print(text, "instance   {} of {} variables, {} nonzeros; {}\n", model.maximise ? "max" : "min",
               program.columns(), program.A.nonZeros(), cones_text(program));

    const DefaultAnswer solved =
        named ? DefaultAnswer{named, solve_from_file(program, *named, settings)} : solve_by_default(program, settings);
    const solvers::Backend& backend = *solved.backend;
    const solvers::Solution& answer = solved.solution;
    const solvers::Measured& found = answer.measured;
    fmt::print(text, "solver     {} {}: {}, {} iterations, {:.1f} ms\n", backend.name(), backend.version(),
               answer.claimed.text, answer.claimed.iterations, 1e3 * answer.claimed.seconds);
    fmt::print(text, "objective  {:.17g}, dual {:.17g}\n", model.objective(found.primal_objective),
               model.objective(found.dual_objective));
    fmt::print(text, "measured   primal residual {:.1e}, dual residual {:.1e}, cones {:.1e} and {:.1e}, gap {:.1e}\n",
               found.primal_residual, found.dual_residual, found.primal_cone, found.dual_cone, found.gap);
    const std::string broken = broken_promise(program, answer, settings).value_or("");
    if (!broken.empty()) fmt::print(text, "NOT SOLVED: {}\n", broken);
    Json json = answer_json(arguments, model, backend, answer, broken);
    bool good = broken.empty();
    if (stored) {
        const KnownComparison known = [&] {
            try {
                return compare_with_known(model, answer, *stored);
            } catch (const InputError& error) {
                throw InputError(fmt::format("{}: {}", arguments.solution, error.what()));
            }
        }();
        print_comparison(text, known, *stored);
        json["known"] = comparison_json(known, *stored);
        good = good && known.consistent();
        fmt::print(text, "{}\n", known.consistent() ? "consistent with the known solution" : "NOT CONSISTENT");
    }
    if (arguments.json != "-") std::cout << text.str();
    if (file) {
        file->stream() << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
        file->commit();
    }
    return good ? kExitCertified : kExitFailed;
}

}  // namespace

Command add_solve(CLI::App& app) {
    auto arguments = std::make_shared<SolveArguments>();
    CLI::App* command = app.add_subcommand("solve", "Solve a CBF file, and compare with its known solution");
    command->add_option("FILE", arguments->file, "instance: .cbf or .cbf.gz")->required();
    command->add_option("--solver", arguments->solver,
                        "a solver, or A+B (default: as for certify, and others where that leaves doubt)");
    command->add_option("--solution", arguments->solution, "compare with this file (certicone-solution/1)");
    command->add_option("--eps", arguments->settings.eps_abs, "the solver's tolerance (default 1e-9)");
    command->add_option("--option", arguments->options,
                        "NAME=VALUE, an option of the solver's own; may be repeated (docs/solvers.md)");
    command->add_option("--json", arguments->json, "write certicone-solve/1 to this file, - for standard output");
    command->footer(
        "Example:\n"
        "  certicone export data/paper/exp3.network.json --output instances\n"
        "  certicone solve instances/exp3.value.0.cbf --solution instances/exp3.value.0.solution.json");
    return [arguments] {
        arguments->settings.eps_rel = arguments->settings.eps_abs;
        return run(*arguments);
    };
}

}  // namespace certicone::verify
