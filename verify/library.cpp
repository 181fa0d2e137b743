#include "verify/library.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "geometry/freedom.hpp"
#include "support/draws.hpp"
#include "support/dyadic.hpp"
#include "support/file.hpp"

namespace certicone::verify {

namespace {

struct Recipe {
    std::string family, name, program = "value";
    Index nonzeros = 1000;  ///< of the value function, about
    Index zero_units = 0;
    Index zero_modules = 0;  ///< conic modules with u = 0
    Index module_rows = 4;   ///< of each conic module with u = 0
    int growth = 0;          ///< U of the second layer times 10^growth
    double nearness = 0.0;   ///< a of one unit, where it is not 0
    std::string parameter;   ///< what is graded
};

std::vector<Recipe> recipes() {
    std::vector<Recipe> list;
    const auto add = [&](Recipe recipe) { list.push_back(std::move(recipe)); };
    const auto text = [](auto value) { return fmt::format("{}", value); };
    for (const Index size : {10, 30, 100, 300, 1'000, 3'000, 10'000, 30'000, 100'000})
        add({"nondegenerate", fmt::format("nondegenerate-{}", size), "value", size, 0, 0, 4, 0, 0.0, text(size)});
    for (const Index k : {1, 2, 4, 8, 16, 32, 64})
        add({"degenerate-units", fmt::format("degenerate-units-{}", k), "value", 3'000, k, 0, 4, 0, 0.0, text(k)});
    for (const Index g : {1, 2, 3, 4, 5, 6})
        add({"vanishing-residuals", fmt::format("vanishing-residuals-{}", g), "value", 1'000, 0, g, 4, 0, 0.0,
             text(g)});
    for (int k = 1; k <= 8; ++k)
        add({"growth", fmt::format("growth-1e{}", k), "value", 1'000, 0, 0, 4, k, 0.0, fmt::format("1e{}", k)});
    for (int k = 3; k <= 12; ++k)
        add({"nearly-degenerate", fmt::format("nearly-degenerate-1e-{:02}", k), "value", 1'000, 0, 0, 4, 0,
             std::pow(10.0, -k), fmt::format("1e-{}", k)});
    // Dimension = units + rows of one module.
    for (const auto& [units, rows] :
         {std::pair<Index, Index>{1, 0}, {0, 2}, {3, 0}, {2, 3}, {3, 5}, {8, 5}, {13, 8}, {24, 10}, {45, 10}, {80, 20}})
        add({"dual-dimension", fmt::format("dual-dimension-{}", units + rows), "value", 3'000, units, rows > 0 ? 1 : 0,
             rows, 0, 0.0, text(units + rows)});
    for (const Index size : {100, 1'000, 10'000})
        for (const char* program : {"dual", "relu", "max-readout", "min-norm"}) {
            const bool over_set = std::string_view(program).starts_with("m");
            const Index zeros = over_set ? size / 100 + 2 : 0;
            add({"programs", fmt::format("{}-{}", program, size), program, size, zeros, over_set ? 1 : 0, 4, 0, 0.0,
                 fmt::format("{} of {}", program, size)});
        }
    for (const Index size : {100, 1'000})
        add({"programs", fmt::format("inference-{}", size), "inference", size, 0, 0, 4, 0, 0.0,
             fmt::format("inference of {}", size)});
    return list;
}

double dyadic(double value, double unit) { return std::round(value / unit) * unit; }

Matrix draw_matrix(Index rows, Index columns, double scale, Generator& random) {
    return Matrix::NullaryExpr(rows, columns, [&] { return dyadic(scale * draw_normal(random), 0x1p-6); });
}

Vector draw_vector(Index size, double scale, double unit, Generator& random) {
    return Vector::NullaryExpr(size, [&] { return dyadic(scale * draw_normal(random), unit); });
}

struct Subject {
    Network network;
    Vector x;
};

/// `count` units, dealt over the layers in turn, each another one.
std::set<std::pair<std::size_t, Index>> choose_units(const Network& network, Index count, Generator& random) {
    std::set<std::pair<std::size_t, Index>> chosen;
    for (std::size_t turn = 0; static_cast<Index>(chosen.size()) < std::min(count, total_units(network)); ++turn) {
        const std::size_t l = turn % network.layers.size();
        chosen.emplace(l, static_cast<Index>(random() % static_cast<std::uint64_t>(network.layers[l].units())));
    }
    return chosen;
}

/// Weights are multiples of 2⁻⁶, x of 2⁻⁴; b of a unit that is to vanish (or nearly) is what its preactivation lacks.
Subject build(const Recipe& recipe, Generator& random) {
    Subject subject;
    Network& network = subject.network;
    network.name = recipe.name;
    network.input_dim = recipe.nonzeros < 100 ? 2 : 8;
    const Index depth = recipe.nonzeros < 50 ? 1 : 3;
    const Index others = recipe.nonzeros < 50 ? 4 : 40;  // what the modules take
    // 2 entries a unit and, above the first layer, width² more each.
    const double room = static_cast<double>(std::max<Index>(recipe.nonzeros - others, 4));
    const auto width =
        static_cast<Index>(std::ceil(depth == 1 ? room / 2.0 : (std::sqrt(9.0 + 2.0 * room) - 3.0) / 2.0));
    subject.x = draw_vector(network.input_dim, 1.0, 0x1p-4, random);
    for (Index l = 0; l < depth; ++l) {
        Layer layer;
        layer.W = draw_matrix(width, network.input_dim, 0.5, random);
        layer.b = draw_vector(width, 0.5, 0x1p-6, random);
        if (l > 0) {
            layer.U =
                Matrix::NullaryExpr(width, width, [&] { return (1.0 + static_cast<double>(random() % 8)) * 0x1p-6; });
            if (l == 1) layer.U *= std::pow(10.0, recipe.growth);
        }
        network.layers.push_back(std::move(layer));
    }
    network.c = Vector::NullaryExpr(width, [&] { return (1.0 + static_cast<double>(random() % 16)) * 0x1p-4; });
    network.v = draw_vector(network.input_dim, 0.5, 0x1p-6, random);
    network.b0 = 0.25;
    const Index rows = recipe.nonzeros < 50 ? 1 : 4;
    if (recipe.nonzeros >= 30)
        network.quadratic.push_back(
            {1.5, draw_matrix(rows, network.input_dim, 0.5, random), draw_vector(rows, 0.5, 0x1p-6, random)});
    const auto add_conic = [&](Index count, bool vanishes) {
        Conic module{0.75, draw_matrix(count, network.input_dim, 0.5, random), draw_vector(count, 0.5, 0x1p-6, random)};
        if (vanishes) module.d = -(module.A * subject.x);
        network.conic.push_back(std::move(module));
    };
    add_conic(rows, false);
    for (Index g = 0; g < recipe.zero_modules; ++g)
        add_conic(recipe.module_rows, true);

    // Units that vanish, from the first layer on: what is below is settled then. Others stay 1/8 away from zero.
    const auto vanishing = choose_units(network, recipe.nearness > 0.0 ? 1 : recipe.zero_units, random);
    Vector z;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Layer& layer = network.layers[l];
        Vector a = layer.W * subject.x + layer.b;
        if (l > 0) a += layer.U * z;
        for (Index i = 0; i < a.size(); ++i) {
            const bool chosen = vanishing.contains({l, i});
            double target = a(i);
            if (chosen)
                target = recipe.nearness;
            else if (std::abs(target) < 0.125)
                target = target < 0.0 ? -0.125 : 0.125;
            else
                continue;
            layer.b(i) = layer.b(i) - a(i) + target;
        }
        a = layer.W * subject.x + layer.b;
        if (l > 0) a += layer.U * z;
        z = a.cwiseMax(0.0);
    }
    return subject;
}

/// f(x), or its ReLU block, rounded once.
double exact_value(Network network, const Vector& x, bool relu_only) {
    if (relu_only) {
        network.quadratic.clear();
        network.conic.clear();
    }
    const VectorOf<Dyadic> point = x.cast<Dyadic>();
    const Trace<Dyadic> trace = forward(network, point);
    Dyadic sum = rational_value(network, point, trace);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        Dyadic squares;
        for (const Dyadic& entry : trace.u[g])
            squares += entry * entry;
        sum += Dyadic(network.conic[g].lambda) * squares.root(256);
    }
    return sum.to_double();
}

KnownProgram known_program(const Recipe& recipe, const Subject& subject, const LocalState& state, Generator& random) {
    const Network& network = subject.network;
    if (recipe.program == "dual") return known_dual(network, state);
    if (recipe.program == "max-readout")
        return known_max_readout(network, state, draw_vector(network.input_dim, 1.0, 0x1p-4, random));
    if (recipe.program == "min-norm") return known_min_norm(network, state);
    if (recipe.program == "inference") return known_inference(network, 1.0, subject.x);
    return known_value(network, state, recipe.program == "relu");
}

double smallest_preactivation(const LocalState& state) {
    double smallest = std::numeric_limits<double>::infinity();
    for (const Vector& a : state.trace.a)
        smallest = std::min(smallest, a.cwiseAbs().minCoeff());
    return smallest;
}

Json export_one(const Recipe& recipe, const ExportOptions& options, std::uint64_t seed) {
    Generator random(seed);
    const Subject subject = build(recipe, random);
    const LocalState state = evaluate(subject.network, subject.x);
    KnownProgram known = known_program(recipe, subject, state, random);
    const bool exact = recipe.program == "value" || recipe.program == "relu" || recipe.program == "dual";
    if (exact) {
        const double value = exact_value(subject.network, subject.x, recipe.program == "relu");
        known.known.objective = recipe.program == "dual" ? -value : value;
    }
    const Json origin = {{"library", recipe.family}, {"parameter", recipe.parameter}, {"seed", seed}};
    const ExportedInstance written = export_instance(recipe.name, recipe.program, known, origin, options);
    Json entry = {{"name", recipe.name},
                  {"family", recipe.family},
                  {"parameter", recipe.parameter},
                  {"program", recipe.program},
                  {"columns", written.columns},
                  {"rows", written.rows},
                  {"nonzeros", written.nonzeros},
                  {"objective", number(known.known.objective)},
                  {"objective_text", fmt::format("{:.17g}", known.known.objective)},
                  {"objective_is", exact ? "exact, rounded once" : known.known.source}};
    entry["dual_unique"] = known.known.dual_unique ? Json(*known.known.dual_unique) : Json(nullptr);
    entry["dual_dimension"] = known.known.dual_unique ? Json(known.known.dual_dimension) : Json(nullptr);
    entry["zero_units"] = state.pattern.degenerate_units().size();
    entry["zero_residuals"] = state.pattern.degenerate_modules().size();
    entry["smallest_preactivation"] = number(smallest_preactivation(state));
    entry["files"] = written.files;
    return entry;
}

std::string markdown(const Json& entries, std::uint64_t seed) {
    std::string text = fmt::format(
        "# Instance library\n\n{} instances, written by `certicone export --library` with seed {}. Each has a solution "
        "file with "
        "the optimal pair and the set of optimal multipliers.\n\n| instance | program | columns | rows | nonzeros | "
        "optimal "
        "value | dual | zero units | zero residuals | smallest \\|a\\| |\n|---|---|---|---|---|---|---|---|---|---|\n",
        entries.size(), seed);
    for (const Json& entry : entries) {
        const std::string dual = entry["dual_unique"].is_null() ? "by white-box inference"
                                 : entry["dual_unique"].get<bool>()
                                     ? "unique"
                                     : fmt::format("a set of dimension {}", entry["dual_dimension"].get<Index>());
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1e} |\n",
                            entry["name"].get<std::string>(), entry["program"].get<std::string>(),
                            entry["columns"].get<Index>(), entry["rows"].get<Index>(), entry["nonzeros"].get<Index>(),
                            entry["objective_text"].get<std::string>(), dual, entry["zero_units"].get<Index>(),
                            entry["zero_residuals"].get<Index>(), entry["smallest_preactivation"].get<double>());
    }
    return text;
}

}  // namespace

Index export_library(const ExportOptions& options, std::uint64_t seed) {
    Json entries = Json::array();
    std::uint64_t number = 0;
    for (const Recipe& recipe : recipes())
        entries.push_back(export_one(recipe, options, 1000 * seed + number++));
    const std::filesystem::path folder(options.folder);
    const Json index = {{"format", "certicone-library/1"}, {"seed", seed}, {"instances", entries}};
    const std::string text = index.dump(1) + "\n";
    if (file_begins_with(folder / "index.json", text.substr(0, text.find("\"instances\"")))) {
        write_file_atomically(folder / "index.json", text);
        write_file_atomically(folder / "index.md", markdown(entries, seed));
    } else {
        write_new_file(folder / "index.json", text);
        write_new_file(folder / "index.md", markdown(entries, seed));
    }
    return static_cast<Index>(entries.size());
}

}  // namespace certicone::verify
