#include <algorithm>
#include <bit>
#include <charconv>
#include <initializer_list>
#include <ostream>
#include <utility>

#include "network/json_tree.hpp"
#include "network/network_io.hpp"
#include "network/reference.hpp"
#include "network/safetensors.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

std::string indexed(std::string_view list, std::size_t index) {
    return std::string(list) + "." + std::to_string(index);
}

/// Hands out tensors by name; what nobody asked for is an error at the end.
class NamedTensors {
  public:
    NamedTensors(std::map<std::string, Tensor> tensors, const std::string& source)
        : tensors_(std::move(tensors)), source_(source) {}

    double scalar(const std::string& name) {
        const Tensor tensor = take(name);
        if (!tensor.shape.empty() && tensor.shape != std::vector<std::uint64_t>{1}) {
            wrong_shape(name, tensor, "a number: [] or [1]");
        }
        return scalar_from(tensor);
    }

    Vector vector(const std::string& name) {
        const Tensor tensor = take(name);
        if (tensor.shape.size() != 1) wrong_shape(name, tensor, "a vector");
        return vector_from(tensor);
    }

    Matrix matrix(const std::string& name) {
        const Tensor tensor = take(name);
        if (tensor.shape.size() != 2) wrong_shape(name, tensor, "a matrix");
        return matrix_from(tensor);
    }

    bool contains(const std::string& name) const { return tensors_.contains(name); }

    /// How many elements the list has: its first index of which no tensor is left.
    std::size_t count(std::string_view list) const {
        std::size_t index = 0;
        while (contains_element(list, index))
            ++index;
        return index;
    }

    /// After all were taken that belong to lists of the given lengths.
    void expect_none_left(std::initializer_list<std::pair<std::string_view, std::size_t>> lengths) const {
        if (tensors_.empty()) return;
        const std::string& name = tensors_.begin()->first;
        for (const auto& [list, length] : lengths) {
            std::size_t index = 0;
            const char* digits = name.data() + list.size() + 1;
            if (!name.starts_with(std::string(list) + ".")) continue;
            const auto [end, error] = std::from_chars(digits, name.data() + name.size(), index);
            if (error == std::errc{} && *end == '.' && index > length) {
                fail_input(source_, "tensor " + one_line(name, 60) + " found, but no " + indexed(list, length));
            }
        }
        fail_input(source_, "unknown tensor " + one_line(name, 60));
    }

    /// Names what is there instead: the same with a prefix (model., module., _orig_mod.), or another layout.
    [[noreturn]] void missing(const std::string& name) const {
        std::string message = "missing tensor " + name;
        const auto prefixed = std::find_if(tensors_.begin(), tensors_.end(),
                                           [&](const auto& tensor) { return tensor.first.ends_with("." + name); });
        if (prefixed != tensors_.end())
            message += ", but there is " + one_line(prefixed->first, 60) + ": names must stand without a prefix";
        else if (!contains_element("layers", 0) && !tensors_.empty())
            message += ", but there is " + one_line(tensors_.begin()->first, 60);
        fail_input(source_, message + (message.ends_with(name) ? "" : " (data/convert_torch.py converts checkpoints)"));
    }

  private:
    bool contains_element(std::string_view list, std::size_t index) const {
        const std::string prefix = indexed(list, index) + ".";
        const auto next = tensors_.lower_bound(prefix);
        return next != tensors_.end() && next->first.starts_with(prefix);
    }

    Tensor take(const std::string& name) {
        auto node = tensors_.extract(name);
        if (node.empty()) missing(name);
        return std::move(node.mapped());
    }

    [[noreturn]] void wrong_shape(const std::string& name, const Tensor& tensor, const std::string& expected) const {
        fail_input(source_, "tensor " + name + " has shape " + shape_text(tensor.shape) + ", expected " + expected);
    }

    std::map<std::string, Tensor> tensors_;
    const std::string& source_;
};

void check_format(const std::map<std::string, std::string>& metadata, const std::string& source) {
    const auto format = metadata.find("format");
    if (format == metadata.end() || format->second == network_format) return;
    if (format->second == "pt") return;  // what PyTorch's own writer puts there
    fail_input(source, "metadata format is " + json_string(one_line(format->second, 60)) + ", expected \"" +
                           std::string(network_format) + "\"");
}

using Shape = std::vector<std::uint64_t>;
using Rows = Eigen::Ref<const Matrix>;

/// Calls `visit(name, shape, entries)` for everything in the network, in the order of the file.
template <class Visit>
void for_each_tensor(const Network& network, const Visit& visit) {
    const auto matrix = [&](const std::string& name, const Matrix& value) {
        const Shape shape = {static_cast<std::uint64_t>(value.rows()), static_cast<std::uint64_t>(value.cols())};
        visit(name, shape, Rows(value));
    };
    const auto vector = [&](const std::string& name, const Vector& value) {
        visit(name, Shape{static_cast<std::uint64_t>(value.size())}, Rows(value));
    };
    const auto scalar = [&](const std::string& name, double value) {
        visit(name, Shape{}, Rows(Matrix::Constant(1, 1, value)));
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const std::string name = indexed("layers", l);
        matrix(name + ".W", network.layers[l].W);
        if (l > 0) matrix(name + ".U", network.layers[l].U);
        vector(name + ".b", network.layers[l].b);
    }
    vector("c", network.c);
    vector("v", network.v);
    scalar("b0", network.b0);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const std::string name = indexed("quadratic", h);
        scalar(name + ".alpha", network.quadratic[h].alpha);
        matrix(name + ".B", network.quadratic[h].B);
        vector(name + ".e", network.quadratic[h].e);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const std::string name = indexed("conic", g);
        scalar(name + ".lambda", network.conic[g].lambda);
        matrix(name + ".A", network.conic[g].A);
        vector(name + ".d", network.conic[g].d);
    }
}

std::string little_endian(std::uint64_t value) {
    std::string bytes;
    for (int shift = 0; shift < 64; shift += 8)
        bytes += static_cast<char>(value >> shift & 0xFF);
    return bytes;
}

std::string header_of(const Network& network) {
    std::string header =
        "{\"__metadata__\":{\"format\":" + json_string(network_format) + ",\"name\":" + json_string(network.name) + "}";
    std::uint64_t offset = 0;
    for_each_tensor(network, [&](const std::string& name, const Shape& shape, const Rows& entries) {
        const std::uint64_t end = offset + 8 * static_cast<std::uint64_t>(entries.size());
        header += ",\"" + name + "\":{\"dtype\":\"F64\",\"shape\":" + shape_text(shape) + ",\"data_offsets\":[" +
                  std::to_string(offset) + "," + std::to_string(end) + "]}";
        offset = end;
    });
    header += '}';
    header.append((8 - header.size() % 8) % 8, ' ');  // so that the data is aligned
    return header;
}

void write_row_major(std::ostream& stream, const Rows& entries) {
    std::string row;
    for (Index i = 0; i < entries.rows(); ++i) {
        row.clear();
        for (Index j = 0; j < entries.cols(); ++j)
            row += little_endian(std::bit_cast<std::uint64_t>(entries(i, j)));
        stream.write(row.data(), static_cast<std::streamsize>(row.size()));
    }
}

}  // namespace

Network parse_safetensors(std::string_view bytes, const std::string& source) {
    SafetensorsFile file = read_safetensors_container(bytes, source);
    check_format(file.metadata, source);
    NamedTensors tensors(std::move(file.tensors), source);

    Network network;
    const auto name = file.metadata.find("name");
    network.name = name != file.metadata.end() ? name->second : std::filesystem::path(source).stem().string();
    const std::size_t layers = tensors.count("layers");
    const std::size_t quadratic = tensors.count("quadratic");
    const std::size_t conic = tensors.count("conic");
    if (layers == 0) tensors.missing("layers.0.W");
    if (tensors.contains("layers.0.U")) {
        fail_input(source, "tensor layers.0.U must be absent: nothing comes before the first layer");
    }
    for (std::size_t l = 0; l < layers; ++l) {
        const std::string place = indexed("layers", l);
        Layer& layer = network.layers.emplace_back();
        layer.W = tensors.matrix(place + ".W");
        if (l > 0) layer.U = tensors.matrix(place + ".U");
        layer.b = tensors.vector(place + ".b");
    }
    network.c = tensors.vector("c");
    network.v = tensors.vector("v");
    network.b0 = tensors.scalar("b0");
    network.input_dim = network.v.size();
    for (std::size_t h = 0; h < quadratic; ++h) {
        const std::string place = indexed("quadratic", h);
        Quadratic& module = network.quadratic.emplace_back();
        module.alpha = tensors.scalar(place + ".alpha");
        module.B = tensors.matrix(place + ".B");
        module.e = tensors.vector(place + ".e");
    }
    for (std::size_t g = 0; g < conic; ++g) {
        const std::string place = indexed("conic", g);
        Conic& module = network.conic.emplace_back();
        module.lambda = tensors.scalar(place + ".lambda");
        module.A = tensors.matrix(place + ".A");
        module.d = tensors.vector(place + ".d");
    }
    Matrix points;
    Vector values;
    const bool reference = tensors.contains("reference.points") || tensors.contains("reference.values");
    if (reference) {
        points = tensors.matrix("reference.points");
        values = tensors.vector("reference.values");
    }
    tensors.expect_none_left({{"layers", layers}, {"quadratic", quadratic}, {"conic", conic}});
    validate(network, source);
    if (reference) check_reference(network, points, values, source);
    return network;
}

void write_safetensors(const Network& network, const std::filesystem::path& path) {
    validate(network, path.string());
    write_file_atomically(path, [&](std::ostream& stream) {
        const std::string header = header_of(network);
        stream << little_endian(header.size()) << header;
        for_each_tensor(
            network, [&](const std::string&, const Shape&, const Rows& entries) { write_row_major(stream, entries); });
    });
}

}  // namespace certicone
