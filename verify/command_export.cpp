#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "inference/queries.hpp"
#include "network/json_tree.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/draws.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/sha256.hpp"
#include "verify/commands.hpp"
#include "verify/export_instance.hpp"
#include "verify/library.hpp"
#include "verify/points_beside.hpp"

namespace certicone::verify {

namespace {

struct ExportArguments {
    std::string network, points, directions, output, library, compress = "auto";
    std::vector<std::string> programs{"value"}, formats{"cbf"};
    std::optional<double> beta;
    double tolerance = 0.0;
    std::uint64_t seed = 0;
};

/// The words of `given`, or all of them for "all"; each once, in the order of `known`.
template <class Words>
std::vector<std::string> choose(const std::vector<std::string>& given, const Words& known, std::string_view option) {
    for (const std::string& word : given)
        if (word != "all" && std::find(std::begin(known), std::end(known), word) == std::end(known))
            throw InputError(
                fmt::format("{} {}: expected {} or all", option, one_line(word, 40), fmt::join(known, ", ")));
    std::vector<std::string> chosen;
    for (const std::string_view word : known)
        if (std::any_of(given.begin(), given.end(), [&](const auto& w) { return w == "all" || w == word; }))
            chosen.emplace_back(word);
    return chosen;
}

ExportOptions options_of(const ExportArguments& arguments, const std::string& folder) {
    ExportOptions options{folder, choose(arguments.formats, export_formats, "--format")};
    if (arguments.compress == "always") options.gzip_above = 0;
    if (arguments.compress == "never") options.gzip_above = std::string().max_size();
    if (arguments.compress != "auto" && arguments.compress != "always" && arguments.compress != "never")
        throw InputError(fmt::format("--gzip {}: it is auto, always or never", arguments.compress));
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!std::filesystem::is_directory(folder, error))
        throw InputError(fmt::format("{}: cannot be made a folder", folder));
    return options;
}

/// Φ and constraints as the queries file has them; β as given, and 1 where neither says it.
InferenceQueries queries_of(const ExportArguments& arguments, const std::string& bytes, const Network& network) {
    std::optional<double> beta = arguments.beta;
    const std::size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    bool complete = false;
    if (!beta && bytes[first] == '{') {
        const JsonValue tree = parse_json(bytes, arguments.points);
        const JsonPlace root(tree, arguments.points);
        const auto own = root.find("beta");
        complete = root.find("queries") && (own || root.find("Q"));
        if (own && !complete) beta = own->number();
    }
    return parse_queries(bytes, arguments.points, network, beta || complete ? beta : 1.0);
}

/// What a solution file says of the problem of one query.
Json origin_of(const InferenceProblem& problem, Json origin) {
    const Index d0 = problem.network->input_dim;
    const auto rows = [](const Matrix& matrix) {
        Json list = Json::array();
        for (Index i = 0; i < matrix.rows(); ++i)
            list.push_back(to_json(Vector(matrix.row(i))));
        return list;
    };
    if (problem.Q == Matrix(problem.Q(0, 0) * Matrix::Identity(d0, d0)))
        origin["beta"] = number(problem.Q(0, 0));
    else
        origin["Q"] = rows(problem.Q);
    if (!problem.q.isZero(0.0)) origin["q"] = to_json(problem.q);
    if (problem.C.rows() > 0) {
        origin["C"] = rows(problem.C);
        origin["h"] = to_json(problem.h);
    }
    return origin;
}

int run_library(const ExportArguments& arguments) {
    if (!arguments.network.empty() || !arguments.output.empty())
        throw InputError("--library takes neither a network nor --output");
    const ExportOptions options = options_of(arguments, arguments.library);
    const Index count = export_library(options, arguments.seed);
    fmt::print(std::cout, "{}: {} instances, index.json and index.md\n", arguments.library, count);
    return kExitCertified;
}

int run(ExportArguments arguments) {
    if (!arguments.library.empty()) return run_library(arguments);
    if (arguments.network.empty()) throw InputError("a network is needed (or --library DIR)");
    if (arguments.output.empty()) throw InputError("--output is needed: the folder to write to");
    if (arguments.points.empty()) arguments.points = points_beside(arguments.network);
    if (arguments.points.empty()) throw InputError("--points is needed: there is no points file beside the network");
    if (!(arguments.tolerance >= 0.0)) throw InputError("--tolerance must be >= 0");
    const std::vector<std::string> programs = choose(arguments.programs, export_programs, "--program");
    const std::string bytes = read_network_bytes(arguments.network), point_bytes = read_points_bytes(arguments.points);
    const Network network = parse_network(bytes, arguments.network);
    const Matrix points = parse_points(point_bytes, arguments.points, network.input_dim);
    Matrix directions;
    if (!arguments.directions.empty())
        directions = read_points(arguments.directions, network.input_dim, PointKind::directions);
    InferenceQueries queries;
    if (std::find(programs.begin(), programs.end(), "inference") != programs.end())
        queries = queries_of(arguments, point_bytes, network);
    const ExportOptions options = options_of(arguments, arguments.output);
    const std::string stem = file_stem(network.name);

    Index count = 0;
    const auto write = [&](const std::string& name, const std::string& program, const KnownProgram& known,
                           Json origin) {
        const ExportedInstance written = export_instance(name, program, known, origin, options);
        fmt::print(std::cout, "{:<32} {:>7} columns {:>7} rows {:>8} nonzeros  optimal value {:.17g}  dual {}\n", name,
                   written.columns, written.rows, written.nonzeros, known.known.objective,
                   !known.known.dual_unique   ? "by white-box inference"
                   : *known.known.dual_unique ? "unique"
                                              : fmt::format("a set of dimension {}", known.known.dual_dimension));
        ++count;
    };
    for (Index j = 0; j < points.cols(); ++j) {
        const Vector x = points.col(j);
        const auto origin = [&](const char* key) -> Json {
            return {{"network", network.name}, {"sha256", sha256(bytes)}, {"index", j}, {key, to_json(x)}};
        };
        const auto at_point = [&](const auto& compute) {
            try {
                return compute();
            } catch (const InputError& error) {
                throw InputError(fmt::format("{}: point {}: {}", arguments.points, j, error.what()));
            }
        };
        const LocalState state = at_point([&] { return evaluate(network, x, arguments.tolerance); });
        for (const std::string& program : programs) {
            const std::string name = fmt::format("{}.{}.{}", stem, program, j);
            if (program == "value") write(name, program, known_value(network, state), origin("x"));
            if (program == "relu") write(name, program, known_value(network, state, true), origin("x"));
            if (program == "dual") write(name, program, known_dual(network, state), origin("x"));
            if (program == "min-norm") write(name, program, known_min_norm(network, state), origin("x"));
            if (program == "inference") {
                const InferenceProblem problem = queries.at(j);
                write(name, program, at_point([&] { return known_inference(problem); }),
                      origin_of(problem, origin("query")));
            }
            if (program != "max-readout") continue;
            // Without --directions one a point, drawn from the seed.
            Generator random(arguments.seed + static_cast<std::uint64_t>(j));
            const Matrix drawn = directions.cols() > 0 ? directions : Matrix(draw_direction(network.input_dim, random));
            for (Index k = 0; k < drawn.cols(); ++k) {
                Json from = origin("x");
                from["direction"] = to_json(Vector(drawn.col(k)));
                write(drawn.cols() > 1 ? fmt::format("{}.{}", name, k) : name, program,
                      known_max_readout(network, state, drawn.col(k)), from);
            }
        }
    }
    fmt::print(std::cout, "{} instances in {}\n", count, arguments.output);
    return kExitCertified;
}

}  // namespace

Command add_export(CLI::App& app) {
    auto arguments = std::make_shared<ExportArguments>();
    CLI::App* command =
        app.add_subcommand("export", "Write SOCP instances with their known duals in other solvers' formats");
    command->add_option("NETWORK", arguments->network, "network file: JSON (soc-icnn/1) or safetensors");
    command->add_option("--points", arguments->points,
                        "points (queries for inference): JSON, CSV or .npy (default: as for certify)");
    command
        ->add_option("--program", arguments->programs,
                     "value (default), dual, relu, max-readout, min-norm, inference or all, separated by commas")
        ->delimiter(',');
    command
        ->add_option("--format", arguments->formats,
                     "cbf (default), ptf, mof, clarabel, scs or all, separated by commas")
        ->delimiter(',');
    command->add_option(
        "--output", arguments->output,
        "the folder to write to, made where it is not there; replaces earlier exports of the same instance alone");
    command->add_option("--directions", arguments->directions,
                        "directions for max-readout: JSON, CSV or .npy (default: one a point, drawn from --seed)");
    command->add_option("--beta", arguments->beta,
                        "for inference: beta/2 |x - y|^2 (default: beta or Q of the queries file, else 1)");
    command->add_option("--tolerance", arguments->tolerance,
                        "preactivations and residual norms up to this count as zero (default 0: decided exactly)");
    command->add_option("--gzip", arguments->compress,
                        "auto (default: CBF, PTF and MOF files above 1 MiB become .gz), always or never");
    command->add_option("--library", arguments->library,
                        "write the library instead: instances of graded difficulty, with an index");
    command->add_option("--seed", arguments->seed, "of drawn directions and of the library (default 0)");
    command->footer(
        "Example:\n"
        "  certicone export data/paper/exp3.network.json --program value,dual --format all --output instances\n"
        "  certicone export --library library --seed 1");
    return [arguments] { return run(*arguments); };
}

}  // namespace certicone::verify
