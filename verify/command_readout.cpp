#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>
#include <optional>

#include "geometry/branch.hpp"
#include "geometry/max_readout.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "verify/commands.hpp"
#include "verify/parallel.hpp"
#include "verify/report.hpp"
#include "verify/report_json.hpp"

namespace certicone::verify {

namespace {

struct ReadoutArguments {
    std::string network, points, directions, json;
    bool hessian = false;
    double tolerance = 0.0;
};

PointReadout read_out(const Network& network, const Curvature& curvature, const Vector& x, const Matrix& directions,
                      const ReadoutArguments& arguments) {
    PointReadout readout_;
    readout_.state = evaluate(network, x, arguments.tolerance);
    readout_.xi = canonical_selector(network, readout_.state);
    readout_.gradient = readout(network, readout_.xi);
    if (readout_.state.pattern.nondegenerate()) {
        readout_.branch_radius = curvature.branch_radius(readout_.state).radius();
        if (arguments.hessian) readout_.hessian = curvature.hessian(readout_.state);
    }
    for (Index k = 0; k < directions.cols(); ++k)
        readout_.directional.push_back(directional_derivative(network, readout_.state, directions.col(k)));
    return readout_;
}

void print(std::ostream& out, Index index, const PointReadout& point) {
    fmt::print(out, "point {}\n  value          {}\n  gradient       [{}]\n", index, point.state.value,
               fmt::join(point.gradient, ", "));
    const auto units = point.state.pattern.degenerate_units();
    const auto modules = point.state.pattern.degenerate_modules();
    if (units.empty() && modules.empty()) {
        fmt::print(out, "  degenerate     no\n");
        fmt::print(out, "  branch radius  {}\n", *point.branch_radius);
    } else {
        fmt::print(out, "  degenerate     ");
        for (const auto& [layer, unit] : units)
            fmt::print(out, "unit {} of layer {}; ", unit, layer);
        for (const Index module : modules)
            fmt::print(out, "conic module {}; ", module);
        fmt::print(out, "the gradient shown is the canonical subgradient\n");
    }
    if (point.hessian) {
        fmt::print(out, "  smallest eigenvalue of the Hessian  {}\n", smallest_eigenvalue(*point.hessian));
        for (Index i = 0; i < point.hessian->rows(); ++i)
            fmt::print(out, "  {} [{}]\n", i == 0 ? "hessian" : "       ",
                       fmt::join(Vector(point.hessian->row(i)), ", "));
    }
    if (!point.directional.empty()) fmt::print(out, "  directional    [{}]\n", fmt::join(point.directional, ", "));
}

/// What a readout needs. Its thread owns it: after an interrupt it may go on when everybody else has left.
struct ReadoutWork {
    ReadoutArguments arguments;
    Network network;
    Matrix points, directions;
    std::optional<Curvature> curvature;  ///< of the network

    PointReadout at(Index j) const {
        try {
            return read_out(network, *curvature, points.col(j), directions, arguments);
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: point {}: {}", arguments.points, j, error.what()));
        }
    }
};

std::shared_ptr<const ReadoutWork> read_work(const ReadoutArguments& arguments) {
    auto work = std::make_shared<ReadoutWork>();
    work->arguments = arguments;
    work->network = read_network(arguments.network);
    const Index dim = work->network.input_dim;
    work->points = read_points(arguments.points, dim);
    work->directions =
        arguments.directions.empty() ? Matrix(dim, 0) : read_points(arguments.directions, dim, PointKind::directions);
    work->curvature.emplace(work->network);
    return work;
}

int run(const ReadoutArguments& arguments) {
    if (!(arguments.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");
    const InterruptGuard guard;
    std::optional<Output> json;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    const auto work = unless_interrupted([arguments] { return read_work(arguments); });
    if (!work) {
        std::cerr << "certicone: interrupted before the first point; there is nothing to report\n";
        return 128 + interrupted();
    }
    const Matrix& points = (*work)->points;
    Index next = 0;
    if (json) json->stream() << "{\"format\":\"certicone-readout/1\",\"points\":[";
    in_order<std::optional<PointReadout>>(
        points.cols(), 1, 1, [work = *work](Index j, Index, const auto& give) { give(work->at(j)); },
        [&](const std::optional<PointReadout>& found) {
            const Index j = next++;
            if (json)
                json->stream() << (j > 0 ? ",\n" : "\n")
                               << (found ? to_json(*found)
                                         : Json{{"x", to_json(Vector(points.col(j)))}, {"skipped", "interrupted"}})
                                      .dump();
            if (arguments.json != "-" && found) print(std::cout, j, *found);
        },
        [](Index) { return std::optional<PointReadout>(); });
    if (json) {
        json->stream() << "\n]}\n";
        json->commit();
    }
    if (interrupted() != 0) {
        std::cerr << "certicone: interrupted; finished points are reported, the others are skipped\n";
        return 128 + interrupted();
    }
    return kExitCertified;
}

}  // namespace

Command add_readout(CLI::App& app) {
    auto arguments = std::make_shared<ReadoutArguments>();
    CLI::App* command =
        app.add_subcommand("readout", "Value, multipliers, gradient, Hessian and directional derivatives at points");
    command->add_option("NETWORK", arguments->network, "network file: JSON (soc-icnn/1) or safetensors")->required();
    command->add_option("--points", arguments->points, "points: JSON, CSV or .npy")->required();
    command->add_option("--directions", arguments->directions, "directions for f'(x;d): JSON, CSV or .npy");
    command->add_flag("--hessian", arguments->hessian, "the Hessian too, where x is nondegenerate");
    command->add_option("--tolerance", arguments->tolerance,
                        "preactivations and residual norms up to this count as zero (default 0: decided exactly)");
    command->add_option("--json", arguments->json, "write certicone-readout/1 to this file, - for standard output");
    command->footer(
        "Example:\n"
        "  certicone readout data/paper/exp3.network.json --points data/paper/exp3.points.json --json -");
    return [arguments] { return run(*arguments); };
}

}  // namespace certicone::verify
