#include "verify/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <new>

#include "support/error.hpp"
#include "support/file.hpp"
#include "verify/commands.hpp"

namespace certicone::verify {

namespace {

int report_error(int code, std::string_view message) {
    std::cout.flush();
    std::cerr << "certicone: " << one_line(message, 1000) << '\n';
    return code;
}

bool is_command(const CLI::App& app, std::string_view name) {
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    return std::any_of(commands.begin(), commands.end(), [&](const CLI::App* c) { return c->get_name() == name; });
}

/// What is printed counts when it has arrived: a full disk behind standard output is an error of the run, whatever it found.
/// std::cout and fmt::print end in the same stdout, whose error flag stays.
int with_output_kept(int code) {
    if (code == kExitInput) return code;  // it was said why
    errno = 0;
    std::cout.flush();
    if (std::fflush(stdout) == 0 && std::cout && std::ferror(stdout) == 0) return code;
    return report_error(kExitInput, fmt::format("standard output: cannot write: {}",
                                                errno ? std::strerror(errno) : "it is incomplete"));
}

int run(int argc, const char* const* argv) {
    CLI::App app{"Certifies the dual geometry of SOC-ICNN networks against external conic solvers.", "certicone"};
    app.set_version_flag("--version", std::string("certicone ") + CERTICONE_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Exit codes: 0 all certified, 1 a check failed, 2 bad usage or input, 3 a solver is not available.\n"
        "certicone COMMAND --help shows an example of each.");
    const std::array commands{add_inspect(app),   add_readout(app), add_certify(app), add_compare(app),
                              add_reproduce(app), add_infer(app),   add_export(app),  add_solve(app),
                              add_check(app),     add_solvers(app)};
    try {
        if (argc > 1 && argv[1][0] != '-' && !is_command(app, argv[1]))
            throw InputError(fmt::format("there is no command '{}' (try certicone --help)", argv[1]));
        app.parse(argc, argv);
        const auto chosen = app.get_subcommands();
        for (std::size_t k = 0; k < commands.size(); ++k)
            if (app.get_subcommand(static_cast<int>(k)) == chosen.front()) return commands[k]();
        return report_error(kExitInput, "no command was given");
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
        return report_error(kExitInput, fmt::format("{} (try certicone --help)", error.what()));
    } catch (const InputError& error) {
        return report_error(kExitInput, error.what());
    } catch (const SolverUnavailable& error) {
        return report_error(kExitUnavailable, error.what());
    } catch (const std::bad_alloc&) {
        return report_error(kExitInput, "out of memory");
    } catch (const std::exception& error) {
        return report_error(kExitInput, error.what());
    }
}

}  // namespace

int run_command_line(int argc, const char* const* argv) { return with_output_kept(run(argc, argv)); }

}  // namespace certicone::verify
