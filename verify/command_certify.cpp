#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"
#include "verify/certificate.hpp"
#include "verify/certify.hpp"
#include "verify/check/check.hpp"
#include "verify/commands.hpp"
#include "verify/environment.hpp"
#include "verify/export_instance.hpp"
#include "verify/interrupt.hpp"
#include "verify/points_beside.hpp"
#include "verify/referee.hpp"
#include "verify/report_json.hpp"
#include "verify/report_junit.hpp"
#include "verify/report_markdown.hpp"
#include "verify/report_table.hpp"

namespace certicone::verify {

namespace {

struct CertifyArguments {
    std::vector<std::string> networks;
    std::string points, json, junit, markdown, certificate, level = "numeric", referee = "auto";
    Index sample = 0, degenerate = 0;
    bool strict = false;
    CertifyOptions options;
};

std::string progress_bar(const std::string& name, Index done, Index total) {
    constexpr Index width = 40;
    const auto filled = static_cast<std::size_t>(width * done / total);
    return fmt::format("\r{} [{}{}] {}/{} points", name, std::string(filled, '#'), std::string(width - filled, ' '),
                       done, total);
}

/// The points of `file`, or sampled ones where there is none; `header` learns where they come from.
Matrix points_of(const Network& network, const std::string& file, const CertifyArguments& arguments,
                 NetworkHeader& header) {
    if (!file.empty()) {
        const std::string bytes = read_points_bytes(file);
        header.points_from = file;
        header.points_sha256 = sha256(bytes);
        return parse_points(bytes, file, network.input_dim);
    }
    const Index count = arguments.sample > 0 ? arguments.sample : 100;
    Matrix points = sample_points(network.input_dim, count, arguments.options.seed);
    header.points_from = fmt::format("{} standard normal points, seed {}", count, arguments.options.seed);
    if (arguments.degenerate > 0) {
        const Matrix found = degenerate_points(network, arguments.degenerate, arguments.options.seed);
        points.conservativeResize(Eigen::NoChange, count + found.cols());
        points.rightCols(found.cols()) = found;
        header.points_from += fmt::format(", and {} exactly degenerate ones", found.cols());
    }
    header.points_sha256 = sha256(
        {reinterpret_cast<const char*>(points.data()), static_cast<std::size_t>(points.size()) * sizeof(double)});
    return points;
}

/// DIR/NAME.certificate.json.
std::filesystem::path certificate_path(const CertifyArguments& arguments, const std::string& network) {
    return std::filesystem::path(arguments.certificate) / (network_stem(network) + ".certificate.json");
}

/// Before any work: each network can be checked, each certificate has a name of its own, and what is there under that name
/// is a certificate of the same network, if anything. Nothing else is ever replaced.
void refuse_certificates_that_cannot_be(const CertifyArguments& arguments) {
    std::map<std::filesystem::path, std::string> networks;
    for (const std::string& network : arguments.networks) {
        const std::filesystem::path path = certificate_path(arguments, network);
        if (const auto [other, is_new] = networks.emplace(path, network); !is_new)
            fail_input(network,
                       fmt::format("its certificate and that of {} would both be {}: certify them into folders "
                                   "of their own",
                                   other->second, path.string()));
        const std::string bytes = read_network_bytes(network);
        parse_network(bytes, network);
        if (const std::string why = check::unfit(bytes); !why.empty())
            fail_input(network, "certificates cannot speak of it: " + why);
        std::error_code error;
        if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) continue;
        if (!file_begins_with(path, certificate_head(sha256(bytes))))
            fail_input(path.string(),
                       fmt::format("is there already and no certificate of {}: it is not replaced", network));
    }
}

/// A point at a time. It names the bytes of the network file.
class CertificateFile {
  public:
    CertificateFile(const CertifyArguments& arguments, const std::string& network, const std::string& hash)
        : file_(certificate_path(arguments, network)) {
        file_.stream() << certificate_begin(hash, arguments.options.bits);
    }
    void add(const PointReport& point) {
        if (point.certificate.empty()) return;
        if (!std::exchange(first_, false)) file_.stream() << ",\n";
        file_.stream() << point.certificate;
    }
    void commit() {
        file_.stream() << certificate_end;
        file_.commit();
    }

  private:
    AtomicFile file_;
    bool first_ = true;
};

Level level_of(const std::string& name) {
    for (const Level level : {Level::Numeric, Level::Rigorous, Level::Exact})
        if (name == to_string(level)) return level;
    throw InputError(fmt::format("--level {}: there are numeric, rigorous and exact", one_line(name, 40)));
}

using Reports = std::vector<std::unique_ptr<Report>>;

Summary certify_network(const std::string& path, const CertifyArguments& arguments, const Reports& reports) {
    const std::string bytes = read_network_bytes(path);
    const Network network = parse_network(bytes, path);
    NetworkHeader header;
    header.name = network.name;
    header.sha256 = sha256(bytes);
    header.environment = environment(arguments.options);
    header.environment.emplace_back("strict", arguments.strict ? "yes" : "no");
    std::string file = arguments.points;
    if (file.empty() && arguments.sample == 0 && arguments.degenerate == 0) file = points_beside(path);
    const Matrix points = points_of(network, file, arguments, header);

    CertifyOptions options = arguments.options;
    if (!options.dump.empty()) options.dump += "/" + file_stem(network.name);
    std::optional<CertificateFile> certificate;
    if (!arguments.certificate.empty()) certificate.emplace(arguments, path, header.sha256);
    const bool show = isatty(STDERR_FILENO) != 0;  // a progress bar on a terminal, none when redirected
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& report : reports)
        report->begin_network(header);
    Summary summary;
    try {
        certify(network, points, options, [&](PointReport point) {
            if (arguments.strict) fail_skipped(point);
            summary.add(point);
            if (certificate) certificate->add(point);
            for (const auto& report : reports)
                report->point(point);
            if (show) std::cerr << progress_bar(network.name, summary.points, points.cols()) << std::flush;
        });
    } catch (const InputError& error) {
        // Only what is wrong with a point is the file's fault.
        if (!std::string_view(error.what()).starts_with("point ")) throw;
        throw InputError(fmt::format("{}: {}", file.empty() ? path : file, error.what()));
    }
    if (show) std::cerr << "\r\033[K" << std::flush;
    if (certificate && interrupted() == 0) certificate->commit();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    for (const auto& report : reports)
        report->end_network(summary, time.count());
    return summary;
}

/// Colour on a terminal only, and not where NO_COLOR is set.
bool colour_wanted() {
    const char* no_colour = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) != 0 && (!no_colour || *no_colour == '\0');
}

/// The files that reports go to, each another one.
std::vector<std::string> report_files(const CertifyArguments& arguments) {
    std::vector<std::string> files;
    for (const std::string* file : {&arguments.json, &arguments.junit, &arguments.markdown}) {
        if (file->empty()) continue;
        if (std::find(files.begin(), files.end(), *file) != files.end())
            throw InputError(fmt::format("{}: two reports cannot go there", *file == "-" ? "standard output" : *file));
        files.push_back(*file);
    }
    return files;
}

int run(CertifyArguments arguments) {
    arguments.options.level = level_of(arguments.level);
    arguments.options.certificate = !arguments.certificate.empty();
    if (arguments.options.solvers == std::vector<std::string>{"none"}) arguments.options.solvers.clear();
    if (arguments.options.bits < 2 || arguments.options.bits > 65536)
        throw InputError("--bits must be from 2 to 65536");
    if (arguments.options.certificate && !std::filesystem::is_directory(arguments.certificate))
        throw InputError(fmt::format("--certificate {}: no such folder", arguments.certificate));
    if (arguments.options.tolerance > 0.0 && (arguments.options.certificate || arguments.options.level == Level::Exact))
        throw InputError("--tolerance makes zeros of what is none: nothing exact can be said with it");
    if (!arguments.points.empty() && arguments.sample > 0) throw InputError("--points and --sample exclude each other");
    if (arguments.sample < 0) throw InputError("--sample must be > 0");
    if (arguments.degenerate < 0) throw InputError("--degenerate must be >= 0");
    if (arguments.degenerate > 0 && !arguments.points.empty())
        throw InputError("--degenerate goes with --sample, not with --points");
    if (!arguments.json.empty() && arguments.networks.size() > 1)
        throw InputError("--json describes one network: certify them one at a time");
    if (arguments.options.threads < 0) throw InputError("--threads must be >= 0");
    if (!arguments.options.dump.empty() && !std::filesystem::is_directory(arguments.options.dump))
        throw InputError(fmt::format("--dump {}: no such folder", arguments.options.dump));
    if (!(arguments.options.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");

    const std::vector<std::string> files = report_files(arguments);
    if (arguments.options.certificate) refuse_certificates_that_cannot_be(arguments);
    arguments.options.referee = with_referee(arguments.referee);
    const InterruptGuard guard;
    Reports reports;
    std::vector<std::unique_ptr<Output>> outputs;
    const auto output = [&](const std::string& path) -> std::ostream& {
        return outputs.emplace_back(std::make_unique<Output>(path))->stream();
    };
    if (!arguments.json.empty()) reports.push_back(std::make_unique<JsonReport>(output(arguments.json)));
    if (!arguments.junit.empty()) reports.push_back(std::make_unique<JunitReport>(output(arguments.junit)));
    if (!arguments.markdown.empty()) reports.push_back(std::make_unique<MarkdownReport>(output(arguments.markdown)));
    if (std::find(files.begin(), files.end(), "-") == files.end())
        reports.push_back(std::make_unique<TableReport>(std::cout, colour_wanted()));

    Summary total;
    for (const std::string& path : arguments.networks)
        if (interrupted() == 0) total.add(certify_network(path, arguments, reports));
    for (const auto& report : reports)
        report->finish();
    for (const auto& file : outputs)
        file->commit();
    if (arguments.options.certificate && std::find(files.begin(), files.end(), "-") == files.end() &&
        interrupted() == 0)
        for (const std::string& network : arguments.networks)
            std::cout << "wrote " << certificate_path(arguments, network).string() << " of " << network << '\n';
    if (interrupted() != 0) {
        std::cerr << "certicone: interrupted; finished points are reported, the others are skipped\n";
        return 128 + interrupted();
    }
    return total.failed > 0 ? kExitFailed : kExitCertified;
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
    command->add_option("--degenerate", arguments->degenerate,
                        "with --sample: as many points more where units of the first layer vanish exactly");
    command->add_option("--seed", arguments->options.seed, "seed of --sample and of what the checks draw (default 0)");
    command
        ->add_option("--solver", arguments->options.solvers,
                     "solvers, separated by commas; A+B: A for what no cone touches, B for the modules "
                     "(default highs+clarabel, or scs where one of them is not there; none: closed forms alone)")
        ->delimiter(',');
    command->add_option("--referee", arguments->referee,
                        "mosek: MOSEK judges the closed-form pair of each point, without a licence; none; default: "
                        "mosek where its runtime is there");
    command->add_option("--level", arguments->level,
                        "numeric (default): bounds by rounding analysis; rigorous: also proved enclosures; exact: also "
                        "signs, zeros and equalities in exact arithmetic");
    command->add_option(
        "--certificate", arguments->certificate,
        "write NAME.certificate.json into this folder, for `certicone check`; replaces none of another network");
    command->add_option("--bits", arguments->options.bits,
                        "significant bits of square roots in enclosures and certificates (default 64)");
    command->add_option("--tolerance", arguments->options.tolerance,
                        "preactivations and residual norms up to this count as zero (default 0: decided exactly)");
    command->add_option("--eps", arguments->options.settings.eps_abs, "the solvers' tolerance (default 1e-9)");
    command->add_option("--dump", arguments->options.dump,
                        "write every program a solver is given to this folder, as Clarabel JSON");
    command->add_option("--threads", arguments->options.threads, "threads (default: all cores; same results for any)");
    command->add_option("--json", arguments->json, "write certicone-report/1 to this file, - for standard output");
    command->add_option("--junit", arguments->junit, "write JUnit XML to this file: a test case a check");
    command->add_option("--markdown", arguments->markdown, "write Markdown to this file: for a CI job summary");
    command->add_flag("--strict", arguments->strict, "a skipped check counts as failed");
    command->footer(
        "Example:\n"
        "  certicone certify data/paper/exp2.network.json --points data/paper/exp2.points.json --json -");
    return [arguments] {
        arguments->options.settings.eps_rel = arguments->options.settings.eps_abs;
        return run(*arguments);
    };
}

}  // namespace certicone::verify
