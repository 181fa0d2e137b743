#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>

#include "geometry/rounding.hpp"
#include "inference/queries.hpp"
#include "network/network_io.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"
#include "verify/certificate.hpp"
#include "verify/check/check.hpp"
#include "verify/commands.hpp"
#include "verify/infer.hpp"
#include "verify/parallel.hpp"
#include "verify/report.hpp"
#include "verify/report_json.hpp"

namespace certicone::verify {

namespace {

struct InferArguments {
    std::string network, queries, method = "white-box", solver = "clarabel", json, certificate;
    std::optional<double> beta, gap;
    Index threads = 0;
    bool kinks = false;
};

void print(std::ostream& out, const Network& network, Index index, const InferenceAnswer& answer, Closed done,
           bool kinks) {
    const WhiteBoxResult& result = answer.result;
    if (result.infeasible) {
        fmt::print(out, "{:>5}  no x within {:.3g} of y keeps to the constraints{}\n", index, result.infeasible->radius,
                   answer.claim.empty() ? "" : " (" + answer.claim + ")");
        return;
    }
    const InferenceCertificate& proof = result.certificate;
    fmt::print(out, "{:>5}  {:>24.17g}  {:>8.1e}  {:>8.1e}  {:>5}  {:>10}  {:>9.3f}{}\n", index, proof.value, proof.gap,
               proof.relative_gap(), result.kinks.size() + result.zero_modules.size() + result.active.size(),
               result.iterations, answer.milliseconds,
               done == Closed::open          ? "  NOT closed"
               : done == Closed::to_rounding ? "  closed to rounding"
               : proof.rest.size() > 0       ? "  at x + x_rest"
                                             : "");
    if (!kinks) return;
    for (const auto& [layer, unit] : result.kinks)
        fmt::print(out, "       unit {} of layer {}: nu = {:.6g} in [0, {:.6g}]\n", unit, layer,
                   proof.xi.nu[static_cast<std::size_t>(layer)](unit),
                   upper_bound(network, proof.xi.nu, static_cast<std::size_t>(layer))(unit));
    for (const Index g : result.zero_modules)
        fmt::print(out, "       conic module {}: |r| = {:.6g}, at most {:.6g}\n", g,
                   proof.xi.r[static_cast<std::size_t>(g)].norm(), network.conic[static_cast<std::size_t>(g)].lambda);
    for (const Index i : result.active)
        fmt::print(out, "       constraint {}: mu = {:.6g}\n", i, proof.mu(i));
}

/// `answer` is none where an interrupt came first.
Json entry(const Vector& y, const std::optional<InferenceAnswer>& found) {
    Json json{{"y", to_json(y)}};
    if (!found) {
        json["skipped"] = "interrupted";
        return json;
    }
    const InferenceAnswer& answer = *found;
    const WhiteBoxResult& result = answer.result;
    if (result.infeasible) {
        json["infeasible"] = {{"mu", to_json(result.infeasible->mu)}, {"radius", number(result.infeasible->radius)}};
        return json;
    }
    const InferenceCertificate& proof = result.certificate;
    json["x"] = to_json(proof.x);
    if (proof.rest.size() > 0) json["x_rest"] = to_json(proof.rest);
    json["value"] = number(proof.value);
    json["lower_bound"] = number(proof.lower_bound);
    json["gap"] = number(proof.gap);
    json["xi"] = {{"nu", to_json(proof.xi.nu)}, {"p", to_json(proof.xi.p)}, {"r", to_json(proof.xi.r)}};
    Json kinks = Json::array();
    for (const auto& [layer, unit] : result.kinks)
        kinks.push_back({layer, unit});
    json["kinks"] = std::move(kinks);
    json["iterations"] = result.iterations;
    json["milliseconds"] = answer.milliseconds;
    if (!result.zero_modules.empty()) json["zero_modules"] = result.zero_modules;
    if (proof.mu.size() > 0) {
        json["mu"] = to_json(proof.mu);
        json["active"] = result.active;
        json["violation"] = number(proof.violation);
    }
    return json;
}

using Answers = std::vector<std::optional<InferenceAnswer>>;

void write_json(std::ostream& out, const Matrix& queries, const Answers& answers) {
    out << "{\"format\":\"certicone-inference/1\",\"queries\":[";
    for (std::size_t j = 0; j < answers.size(); ++j)
        out << (j > 0 ? ",\n" : "\n") << entry(queries.col(static_cast<Index>(j)), answers[j]).dump();
    out << "\n]}\n";
}

/// Whether there are claims for this problem, and for this network.
void refuse_certificate_that_cannot_be(const InferArguments& arguments, const InferenceProblem& problem,
                                       const std::string& network) {
    const Index d0 = problem.network->input_dim;
    if (problem.C.rows() > 0 || !problem.q.isZero(0.0) ||
        problem.Q != Matrix(problem.Q(0, 0) * Matrix::Identity(d0, d0)) || !(problem.Q(0, 0) > 0.0))
        throw InputError("--certificate: there are claims for beta/2 |x - y|^2 without constraints only");
    if (const std::string why = check::unfit(network); !why.empty())
        fail_input(arguments.network, "certificates cannot speak of it: " + why);
}

/// For `certicone check`: of each query the claim that F's minimum is within a gap of F(x), in exact arithmetic.
std::string certificate_of(const std::string& network_sha256, const InferenceQueries& queries, const Answers& answers) {
    constexpr slong bits = 64;
    const Network& network = *queries.problem.network;
    const double beta = queries.problem.Q(0, 0);
    std::vector<std::string> points;
    for (std::size_t j = 0; j < answers.size(); ++j) {
        const InferenceCertificate& proof = answers[j]->result.certificate;
        const std::array claims{inference_claim(exact_point(network, proof.x),
                                                queries.queries.col(static_cast<Index>(j)), beta,
                                                repair_exactly(network, proof.xi), bits)};
        points.push_back(certificate_point(proof.x, claims));
    }
    return certificate(network_sha256, bits, points);
}

/// The network and its queries. The threads that answer them share it: after an interrupt they may go on when everybody
/// else has left.
struct InferenceWork {
    std::string bytes;
    Network network;
    std::optional<InferenceQueries> queries;  ///< they point to the network
    InferArguments arguments;
};

std::shared_ptr<const InferenceWork> read_work(const InferArguments& arguments) {
    auto work = std::make_shared<InferenceWork>();
    work->arguments = arguments;
    work->bytes = read_network_bytes(arguments.network);
    work->network = parse_network(work->bytes, arguments.network);
    work->queries = read_queries(arguments.queries, work->network, arguments.beta);
    return work;
}

/// In order; none from where an interrupt came.
Answers answer_all(const std::shared_ptr<const InferenceWork>& work, double asked,
                   const std::function<void(Index, const InferenceAnswer&)>& show) {
    const InferArguments& arguments = work->arguments;
    const Index count = work->queries->queries.cols();
    Answers answers;
    const auto take = [&](std::optional<InferenceAnswer> answer) {
        if (answer) show(static_cast<Index>(answers.size()), *answer);
        answers.push_back(std::move(answer));
    };
    const auto none = [](Index) { return std::optional<InferenceAnswer>(); };
    const auto named = [work](Index j, const auto& solve) {
        try {
            return solve();
        } catch (const InputError& error) {
            throw InputError(fmt::format("{}: query {}: {}", work->arguments.queries, j, error.what()));
        }
    };
    if (arguments.method == "white-box") {
        in_order<std::optional<InferenceAnswer>>(
            count, 8, arguments.threads,
            [work, named, asked](Index begin, Index end, const auto& give) {
                for (Index j = begin; j < end; ++j)
                    give(named(j, [&] { return white_box(work->queries->at(j), {.enough = asked}); }));
            },
            take, none);
        return answers;
    }
    const solvers::Backend& backend = solvers::backend(arguments.solver);
    in_order<std::optional<InferenceAnswer>>(
        count, std::max<Index>(1, count), 1,  // one set-up serves all
        [work, named, &backend](Index begin, Index end, const auto& give) {
            solvers::Settings settings;
            settings.eps_abs = settings.eps_rel = 1e-10;
            SocpInference socp(work->queries->problem, backend, settings);
            for (Index j = begin; j < end; ++j)
                give(named(j, [&] { return socp.solve(work->queries->queries.col(j)); }));
        },
        take, none);
    return answers;
}

int run(const InferArguments& arguments) {
    if (arguments.gap && !(*arguments.gap > 0.0)) throw InputError("--gap must be > 0");
    const double asked = arguments.gap.value_or(arguments.method == "socp" ? 1e-8 : 1e-10);
    if (arguments.threads < 0) throw InputError("--threads must be >= 0");
    const solvers::Backend& backend = solvers::backend(arguments.solver);
    if (arguments.method == "socp") solvers::require_usable(backend);
    if (!arguments.certificate.empty() && arguments.certificate == arguments.json)
        fail_input(arguments.json, "--json and --certificate cannot both go there");
    const InterruptGuard guard;
    const auto work = unless_interrupted([arguments] { return read_work(arguments); });
    if (!work) {
        std::cerr << "certicone: interrupted before the first query; there is nothing to report\n";
        return 128 + interrupted();
    }
    const std::string& bytes = (*work)->bytes;
    const Network& network = (*work)->network;
    const InferenceQueries& queries = *(*work)->queries;
    if (!arguments.certificate.empty()) refuse_certificate_that_cannot_be(arguments, queries.problem, bytes);
    if (arguments.method == "socp")
        solvers::require_support(backend, conic::InferenceProgram(queries.problem).program());
    std::optional<Output> json, claims;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    if (!arguments.certificate.empty()) claims.emplace(arguments.certificate);
    const bool table = arguments.json != "-" && arguments.certificate != "-";
    if (table)
        fmt::print("{:>5}  {:>24}  {:>8}  {:>8}  {:>5}  {:>10}  {:>9}\n", "query", "F(x)", "gap", "relative", "kinks",
                   "iterations", "ms");
    Index open = 0, to_rounding = 0, infeasible = 0;
    double worst = 0.0, smallest = 0.0, milliseconds = 0.0;
    const Answers answers = answer_all(*work, asked, [&](Index j, const auto& answer) {
        const InferenceCertificate& proof = answer.result.certificate;
        const Closed done = answer.result.infeasible ? Closed::open : closed(queries.at(j), proof, asked);
        if (table) print(std::cout, network, j, answer, done, arguments.kinks);
        milliseconds += answer.milliseconds;
        if (answer.result.infeasible) {
            ++infeasible;
        } else if (done == Closed::to_rounding) {
            ++to_rounding;
            smallest = std::max(smallest, proof.gap);
        } else {
            worst = std::max(worst, proof.relative_gap());
            if (done == Closed::open) ++open;
        }
    });
    const auto count = std::count_if(answers.begin(), answers.end(), [](const auto& a) { return a.has_value(); });
    const auto unanswered = static_cast<std::ptrdiff_t>(answers.size()) - count;
    if (table) {
        if (unanswered > 0) fmt::print("interrupted: {} of {} queries were answered\n", count, answers.size());
        fmt::print("{} queries, {} proved to a relative gap of {:.0e} or better", count,
                   count - open - to_rounding - infeasible, asked);
        if (to_rounding > 0)
            fmt::print(", {} with a minimum that is zero but for rounding to a gap of {:.1e}", to_rounding, smallest);
        if (infeasible > 0) fmt::print(", {} infeasible", infeasible);
        fmt::print("; largest gap {:.1e}; {:.3f} ms a query ({})\n", worst,
                   milliseconds / static_cast<double>(std::max<Index>(1, count)),
                   arguments.method == "socp" ? "socp, " + arguments.solver : arguments.method);
    }
    if (json) {
        write_json(json->stream(), queries.queries, answers);
        json->commit();
    }
    if (claims && unanswered == 0) {
        claims->stream() << certificate_of(sha256(bytes), queries, answers);
        claims->commit();
    }
    if (open > 0)
        fmt::print(std::cerr, "certicone: {} of {} queries not closed to {:.0e}: best gap of the worst is {:.1e}\n",
                   open, count, asked, worst);
    if (infeasible > 0)
        fmt::print(std::cerr, "certicone: {} of {} queries have constraints that no x keeps to\n", infeasible, count);
    if (interrupted() != 0) {
        std::cerr << "certicone: interrupted; answered queries are reported, the others are skipped\n";
        return 128 + interrupted();
    }
    return open + infeasible > 0 ? kExitFailed : kExitCertified;
}

}  // namespace

Command add_infer(CLI::App& app) {
    auto arguments = std::make_shared<InferArguments>();
    CLI::App* command = app.add_subcommand(
        "infer", "The minimiser of f(x) + Phi(x; y) for each query y, with a proof of its optimality");
    command->add_option("NETWORK", arguments->network, "network file: JSON (soc-icnn/1) or safetensors")->required();
    command
        ->add_option("--queries", arguments->queries,
                     "queries with beta or Q, and constraints: JSON; or points as CSV or .npy with --beta")
        ->required();
    command->add_option("--beta", arguments->beta, "Phi(x; y) = beta/2 |x - y|^2; goes before the file's");
    command->add_option("--method", arguments->method, "white-box (default) or socp")
        ->check(CLI::IsMember({"white-box", "socp"}));
    command->add_option("--solver", arguments->solver, "backend of the method socp (default clarabel)");
    command->add_option("--gap", arguments->gap,
                        "relative gap that must be proved (default 1e-10 by white-box, 1e-8 by socp)");
    command->add_flag("--kinks", arguments->kinks, "list the kinks at x with their multipliers");
    command->add_option("--threads", arguments->threads, "white-box: threads (default: all cores)");
    command->add_option("--certificate", arguments->certificate,
                        "write the claims of optimality to this file, for `certicone check`");
    command->add_option("--json", arguments->json, "write certicone-inference/1 to this file, - for standard output");
    command->footer(
        "Exit code 1: a query is not closed to the gap asked for (relative to |F|; where F is zero but for rounding, "
        "to that\n"
        "rounding), or its constraints cannot be met.\n"
        "Example:\n"
        "  certicone infer data/paper/exp4.network.json --queries data/paper/exp4.queries.json --kinks");
    return [arguments] { return run(*arguments); };
}

}  // namespace certicone::verify
