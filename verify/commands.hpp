// The subcommands of `certicone`. Each adds itself to the parser and returns its exit code when run:
// 0 all certified, 1 a check failed, 2 bad usage or input, 3 a solver that was asked for is not available.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace certicone::verify {

inline constexpr int kExitCertified = 0, kExitFailed = 1, kExitInput = 2, kExitUnavailable = 3;

using Command = std::function<int()>;

Command add_inspect(CLI::App& app);
Command add_readout(CLI::App& app);
Command add_certify(CLI::App& app);
Command add_compare(CLI::App& app);
Command add_reproduce(CLI::App& app);
Command add_infer(CLI::App& app);
Command add_check(CLI::App& app);
Command add_export(CLI::App& app);
Command add_solve(CLI::App& app);
Command add_solvers(CLI::App& app);

}  // namespace certicone::verify
