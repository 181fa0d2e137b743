#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "verify/commands.hpp"
#include "verify/parallel.hpp"
#include "verify/report.hpp"
#include "verify/reproduce_report.hpp"

namespace certicone::verify {

namespace {

struct ReproduceArguments {
    std::vector<std::string> experiments;
    std::string data = CERTICONE_PAPER_DIR, json;
};

int run(const ReproduceArguments& arguments) {
    std::optional<Output> json;
    if (!arguments.json.empty()) json.emplace(arguments.json);
    const InterruptGuard guard;
    std::vector<Experiment> experiments;
    for (const std::string& id : arguments.experiments) {
        std::optional<Experiment> experiment =
            unless_interrupted([id, data = arguments.data] { return reproduce(id, data); });
        if (!experiment) break;
        experiments.push_back(std::move(*experiment));
        if (arguments.json != "-") print(std::cout, experiments.back());
    }
    const FigureCounts total = count_figures(experiments);
    if (arguments.json != "-") print_total(std::cout, total);
    if (json) {
        json->stream() << to_json(experiments).dump(1) << '\n';
        json->commit();
    }
    if (interrupted() != 0) {
        std::cerr << fmt::format("certicone: interrupted; {} of {} experiments are reported\n", experiments.size(),
                                 arguments.experiments.size());
        return 128 + interrupted();
    }
    return total.differs > 0 ? kExitFailed : kExitCertified;
}

}  // namespace

Command add_reproduce(CLI::App& app) {
    auto arguments = std::make_shared<ReproduceArguments>();
    CLI::App* command =
        app.add_subcommand("reproduce", "The paper's experiments on its own draws, beside its printed figures");
    command->add_option("EXPERIMENT", arguments->experiments, "exp1, exp2, exp3, exp4 (default: all)")
        ->check(CLI::IsMember(std::vector<std::string>(kExperiments.begin(), kExperiments.end())));
    command->add_option("--data", arguments->data, "folder of the draws (default: data/paper of the source tree)");
    command->add_option("--json", arguments->json,
                        "write certicone-reproduction/1 to this file, - for standard output");
    command->footer(
        "Exit code 1: a figure differs for a reason that is not known.\n"
        "Example:\n"
        "  certicone reproduce exp3 exp4 --json -");
    return [arguments] {
        if (arguments->experiments.empty()) arguments->experiments.assign(kExperiments.begin(), kExperiments.end());
        return run(*arguments);
    };
}

}  // namespace certicone::verify
