#include <type_traits>
#include <utility>

#include "network/json_tree.hpp"
#include "network/network_io.hpp"
#include "network/raw_numbers.hpp"
#include "network/reference.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

Vector vector_at(const JsonPlace& place) {
    const std::span<const double> numbers = place.numbers();
    return Eigen::Map<const Vector>(numbers.data(), static_cast<Index>(numbers.size()));
}

Matrix matrix_at(const JsonPlace& place) {
    const std::vector<std::span<const double>> rows = place.rows();
    const std::size_t cols = rows.empty() ? 0 : rows.front().size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() == cols) continue;
        place.fail(place.path() + "[" + std::to_string(i) + "] has " + std::to_string(rows[i].size()) +
                   " entries, but row 0 has " + std::to_string(cols));
    }
    return matrix_from_rows(static_cast<Index>(rows.size()), static_cast<Index>(cols), [&](Index i, Index j) {
        return rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
    });
}

void check_format(const JsonPlace& root) {
    const std::string expected = "expected \"" + std::string(network_format) + "\"";
    const auto format = root.find("format");
    if (!format) root.fail("missing key \"format\", " + expected);
    if (format->text() != network_format) {
        root.fail("format is " + json_string(one_line(format->text(), 60)) + ", " + expected);
    }
}

Layer layer_at(const JsonPlace& place, bool first) {
    place.allow_only({"W", "U", "b"});
    if (first && place.find("U")) place.fail(place.path() + ".U must be absent: nothing comes before the first layer");
    Layer layer;
    layer.W = matrix_at(place.at("W"));
    if (!first) layer.U = matrix_at(place.at("U"));
    layer.b = vector_at(place.at("b"));
    return layer;
}

Quadratic quadratic_at(const JsonPlace& place) {
    place.allow_only({"alpha", "B", "e"});
    return {place.at("alpha").number(), matrix_at(place.at("B")), vector_at(place.at("e"))};
}

Conic conic_at(const JsonPlace& place) {
    place.allow_only({"lambda", "A", "d"});
    return {place.at("lambda").number(), matrix_at(place.at("A")), vector_at(place.at("d"))};
}

void append(std::string& text, const Vector& vector) {
    text += '[';
    for (Index i = 0; i < vector.size(); ++i) {
        if (i > 0) text += ", ";
        append_double(text, vector(i));
    }
    text += ']';
}

/// One row a line, so that editors and diffs can cope.
void append(std::string& text, const Matrix& matrix) {
    text += '[';
    for (Index i = 0; i < matrix.rows(); ++i) {
        text += i > 0 ? ",\n [" : "[";
        for (Index j = 0; j < matrix.cols(); ++j) {
            if (j > 0) text += ", ";
            append_double(text, matrix(i, j));
        }
        text += ']';
    }
    text += ']';
}

template <class Value>
void append_member(std::string& text, const char* before, const Value& value) {
    text += before;
    if constexpr (std::is_same_v<Value, double>) {
        append_double(text, value);
    } else {
        append(text, value);
    }
}

/// "key": [ … ], with `write` for the members of each element.
template <class Elements, class Write>
void append_list(std::string& text, const char* key, const Elements& elements, Write write) {
    text += ",\n\"" + std::string(key) + "\": [";
    for (std::size_t i = 0; i < elements.size(); ++i) {
        text += i > 0 ? ",\n{" : "\n{";
        write(elements[i]);
        text += '}';
    }
    text += ']';
}

}  // namespace

Network parse_network_json(std::string_view text, const std::string& source) {
    const JsonValue tree = parse_json(text, source);
    const JsonPlace root(tree, source);
    check_format(root);
    root.allow_only({"format", "name", "input_dim", "layers", "c", "v", "b0", "quadratic", "conic", "reference"});

    Network network;
    const auto name = root.find("name");
    network.name = name ? name->text() : std::filesystem::path(source).stem().string();
    network.input_dim = root.at("input_dim").count();
    for (const JsonPlace& place : root.at("layers").items()) {
        network.layers.push_back(layer_at(place, network.layers.empty()));
    }
    network.c = vector_at(root.at("c"));
    network.v = vector_at(root.at("v"));
    network.b0 = root.at("b0").number();
    if (const auto list = root.find("quadratic")) {
        for (const JsonPlace& place : list->items())
            network.quadratic.push_back(quadratic_at(place));
    }
    if (const auto list = root.find("conic")) {
        for (const JsonPlace& place : list->items())
            network.conic.push_back(conic_at(place));
    }
    validate(network, source);
    if (const auto reference = root.find("reference")) {
        reference->allow_only({"points", "values"});
        check_reference(network, matrix_at(reference->at("points")), vector_at(reference->at("values")), source);
    }
    return network;
}

std::string to_json(const Network& network) {
    std::string text = "{\"format\": " + json_string(network_format) + ",\n\"name\": " + json_string(network.name) +
                       ",\n\"input_dim\": " + std::to_string(network.input_dim);
    append_list(text, "layers", network.layers, [&, first = true](const Layer& layer) mutable {
        append_member(text, "\"W\": ", layer.W);
        if (!std::exchange(first, false)) append_member(text, ",\n\"U\": ", layer.U);
        append_member(text, ",\n\"b\": ", layer.b);
    });
    append_member(text, ",\n\"c\": ", network.c);
    append_member(text, ",\n\"v\": ", network.v);
    append_member(text, ",\n\"b0\": ", network.b0);
    append_list(text, "quadratic", network.quadratic, [&](const Quadratic& module) {
        append_member(text, "\"alpha\": ", module.alpha);
        append_member(text, ",\n\"B\": ", module.B);
        append_member(text, ",\n\"e\": ", module.e);
    });
    append_list(text, "conic", network.conic, [&](const Conic& module) {
        append_member(text, "\"lambda\": ", module.lambda);
        append_member(text, ",\n\"A\": ", module.A);
        append_member(text, ",\n\"d\": ", module.d);
    });
    text += "}\n";
    return text;
}

void write_network_json(const Network& network, const std::filesystem::path& path) {
    validate(network, path.string());
    write_file_atomically(path, to_json(network));
}

}  // namespace certicone
