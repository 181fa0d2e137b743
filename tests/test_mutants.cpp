// Checks that are known to fail when they should: every mutant of tests/mutants.cpp is caught by the checks it names, and
// with the right functions nothing fails on the same networks and points.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "mutants.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "skip.hpp"
#include "verify/examiner.hpp"

using namespace certicone;
using namespace certicone::test;
using namespace certicone::verify;

namespace {

/// The ids of the JSON contract.
constexpr const char* kContract[] = {
    "theorem1.strong_duality",
    "theorem1.support",
    "theorem1.slope",
    "lemma1.complementarity",
    "corollary1.min_norm",
    "proposition1.membership",
    "proposition1.factorisation",
    "proposition1.nonuniqueness_sources",
    "theorem2.subgradient",
    "theorem2.directional",
    "theorem2.subdifferential",
    "theorem2.decomposition",
    "proposition2.uniqueness",
    "proposition2.gradient",
    "proposition3.closed_graph",
    "theorem3.branch",
    "theorem3.decomposition",
    "theorem3.gradient",
    "theorem3.hessian",
    "theorem3.psd",
};

struct Site {
    std::string name;
    Network network;
    Matrix points;
    std::vector<Index> chosen;
};

/// Small networks first: most mutants do not get past them.
const std::vector<Site>& sites() {
    static const std::vector<Site> all = [] {
        const std::tuple<std::string, std::string, std::vector<Index>> files[] = {
            {"suite/one_unit", ".points", {0, 1, 2}},
            {"suite/vanishing_residuals", ".points", {0, 4, 5}},
            {"suite/many_zeros", ".points", {0, 1, 4}},
            {"suite/deep_degenerate", ".points", {0, 2, 3}},
            {"suite/near_degenerate", ".points", {1, 3}},
            {"suite/alpha_range", ".points", {0, 3}},
            {"paper/exp3", ".points", {0}},
            {"paper/exp2", ".points", {0, 1}},
            {"paper/exp4", ".queries", {0}},
            {"suite/realistic", ".points", {0, 2}},
        };
        std::vector<Site> result;
        for (const auto& [file, points, chosen] : files) {
            const std::string path = fmt::format("{}/{}", CERTICONE_DATA_DIR, file);
            Network network = read_network(path + ".network.json");
            Matrix columns = read_points(path + points + ".json", network.input_dim);
            REQUIRE(chosen.back() < columns.cols());
            result.push_back({file.substr(6), std::move(network), std::move(columns), chosen});
        }
        return result;
    }();
    return all;
}

struct Catch {
    Finding finding;
    const Site* site;
    Index point;
};

/// Every check that fails, with its first failure; ends where `enough` says so.
std::map<std::string, Catch> failures(const Mutant& mutant, auto&& enough) {
    std::map<std::string, Catch> caught;
    CertifyOptions options;
    options.solvers = {std::string(kSolver)};
    options.referee = true;
    if (mutant.solver) options.find_backend = [&](std::string_view) { return mutant.solver.get(); };
    for (const Site& site : sites()) {
        Subject subject;
        if (mutant.change) mutant.change(site.network, subject);
        Examiner examiner(site.network, options, subject);
        for (const Index point : site.chosen) {
            for (const Finding& finding : examiner.examine(point, site.points.col(point)).findings)
                if (finding.outcome == Outcome::Failed) caught.try_emplace(finding.id, Catch{finding, &site, point});
            if (enough(caught)) return caught;
        }
    }
    return caught;
}

void print(const std::string& name, const Catch& caught) {
    const Finding& finding = caught.finding;
    const std::string figures = std::isnan(finding.figure) && std::isnan(finding.bound)
                                    ? finding.reason
                                    : fmt::format("{:.2e} > {:.2e}", finding.figure, finding.bound);
    fmt::print("{:<58} {:<34} {:<29} {:>19} {:<2} {}\n", name, finding.id, finding.solver, caught.site->name,
               caught.point, figures);
}

}  // namespace

TEST_CASE("with the right functions and solvers nothing fails where the mutants are caught") {
    if (!usable(kSolver) || !referee_usable()) return;
    for (const auto& [id, caught] : failures({"none", {}}, [](const auto&) { return false; })) {
        print("none", caught);
        FAIL_CHECK(id << " fails");
    }
}

TEST_CASE("every mutant is caught by the checks it names, and every check of the contract catches one") {
    if (!usable(kSolver) || !referee_usable()) return;
    const std::vector<Mutant> all = mutants();
    CHECK(all.size() == 122);  // what README.md says
    std::set<std::string> names, catching;
    fmt::print("{} mutants\n{:<58} {:<34} {:<29} {:>19} {:<2} {}\n", all.size(), "mutant", "caught by", "solver",
               "network", "at", "figure > bound");
    for (const Mutant& mutant : all) {
        CAPTURE(mutant.name);
        CHECK(names.insert(mutant.name).second);
        CHECK_FALSE(mutant.ids.empty());
        const auto caught = failures(mutant, [&](const auto& found) {
            return std::all_of(mutant.ids.begin(), mutant.ids.end(),
                               [&](const std::string& id) { return found.contains(id); });
        });
        for (const std::string& id : mutant.ids) {
            CAPTURE(id);
            const auto found = caught.find(id);
            CHECK(found != caught.end());
            if (found == caught.end()) continue;
            print(mutant.name, found->second);
            catching.insert(id);
        }
    }
    CHECK(catching == std::set<std::string>(std::begin(kContract), std::end(kContract)));
}
