#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>

#include "solvers/mosek_runtime.hpp"
#include "solvers/solver.hpp"
#include "verify/commands.hpp"

namespace certicone::verify {

namespace {

int list_solvers() {
    std::ostream& out = std::cout;
    for (const solvers::Backend* backend : solvers::backends()) {
        const solvers::Readiness available = backend->available(), enabled = backend->enabled();
        fmt::print(out, "{} {}\n", backend->name(), backend->version());
        fmt::print(out, "  available  {}{}\n", available.ready ? "yes: " : "no: ", available.reason);
        if (!available.ready) continue;
        fmt::print(out, "  enabled    {}{}\n", enabled.ready ? "yes" : "no: ", enabled.ready ? "" : enabled.reason);
        const solvers::Capabilities can = backend->capabilities();
        std::vector<std::string_view> cones, features;
        for (const conic::Cone cone : can.cones)
            cones.push_back(to_string(cone));
        if (can.quadratic_objective) features.push_back("quadratic objective");
        if (can.updates_b) features.push_back("update of b");
        if (can.updates_c) features.push_back("update of c");
        if (can.warm_start) features.push_back("warm start");
        fmt::print(out, "  cones      {}\n  features   {}\n", fmt::join(cones, ", "), fmt::join(features, ", "));
    }
    const solvers::Readiness referee = solvers::mosek::runtime();
    fmt::print(out, "referee mosek {}\n  available  {}{}\n", solvers::mosek::runtime_version(),
               referee.ready ? "yes: judges pairs and reads files, without a licence" : "no: ",
               referee.ready ? "" : referee.reason);
    return kExitCertified;
}

}  // namespace

Command add_solvers(CLI::App& app) {
    CLI::App* command = app.add_subcommand("solvers", "Which solvers are built in and usable, and what they can do");
    command->footer("Example:\n  certicone solvers");
    return list_solvers;
}

}  // namespace certicone::verify
