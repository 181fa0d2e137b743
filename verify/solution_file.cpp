#include "verify/solution_file.hpp"

#include <algorithm>

#include "conic/rotated_rows.hpp"
#include "network/json_tree.hpp"
#include "support/file.hpp"

namespace certicone::verify {

namespace {

constexpr const char* kFormat = "certicone-solution/1";

Json dual_set(const KnownSolution& known) {
    Json free = Json::array();
    for (const Freedom& freedom : known.free) {
        Json entry = {{"kind", freedom.kind}, {"where", freedom.where}, {"rows", freedom.rows}};
        if (freedom.bound) entry["bound"] = number(*freedom.bound);
        entry["dimension"] = freedom.dimension;
        free.push_back(std::move(entry));
    }
    return {{"dimension", known.dual_dimension},
            {"definition", "all y in K* with A'y + c = 0 and s'y = 0, where s = b - Ax at the primal point"},
            {"free", std::move(free)}};
}

bool has(const std::vector<std::string>& formats, std::string_view name) {
    return std::find(formats.begin(), formats.end(), name) != formats.end();
}

Vector vector_at(const JsonPlace& place) {
    const std::span<const double> numbers = place.numbers();
    return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

/// The pair in the units, rows and cones of the files for Clarabel and SCS, and the way back.
Json solver_form(const KnownProgram& original) {
    const KnownSolution& known = original.known;
    const conic::Scaling& units = original.units;
    const double factor = units.unscale_objective(1.0);
    // Not objective − constant: either may be far larger than the difference.
    const double objective = original.program.c.dot(known.x) + 0.5 * known.x.dot(original.program.P * known.x);
    return {{"objective", number(objective / factor)},
            {"factor", number(factor)},
            {"constant", number(original.program.c0)},
            {"primal", to_json(units.scaled_x(known.x))},
            {"dual", to_json(conic::RotatedRows(original.program).map(units.scaled_y(known.y)))},
            {"primal_units", to_json(units.unscale_x(Vector::Ones(known.x.size())))},
            {"dual_units", to_json(units.unscale_y(Vector::Ones(known.y.size())))}};
}

}  // namespace

Json solution_json(const SolutionContext& context, const KnownProgram& known_program, const formats::Instance& linear) {
    const KnownSolution& known = known_program.known;
    Json json = {{"format", kFormat},        {"instance", context.instance}, {"program", context.program},
                 {"origin", context.origin}, {"source", known.source},       {"objective", number(known.objective)}};
    if (known.source != "closed form") json["gap"] = number(known.gap);
    json["primal"] = to_json(linear.x);
    json["dual"] = to_json(linear.y);
    json["dual_unique"] = known.dual_unique ? Json(*known.dual_unique) : Json(nullptr);
    if (known.dual_unique && !*known.dual_unique) json["dual_set"] = dual_set(known);
    Json columns = Json::array(), rows = Json::array();
    for (const conic::Columns& part : linear.program.variables)
        columns.push_back({{"name", part.name}, {"begin", part.begin}, {"size", part.size}});
    for (const conic::Block& block : linear.program.blocks)
        rows.push_back({{"name", block.name},
                        {"cone", std::string(to_string(block.cone))},
                        {"begin", block.begin},
                        {"size", block.size}});
    json["columns"] = std::move(columns);
    json["rows"] = std::move(rows);
    if (has(context.formats, "clarabel") || has(context.formats, "scs"))
        json["clarabel_and_scs"] = solver_form(known_program);
    return json;
}

StoredSolution read_solution(const std::string& path) {
    const std::string text = read_file(path, [&](std::string_view beginning, auto) { refuse_binary(beginning, path); });
    const JsonValue tree = parse_json(text, path);
    const JsonPlace root(tree, path);
    if (root.at("format").text() != kFormat) root.fail(std::string("format is not \"") + kFormat + "\"");
    StoredSolution stored;
    stored.source = root.at("source").text();
    stored.objective = root.at("objective").number();
    stored.x = vector_at(root.at("primal"));
    stored.y = vector_at(root.at("dual"));
    stored.dual_unique = root.at("dual_unique").flag();
    if (const auto set = root.find("dual_set")) stored.dual_dimension = set->at("dimension").count();
    return stored;
}

}  // namespace certicone::verify
