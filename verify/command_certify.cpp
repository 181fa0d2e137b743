#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
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
#include "verify/parallel.hpp"
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
    std::optional<Index> sample;
    Index degenerate = 0;
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
    const Index count = arguments.sample.value_or(100);
    Matrix points = sample_points(network.input_dim, count, arguments.options.seed);
    header.points_from = fmt::format("{} standard normal points, seed {}", count, arguments.options.seed);
    if (arguments.degenerate > 0) {
        const Matrix found = degenerate_points(network, arguments.degenerate, arguments.options.seed);
        points.conservativeResize(Eigen::NoChange, count + found.cols());
        points.rightCols(found.cols()) = found;
        if (count > 0)
            header.points_from += fmt::format(", and {} exactly degenerate ones", found.cols());
        else
            header.points_from =
                fmt::format("{} exactly degenerate points, seed {}", found.cols(), arguments.options.seed);
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

/// A network read, with its points.
struct Prepared {
    std::string bytes, points_file;  ///< the second empty where points were sampled
    NetworkHeader header;
    std::shared_ptr<const Certification> work;
};

Prepared prepare(const std::string& path, const CertifyArguments& arguments) {
    Prepared prepared;
    prepared.bytes = read_network_bytes(path);
    Certification work{parse_network(prepared.bytes, path), {}, arguments.options, {}};
    NetworkHeader& header = prepared.header;
    header.name = work.network.name;
    header.sha256 = sha256(prepared.bytes);
    header.environment = environment(arguments.options);
    header.environment.emplace_back("strict", arguments.strict ? "yes" : "no");
    prepared.points_file = arguments.points;
    if (prepared.points_file.empty() && !arguments.sample && arguments.degenerate == 0)
        prepared.points_file = points_beside(path);
    work.points = points_of(work.network, prepared.points_file, arguments, header);
    if (!work.options.dump.empty()) work.options.dump += "/" + file_stem(work.network.name);
    prepared.work = std::make_shared<const Certification>(std::move(work));
    return prepared;
}

/// None where an interrupt came before its first point. `names` are those that reports have already.
std::optional<Summary> certify_network(const std::string& path, const CertifyArguments& arguments,
                                       const Reports& reports, std::set<std::string>& names) {
    std::optional<Prepared> prepared = unless_interrupted([path, arguments] { return prepare(path, arguments); });
    if (!prepared) return std::nullopt;
    NetworkHeader& header = prepared->header;
    while (!names.insert(header.name).second)  // two networks of one name are told apart
        header.name += fmt::format(" ({})", path);
    const Network& network = prepared->work->network;
    const Index points = prepared->work->points.cols();
    const std::string& file = prepared->points_file;
    std::optional<CertificateFile> certificate;
    if (!arguments.certificate.empty()) certificate.emplace(arguments, path, header.sha256);
    const bool show = isatty(STDERR_FILENO) != 0;  // a progress bar on a terminal, none when redirected
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& report : reports)
        report->begin_network(header);
    Summary summary;
    try {
        certify(prepared->work, [&](PointReport point) {
            if (arguments.strict) fail_skipped(point);
            summary.add(point);
            if (certificate) certificate->add(point);
            for (const auto& report : reports)
                report->point(point);
            if (show) std::cerr << progress_bar(network.name, summary.points, points) << std::flush;
        });
    } catch (const PointError& error) {
        throw InputError(fmt::format("{}: {}", file.empty() ? path : file, error.what()));
    }
    if (show) std::cerr << "\r\033[K" << std::flush;
    if (certificate && summary.examined == summary.points) certificate->commit();
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

void refuse_repetitions(const std::vector<std::string>& networks) {
    std::set<std::filesystem::path> seen;
    for (const std::string& network : networks) {
        std::error_code unreadable;  // it will be said when it is read
        std::filesystem::path path = std::filesystem::weakly_canonical(network, unreadable);
        if (!unreadable && !seen.insert(std::move(path)).second) fail_input(network, "is given twice");
    }
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
    if (!arguments.points.empty() && arguments.sample) throw InputError("--points and --sample exclude each other");
    if (arguments.sample && *arguments.sample < 0) throw InputError("--sample must be >= 0");
    if (arguments.sample && *arguments.sample == 0 && arguments.degenerate == 0)
        throw InputError("--sample 0 leaves no point to certify at (it goes with --degenerate)");
    if (arguments.degenerate < 0) throw InputError("--degenerate must be >= 0");
    if (arguments.degenerate > 0 && !arguments.points.empty())
        throw InputError("--degenerate goes with --sample, not with --points");
    if (!arguments.json.empty() && arguments.networks.size() > 1)
        throw InputError("--json describes one network: certify them one at a time");
    if (arguments.options.threads < 0) throw InputError("--threads must be >= 0");
    if (!arguments.options.dump.empty() && !std::filesystem::is_directory(arguments.options.dump))
        throw InputError(fmt::format("--dump {}: no such folder", arguments.options.dump));
    if (!(arguments.options.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");
    if (arguments.options.accuracy && !(*arguments.options.accuracy > 0.0)) throw InputError("--accuracy must be > 0");
    refuse_repetitions(arguments.networks);

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
    std::set<std::string> names;
    Index not_begun = static_cast<Index>(arguments.networks.size());
    for (const std::string& path : arguments.networks) {
        const std::optional<Summary> summary = certify_network(path, arguments, reports, names);
        if (!summary) break;
        total.add(*summary);
        --not_begun;
    }
    if (names.empty()) {
        std::cerr << "certicone: interrupted before the first point; there is nothing to report\n";
        return 128 + interrupted();
    }
    for (const auto& report : reports)
        report->finish(not_begun);
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
    command->add_option("--sample", arguments->sample,
                        "certify at this many standard normal points instead (0: only those of --degenerate)");
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
    command->add_option(
        "--accuracy", arguments->options.accuracy,
        "what is certified less accurately has failed: the largest bounds of f, nu, p, r, gradient, Hessian "
        "and directional derivatives, relative to their scales (default: f to 1e-4, the others free)");
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
