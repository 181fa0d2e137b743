#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"
#include "verify/certify.hpp"
#include "verify/commands.hpp"
#include "verify/interrupt.hpp"
#include "verify/report_json.hpp"
#include "verify/report_table.hpp"

namespace certicone::verify {

namespace {

struct CertifyArguments {
    std::vector<std::string> networks;
    std::string points, json, level = "numeric";
    Index sample = 0;
    std::uint64_t seed = 0;
    CertifyOptions options;
};

/// "dir/exp1.network.json" → "dir/exp1.points.json" or "dir/exp1.queries.json" where one is there.
std::string points_beside(const std::string& network) {
    namespace fs = std::filesystem;
    const fs::path path(network);
    std::string stem = path.stem().string();
    if (stem.ends_with(".network")) stem.resize(stem.size() - std::string_view(".network").size());
    for (const char* ending : {".points.json", ".points.csv", ".points.npy", ".queries.json"}) {
        const fs::path candidate = path.parent_path() / (stem + ending);
        std::error_code ignored;
        if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
    return {};
}

std::string progress_bar(const std::string& name, Index done, Index total) {
    constexpr Index width = 40;
    const auto filled = static_cast<std::size_t>(width * done / total);
    return fmt::format("\r{} [{}{}] {}/{} points", name, std::string(filled, '#'), std::string(width - filled, ' '),
                       done, total);
}

NetworkReport certify_network(const std::string& path, const CertifyArguments& arguments) {
    const std::string bytes = read_file(path);
    const Network network = parse_network(bytes, path);
    NetworkReport report;
    report.name = network.name;
    report.sha256 = sha256(bytes);
    report.environment = environment();

    Matrix points;
    std::string file = arguments.points;
    if (file.empty() && arguments.sample == 0) file = points_beside(path);
    if (!file.empty()) {
        points = read_points(file, network.input_dim);
        report.points_from = file;
        report.environment.emplace_back("points", file);
    } else {
        const Index count = arguments.sample > 0 ? arguments.sample : 100;
        points = sample_points(network.input_dim, count, arguments.seed);
        report.points_from = fmt::format("{} standard normal points, seed {}", count, arguments.seed);
        report.environment.emplace_back("points", report.points_from);
        report.environment.emplace_back("seed", std::to_string(arguments.seed));
    }

    CertifyOptions options = arguments.options;
    if (!options.dump.empty()) options.dump += "/" + network.name;
    const bool show = isatty(STDERR_FILENO) != 0;  // a progress bar on a terminal, none when redirected
    const auto begin = std::chrono::steady_clock::now();
    try {
        report.points = certify(network, points, options, [&](Index done) {
            if (show) std::cerr << progress_bar(report.name, done, points.cols()) << std::flush;
        });
    } catch (const InputError& error) {
        // Only what is wrong with a point is the file's fault.
        if (!std::string_view(error.what()).starts_with("point ")) throw;
        throw InputError(fmt::format("{}: {}", file.empty() ? path : file, error.what()));
    }
    if (show) std::cerr << "\r\033[K" << std::flush;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return report;
}

int run(const CertifyArguments& arguments) {
    if (arguments.level != "numeric")
        throw InputError(fmt::format("--level {}: this version has the level numeric only", arguments.level));
    if (!arguments.points.empty() && arguments.sample > 0) throw InputError("--points and --sample exclude each other");
    if (arguments.sample < 0) throw InputError("--sample must be > 0");
    if (!arguments.json.empty() && arguments.networks.size() > 1)
        throw InputError("--json describes one network: certify them one at a time");
    if (arguments.options.threads < 0) throw InputError("--threads must be >= 0");
    if (!arguments.options.dump.empty() && !std::filesystem::is_directory(arguments.options.dump))
        throw InputError(fmt::format("--dump {}: no such folder", arguments.options.dump));
    if (!(arguments.options.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");

    std::vector<NetworkReport> reports;
    const InterruptGuard guard;
    for (const std::string& path : arguments.networks)
        if (interrupted() == 0) reports.push_back(certify_network(path, arguments));
    Index failures = 0;
    for (const NetworkReport& report : reports)
        failures += report.summary().failed;
    if (arguments.json == "-")
        write_json(std::cout, reports.front());
    else
        write_table(std::cout, reports);
    if (!arguments.json.empty() && arguments.json != "-")
        write_file_atomically(arguments.json, [&](std::ostream& out) { write_json(out, reports.front()); });
    if (interrupted() != 0) {
        std::cerr << "certicone: interrupted; finished points are reported, the others are skipped\n";
        return 128 + interrupted();
    }
    return failures > 0 ? kExitFailed : kExitCertified;
}

}  // namespace

Command add_certify(CLI::App& app) {
    auto arguments = std::make_shared<CertifyArguments>();
    CLI::App* command = app.add_subcommand("certify", "Check the paper's theorems at points, against solvers");
    command->add_option("NETWORK", arguments->networks, "network files: JSON (soc-icnn/1) or safetensors")->required();
    command->add_option("--points", arguments->points,
                        "points: JSON, CSV or .npy (default: NAME.points.json or NAME.queries.json beside "
                        "NAME.network.json, else --sample 100)");
    command->add_option("--sample", arguments->sample, "certify at this many standard normal points instead");
    command->add_option("--seed", arguments->seed, "seed of --sample (default 0)");
    command->add_option("--solver", arguments->options.solvers, "solvers, separated by commas (default scs)")
        ->delimiter(',');
    command->add_option("--level", arguments->level, "numeric");
    command->add_option("--tolerance", arguments->options.tolerance,
                        "preactivations and residual norms up to this count as zero (default 0: decided exactly)");
    command->add_option("--eps", arguments->options.settings.eps_abs, "the solvers' tolerance (default 1e-9)");
    command->add_option("--dump", arguments->options.dump,
                        "write every program a solver is given to this folder, as Clarabel JSON");
    command->add_option("--threads", arguments->options.threads, "threads (default: all cores; same results for any)");
    command->add_option("--json", arguments->json, "write certicone-report/1 to this file, - for standard output");
    command->footer(
        "Example:\n"
        "  certicone certify data/paper/exp2.network.json --points data/paper/exp2.points.json --json -");
    return [arguments] {
        arguments->options.settings.eps_rel = arguments->options.settings.eps_abs;
        return run(*arguments);
    };
}

}  // namespace certicone::verify
