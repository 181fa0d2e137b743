#include <iostream>

#include "support/file.hpp"
#include "verify/check/check.hpp"
#include "verify/commands.hpp"

namespace certicone::verify {

Command add_check(CLI::App& app) {
    struct Arguments {
        std::string certificate, network;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("check", "Verify or refute every claim of a certificate, exactly");
    command->add_option("CERTIFICATE", arguments->certificate, "what `certicone certify --certificate` wrote")
        ->required();
    command->add_option("--network", arguments->network, "the network that it speaks of (JSON)")->required();
    command->footer("Example:\n  certicone check exp1.certificate.json --network data/paper/exp1.network.json");
    return [arguments] {
        const check::Verdict verdict = check::check(read_file(arguments->certificate), read_file(arguments->network));
        std::cout << one_line(check::text(verdict), 500) << '\n';
        return verdict.verified ? kExitCertified : kExitFailed;
    };
}

}  // namespace certicone::verify
