#include "verify/report_json.hpp"

namespace certicone::verify {

namespace {

/// File names may hold any bytes; JSON is UTF-8.
std::string as_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json to_json(const Finding& finding) {
    return {{"id", finding.id},
            {"solver", finding.solver},
            {"status", to_string(finding.outcome)},
            {"figure", number(finding.figure)},
            {"bound", number(finding.bound)},
            {"class", finding.level},
            {"where", finding.where},
            {"reason", finding.reason}};
}

}  // namespace

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json degenerate(const std::vector<std::pair<Index, Index>>& units, const std::vector<Index>& modules) {
    Json relu = Json::array();
    for (const auto& [layer, unit] : units)
        relu.push_back({layer, unit});
    return {{"relu", std::move(relu)}, {"conic", modules}};
}

Json to_json(const Vector& vector) {
    Json list = Json::array();
    for (const double entry : vector)
        list.push_back(number(entry));
    return list;
}

Json to_json(const Matrix& matrix) {
    Json rows = Json::array();
    for (Index i = 0; i < matrix.rows(); ++i)
        rows.push_back(to_json(Vector(matrix.row(i))));
    return rows;
}

Json to_json(const std::vector<Vector>& blocks) {
    Json list = Json::array();
    for (const Vector& block : blocks)
        list.push_back(to_json(block));
    return list;
}

Json to_json(const PointReadout& readout) {
    const Pattern& pattern = readout.state.pattern;
    return {{"x", to_json(readout.state.x)},
            {"value", number(readout.state.value)},
            {"gradient", to_json(readout.gradient)},
            {"nu", to_json(readout.xi.nu)},
            {"p", to_json(readout.xi.p)},
            {"r", to_json(readout.xi.r)},
            {"degenerate", degenerate(pattern.degenerate_units(), pattern.degenerate_modules())},
            {"hessian", readout.hessian ? to_json(*readout.hessian) : Json(nullptr)},
            {"branch_radius", readout.branch_radius ? number(*readout.branch_radius) : Json(nullptr)},
            {"directional", readout.directional}};
}

void JsonReport::begin_network(const NetworkHeader& header) {
    Json environment = Json::object();
    for (const auto& [key, value] : header.environment)
        environment[key] = value;
    environment["points"] = header.points_from;
    environment["points_sha256"] = header.points_sha256;
    const Json head = {{"format", "certicone-report/1"},
                       {"network", {{"name", header.name}, {"sha256", header.sha256}}},
                       {"environment", std::move(environment)}};
    std::string text = as_text(head);
    text.pop_back();  // the points follow in the same object, one a line
    out_ << text << ",\"points\":[";
}

void JsonReport::point(const PointReport& point) {
    Json checks = Json::array();
    for (const Finding& finding : point.findings)
        checks.push_back(to_json(finding));
    const Json rest = {{"degenerate", degenerate(point.degenerate_units, point.degenerate_modules)},
                       {"checks", std::move(checks)}};
    // x goes around the tree of values: after an interrupt thousands of points wait to be named, for two seconds at most.
    std::string text = std::exchange(first_, false) ? "\n" : ",\n";
    text += "{\"index\":" + std::to_string(point.index) + ",\"x\":[";
    for (Index i = 0; i < point.x.size(); ++i) {
        if (i > 0) text += ',';
        if (std::isfinite(point.x(i)))
            append_double(text, point.x(i));
        else
            text += "null";
    }
    text += "],";
    out_ << text << std::string_view(as_text(rest)).substr(1);
}

void JsonReport::end_network(const Summary& summary, double) {
    Json accuracy = Json::object();
    for (std::size_t k = 0; k < kQuantities; ++k) {
        const auto quantity = static_cast<Quantity>(k);
        const std::optional<double> share = summary.accuracy.of(quantity);
        accuracy[std::string(to_string(quantity))] = share ? number(*share) : Json(nullptr);
    }
    const Json counts = {{"points", summary.points},       {"examined", summary.examined}, {"checks", summary.checks},
                         {"passed", summary.passed},       {"failed", summary.failed},     {"skipped", summary.skipped},
                         {"accuracy", std::move(accuracy)}};
    out_ << "\n],\"summary\":" << as_text(counts) << "}\n";
}

}  // namespace certicone::verify
