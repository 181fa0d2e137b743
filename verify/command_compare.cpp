#include <fmt/ostream.h>

#include <iostream>
#include <optional>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"
#include "verify/commands.hpp"
#include "verify/compare.hpp"
#include "verify/parallel.hpp"
#include "verify/referee.hpp"
#include "verify/report.hpp"
#include "verify/report_json.hpp"

namespace certicone::verify {

namespace {

struct CompareArguments {
    std::string network, points, json, referee = "auto";
    CertifyOptions options;
};

void print(std::ostream& out, const PointComparison& point) {
    fmt::print(out, "point {}  f = {:.17g}", point.index, point.value);
    if (!point.degenerate_units.empty() || !point.degenerate_modules.empty())
        fmt::print(out, "  degenerate: {} units, {} conic residuals", point.degenerate_units.size(),
                   point.degenerate_modules.size());
    fmt::print(out, "\n");
    for (const SolverComparison& solver : point.solvers) {
        fmt::print(out, "  {}: {}, {} iterations, {:.2f} ms, value off by {:.1e}, gap {:.1e}\n", solver.solver,
                   solver.claimed.text, solver.claimed.iterations, 1e3 * solver.claimed.seconds, solver.value_error,
                   solver.gap);
        if (!solver.broken.empty()) fmt::print(out, "    NOT as asked: {}\n", solver.broken);
        fmt::print(out, "    {:<8} {:>7} {:>13} {:>11} {:>20} {:>9}\n", "block", "entries", "|closed form|", "distance",
                   "bound from its gap", "gap");
        for (const BlockComparison& block : solver.blocks) {
            fmt::print(out, "    {:<8} {:>7} {:>13.3e} {:>11.1e} {:>2} {:>17.1e} {:>9.1e}", block.block, block.entries,
                       block.size, block.distance, block.within() ? "<=" : ">", block.bound, block.gap);
            if (block.set_valued > 0) fmt::print(out, "   {} set-valued: membership", block.set_valued);
            fmt::print(out, "\n");
        }
        if (!solver.owners.empty()) {
            fmt::print(out, "    gap owned by");
            for (std::size_t k = 0; k < solver.owners.size(); ++k)
                fmt::print(out, "{} {} ({:.0f} %)", k > 0 ? "," : "", solver.owners[k].name,
                           100.0 * solver.owners[k].gap / solver.gap);
            fmt::print(out, "\n");
        }
        if (solver.element != "unique") fmt::print(out, "    element of D*(x): {}\n", solver.element);
        if (solver.referee >= 0.0)
            fmt::print(out, "    MOSEK's judgement of the pair: {:.1e} relative ({})\n", solver.referee,
                       solver.referee_where);
    }
}

Json to_json(const PointComparison& point) {
    Json list = Json::array();
    for (const SolverComparison& solver : point.solvers) {
        Json blocks = Json::array(), owners = Json::array();
        for (const BlockComparison& block : solver.blocks)
            blocks.push_back({{"block", block.block},
                              {"entries", block.entries},
                              {"set_valued", block.set_valued},
                              {"closed_form_norm", number(block.size)},
                              {"distance", number(block.distance)},
                              {"bound", number(block.bound)},
                              {"gap", number(block.gap)}});
        for (const GapOwner& owner : solver.owners)
            owners.push_back({{"name", owner.name}, {"gap", number(owner.gap)}});
        Json entry = {{"solver", solver.solver},
                      {"status", solver.claimed.text},
                      {"iterations", solver.claimed.iterations},
                      {"consistent", solver.consistent()},
                      {"broken", solver.broken},
                      {"value_error", number(solver.value_error)},
                      {"gap", number(solver.gap)},
                      {"blocks", std::move(blocks)},
                      {"gap_owners", std::move(owners)},
                      {"element", solver.element}};
        entry["referee"] = solver.referee >= 0.0
                               ? Json{{"figure", number(solver.referee)}, {"where", solver.referee_where}}
                               : Json(nullptr);
        list.push_back(std::move(entry));
    }
    return {{"index", point.index},
            {"x", verify::to_json(point.x)},
            {"value", number(point.value)},
            {"degenerate", degenerate(point.degenerate_units, point.degenerate_modules)},
            {"solvers", std::move(list)}};
}

/// What a comparison needs. Its thread owns it: after an interrupt it may go on when everybody else has left.
struct CompareWork {
    CertifyOptions options;
    std::string sha256;
    Network network;
    Matrix points;
};

std::shared_ptr<const CompareWork> read_work(const CompareArguments& arguments, const CertifyOptions& options) {
    auto work = std::make_shared<CompareWork>();
    work->options = options;
    const std::string bytes = read_network_bytes(arguments.network);
    work->sha256 = sha256(bytes);
    work->network = parse_network(bytes, arguments.network);
    work->points = read_points(arguments.points, work->network.input_dim);
    return work;
}

int run(const CompareArguments& arguments) {
    if (!(arguments.options.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");
    CertifyOptions options = arguments.options;
    options.referee = with_referee(arguments.referee);
    require_usable(options);
    const InterruptGuard guard;
    std::optional<Output> json;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    const auto work = unless_interrupted([=] { return read_work(arguments, options); });
    if (!work) {
        std::cerr << "certicone: interrupted before the first point; there is nothing to report\n";
        return 128 + interrupted();
    }
    const Matrix& points = (*work)->points;
    if (json) {
        const Json head = {{"format", "certicone-comparison/1"},
                           {"network", {{"name", (*work)->network.name}, {"sha256", (*work)->sha256}}}};
        std::string text = head.dump();
        text.pop_back();  // the points follow in the same object, one a line
        json->stream() << text << ",\"points\":[";
    }
    Index inconsistent = 0, compared = 0, next = 0, finished = 0;
    const auto take = [&](const std::optional<PointComparison>& point) {
        const Index j = next++;
        if (json)
            json->stream() << (j > 0 ? ",\n" : "\n")
                           << (point ? to_json(*point)
                                     : Json{{"index", j},
                                            {"x", verify::to_json(Vector(points.col(j)))},
                                            {"skipped", "interrupted"}})
                                  .dump();
        if (!point) return;
        ++finished;
        for (const SolverComparison& solver : point->solvers) {
            ++compared;
            if (!solver.consistent()) ++inconsistent;
        }
        if (arguments.json != "-") print(std::cout, *point);
    };
    try {
        in_order<std::optional<PointComparison>>(
            points.cols(), std::max<Index>(1, points.cols()), 1,  // each solve starts from the last
            [work = *work](Index begin, Index end, const auto& give) {
                Comparer comparer(work->network, work->options);
                for (Index j = begin; j < end; ++j)
                    give(comparer.compare(j, work->points.col(j)));
            },
            take, [](Index) { return std::optional<PointComparison>(); });
    } catch (const PointError& error) {
        throw InputError(fmt::format("{}: {}", arguments.points, error.what()));
    }
    if (json) {
        json->stream() << "\n]}\n";
        json->commit();
    }
    if (arguments.json != "-") {
        if (finished < points.cols())
            fmt::print(std::cout, "interrupted: {} of {} points were compared\n", finished, points.cols());
        fmt::print(std::cout,
                   "{}: {} answers at {} points, {} further from the closed form than their own gap allows\n",
                   inconsistent > 0           ? "NOT CONSISTENT"
                   : finished < points.cols() ? "interrupted"
                                              : "consistent",
                   compared, finished, inconsistent);
    }
    if (interrupted() != 0) {
        std::cerr << "certicone: interrupted; finished points are reported, the others are skipped\n";
        return 128 + interrupted();
    }
    return inconsistent > 0 ? kExitFailed : kExitCertified;
}

}  // namespace

Command add_compare(CLI::App& app) {
    auto arguments = std::make_shared<CompareArguments>();
    arguments->options.solvers.clear();
    CLI::App* command = app.add_subcommand(
        "compare", "Solvers' multipliers beside the closed form, block by block, with what their gap allows");
    command->add_option("NETWORK", arguments->network, "network file: JSON (soc-icnn/1) or safetensors")->required();
    command->add_option("--points", arguments->points, "points: JSON, CSV or .npy")->required();
    command->add_option("--solver", arguments->options.solvers, "solvers, separated by commas; A+B: see certify")
        ->delimiter(',')
        ->required();
    command->add_option("--referee", arguments->referee,
                        "mosek: MOSEK judges every answer, without a licence; none; default: mosek where it is there");
    command->add_option("--tolerance", arguments->options.tolerance,
                        "preactivations and residual norms up to this count as zero (default 0: decided exactly)");
    command->add_option("--eps", arguments->options.settings.eps_abs, "the solvers' tolerance (default 1e-9)");
    command->add_option("--json", arguments->json, "write certicone-comparison/1 to this file, - for standard output");
    command->footer(
        "Example:\n"
        "  certicone compare data/paper/exp3.network.json --points data/paper/exp3.points.json --solver scs,clarabel");
    return [arguments] {
        arguments->options.settings.eps_rel = arguments->options.settings.eps_abs;
        return run(*arguments);
    };
}

}  // namespace certicone::verify
