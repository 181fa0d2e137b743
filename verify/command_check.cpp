#include <iostream>

#include "network/json_tree.hpp"
#include "network/network_io.hpp"
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
    command->add_option("--network", arguments->network, "the network that it speaks of: JSON or safetensors")
        ->required();
    command->footer("Example:\n  certicone check exp1.certificate.json --network data/paper/exp1.network.json");
    return [arguments] {
        const check::Verdict verdict = check::check(
            read_file(arguments->certificate,
                      [&](std::string_view beginning, auto) { refuse_binary(beginning, arguments->certificate); }),
            read_network_bytes(arguments->network));
        if (!verdict.certificate) fail_input(arguments->certificate, "is a network, expected a certificate");
        std::cout << one_line(check::text(verdict), 500) << '\n';
        return verdict.verified ? kExitCertified : kExitFailed;
    };
}

}  // namespace certicone::verify
