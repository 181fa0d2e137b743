#include "network/points.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "network/json_tree.hpp"
#include "network/npy.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

constexpr std::string_view blanks = " \t\r\v\f";

std::string wrong_length(std::size_t point, std::size_t found, Index expected) {
    return "point " + std::to_string(point) + " has " + std::to_string(found) + " entries, expected " +
           std::to_string(expected);
}

Matrix from_flat(const std::vector<double>& values, Index dim) {
    return Eigen::Map<const Matrix>(values.data(), dim, static_cast<Index>(values.size()) / dim);
}

// ---- JSON

Matrix from_json(std::string_view text, const std::string& source, Index dim, PointKind kind) {
    const JsonValue tree = parse_json(text, source);
    const JsonPlace root(tree, source);
    std::optional<JsonPlace> list = root.find(kind == PointKind::points ? "points" : "directions");
    if (!list && kind == PointKind::points) list = root.find("queries");
    if (!list) root.fail(std::string("missing key ") + (kind == PointKind::points ? "\"points\"" : "\"directions\""));

    const std::vector<std::span<const double>> rows = list->rows();
    Matrix points(dim, static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() != static_cast<std::size_t>(dim)) {
            list->fail(list->path() + ": " + wrong_length(i, rows[i].size(), dim));
        }
        points.col(static_cast<Index>(i)) = Eigen::Map<const Vector>(rows[i].data(), dim);
    }
    return points;
}

// ---- CSV

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// A semicolon anywhere makes it the separator, so that decimal commas are an error rather than twice the entries.
std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    const char separator = line.find(';') != line.npos ? ';' : line.find(',') != line.npos ? ',' : ' ';
    while (true) {
        const std::size_t end = separator == ' ' ? line.find_first_of(blanks) : line.find(separator);
        fields.push_back(trim(line.substr(0, end)));
        if (end == line.npos) return fields;
        line.remove_prefix(end + 1);
        if (separator == ' ') line = trim(line);
    }
}

enum class NumberText { number, out_of_range, other };

NumberText read_number(std::string_view field, double& value) {
    if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::invalid_argument || end != field.data() + field.size()) return NumberText::other;
    return error == std::errc{} ? NumberText::number : NumberText::out_of_range;
}

bool is_header(const std::vector<std::string_view>& fields) {
    double ignored = 0;
    return std::all_of(fields.begin(), fields.end(),
                       [&](std::string_view field) { return read_number(field, ignored) == NumberText::other; });
}

Matrix from_csv(std::string_view text, const std::string& source, Index dim) {
    std::vector<double> values;
    bool first = true;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        const std::string_view whole = text.substr(0, end);
        const std::string_view line = trim(whole.substr(0, whole.find('#')));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        if (line.empty()) continue;
        const std::vector<std::string_view> fields = fields_of(line);
        if (std::exchange(first, false) && is_header(fields)) continue;

        const std::string place = "line " + std::to_string(number) + ": ";
        for (std::size_t i = 0; i < fields.size(); ++i) {
            double value = 0;
            const NumberText found = read_number(fields[i], value);
            if (found == NumberText::number && std::isfinite(value)) {
                values.push_back(value);
                continue;
            }
            fail_input(source, place + "field " + std::to_string(i + 1) + " is '" + one_line(fields[i], 40) + "', " +
                                   (found == NumberText::out_of_range ? "out of range of a double"
                                    : found == NumberText::number     ? "must be finite"
                                                                      : "expected a number"));
        }
        if (fields.size() != static_cast<std::size_t>(dim)) {
            const std::size_t point = (values.size() - fields.size()) / static_cast<std::size_t>(dim);
            fail_input(source, place + wrong_length(point, fields.size(), dim));
        }
    }
    return from_flat(values, dim);
}

// ---- .npy

Matrix from_npy(std::string_view bytes, const std::string& source, Index dim) {
    const NpyArray array = parse_npy(bytes, source);
    const auto expected = static_cast<std::uint64_t>(dim);
    if (array.shape.size() == 1 && (dim == 1 || array.shape[0] == expected)) return from_flat(array.values, dim);
    if (array.shape.size() == 2 && array.shape[1] == expected) return from_flat(array.values, dim);
    if (array.shape.size() == 1 || array.shape.size() == 2) {
        fail_input(source, wrong_length(0, array.shape.back(), dim));
    }
    fail_input(source,
               "array of " + std::to_string(array.shape.size()) + " dimensions, expected N x " + std::to_string(dim));
}

void check_finite(const Matrix& points, const std::string& source) {
    for (Index i = 0; i < points.cols(); ++i) {
        for (Index k = 0; k < points.rows(); ++k) {
            if (std::isfinite(points(k, i))) continue;
            fail_input(source, "point " + std::to_string(i) + ", entry " + std::to_string(k) + " is " +
                                   format_double(points(k, i)) + ", must be finite");
        }
    }
}

void refuse_binary_points(std::string_view bytes, const std::string& source) {
    if (!is_npy(bytes) && bytes.find('\0') != bytes.npos)
        fail_input(source, "binary file, expected points as JSON, CSV or .npy");
}

}  // namespace

Matrix parse_points(std::string_view bytes, const std::string& source, Index dim, PointKind kind) {
    std::string_view text = bytes;
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) fail_input(source, "empty file");
    refuse_binary_points(bytes, source);

    const Matrix points = is_npy(bytes)                              ? from_npy(bytes, source, dim)
                          : text[first] == '{' || text[first] == '[' ? from_json(text, source, dim, kind)
                                                                     : from_csv(text, source, dim);
    if (points.cols() == 0) fail_input(source, kind == PointKind::points ? "no points in it" : "no directions in it");
    check_finite(points, source);
    return points;
}

Matrix read_points(const std::filesystem::path& path, Index dim, PointKind kind) {
    return parse_points(read_points_bytes(path), path.string(), dim, kind);
}

std::string read_points_bytes(const std::filesystem::path& path) {
    return read_file(path, [&](std::string_view beginning, auto) { refuse_binary_points(beginning, path.string()); });
}

}  // namespace certicone
