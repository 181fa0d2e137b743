// The network of a certificate in safetensors (docs/certificate.md): an 8-byte length, a JSON header, raw numbers.
#pragma once

#include <map>

#include "verify/check/network.hpp"

namespace certicone::check {

inline bool is_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[7] == '\0' && bytes[8] == '{'; }

/// A number of `bytes`, the lowest first.
inline std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t raw = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        raw = raw << 8 | static_cast<unsigned char>(bytes[i]);
    return raw;
}

/// binary16: 1 sign, 5 exponent and 10 fraction bits.
inline double half_to_double(std::uint64_t raw) {
    const int exponent = static_cast<int>(raw >> 10 & 31), fraction = static_cast<int>(raw & 1023);
    if (exponent == 31) return HUGE_VAL;  // or NaN: refuted either way
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return raw >> 15 ? -size : size;
}

/// The tensors of a file by name. Each is taken once, and none may be left.
class Tensors {
  public:
    explicit Tensors(std::string_view bytes) : header_(header_of(bytes), "network") {
        const std::string_view data = bytes.substr(8 + header_.text.size());
        std::vector<std::pair<std::size_t, std::size_t>> places;
        const Value root(header_);
        for (const auto& [key, value] : root.entries()) {
            if (key.string() == "__metadata__") {
                check_metadata(value);
                continue;
            }
            const std::vector<Value> parts = value.members({"dtype", "shape", "data_offsets"});
            Tensor tensor{value, parts[0].string(), {}, {}};
            std::size_t size = tensor.dtype == "F64"                             ? 8
                               : tensor.dtype == "F32"                           ? 4
                               : tensor.dtype == "F16" || tensor.dtype == "BF16" ? 2
                                                                                 : 0;
            if (size == 0) parts[0].refute("is not F64, F32, F16 or BF16");
            for (const Value& extent : parts[1].items())
                tensor.shape.push_back(extent.integer());
            if (tensor.shape.size() > 2) parts[1].refute("has more than two dimensions");
            for (const std::size_t extent : tensor.shape)
                size *= extent;
            const std::vector<Value> ends = parts[2].items(2);
            places.emplace_back(ends[0].integer(), ends[1].integer());
            const auto [begin, end] = places.back();
            if (begin > end || end > data.size() || end - begin != size) parts[2].refute("do not fit the shape");
            tensor.data = data.substr(begin, size);
            if (!tensors_.emplace(key.string(), tensor).second) value.refute("this tensor stands here twice");
        }
        std::sort(places.begin(), places.end());
        std::size_t reached = 0;
        for (const auto& [begin, end] : places) {
            if (begin != reached) root.refute("the tensors overlap or leave a hole");
            reached = end;
        }
        if (reached != data.size()) root.refute("the tensors do not end where the file does");
    }

    bool has(const std::string& name) const { return tensors_.contains(name); }

    double number(const std::string& name) {
        const Tensor tensor = take(name);
        if (!tensor.shape.empty() && tensor.shape != std::vector<std::size_t>{1}) tensor.place.refute("is no number");
        return entries(tensor, false).front();
    }
    Doubles vector(const std::string& name, bool nonnegative = false) {
        const Tensor tensor = take(name);
        if (tensor.shape.size() != 1) tensor.place.refute("is no vector");
        return entries(tensor, nonnegative);
    }
    Doubles vector(const std::string& name, std::size_t size, bool nonnegative = false) {
        const Value place = tensors_.contains(name) ? tensors_.at(name).place : Value(header_);
        Doubles result = vector(name, nonnegative);
        if (result.size() != size) place.refute("expected " + std::to_string(size) + " entries");
        return result;
    }
    Matrix matrix(const std::string& name, std::size_t cols, bool nonnegative = false) {
        const Tensor tensor = take(name);
        if (tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[1] != cols)
            tensor.place.refute("is no matrix of " + std::to_string(cols) + " columns");
        return {tensor.shape[0], cols, entries(tensor, nonnegative)};
    }
    void expect_none_left() const {
        if (!tensors_.empty()) tensors_.begin()->second.place.refute("this tensor is not known here");
    }
    [[noreturn]] void refute(const std::string& reason) const { Value(header_).refute(reason); }

  private:
    struct Tensor {
        Value place;
        std::string_view dtype;
        std::vector<std::size_t> shape;
        std::string_view data;
    };
    Json header_;
    std::map<std::string, Tensor, std::less<>> tensors_;

    static std::string_view header_of(std::string_view bytes) {
        const std::uint64_t length = little_endian(bytes.substr(0, 8));
        if (length > bytes.size() - 8) throw Refuted{"network", "is shorter than its header"};
        return bytes.substr(8, length);
    }

    /// Strings; which decide nothing but the format.
    static void check_metadata(const Value& metadata) {
        std::vector<std::string_view> keys;
        for (const auto& [key, value] : metadata.entries()) {
            keys.push_back(key.string());
            if (keys.back().find('\\') != std::string_view::npos) value.refute("its key has an escape");
            const std::string_view text = value.string();
            if (keys.back() == "format" && text != "soc-icnn/1" && text != "pt") value.refute("is not soc-icnn/1");
        }
        std::sort(keys.begin(), keys.end());
        if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) metadata.refute("a key stands here twice");
    }

    Tensor take(const std::string& name) {
        const auto found = tensors_.find(name);
        if (found == tensors_.end()) refute("lacks the tensor " + name);
        const Tensor tensor = found->second;
        tensors_.erase(found);
        return tensor;
    }

    static Doubles entries(const Tensor& tensor, bool nonnegative) {
        Doubles result;
        const std::size_t width = tensor.dtype == "F64" ? 8 : tensor.dtype == "F32" ? 4 : 2;
        for (std::size_t at = 0; at < tensor.data.size(); at += width) {
            const std::uint64_t raw = little_endian(tensor.data.substr(at, width));
            const auto single = static_cast<std::uint32_t>(tensor.dtype == "BF16" ? raw << 16 : raw);
            result.push_back(width == 8              ? std::bit_cast<double>(raw)
                             : tensor.dtype == "F16" ? half_to_double(raw)
                                                     : std::bit_cast<float>(single));
            if (!std::isfinite(result.back())) tensor.place.refute("must be finite");
            if (nonnegative && result.back() < 0.0) tensor.place.refute("must not be negative");
        }
        return result;
    }
};

inline Network read_safetensors(std::string_view bytes) {
    Tensors file(bytes);
    const auto name = [](const char* list, std::size_t index, const char* part) {
        return std::string(list) + "." + std::to_string(index) + "." + part;
    };
    Network network;
    network.v = file.vector("v");
    network.inputs = network.v.size();
    if (network.inputs == 0) file.refute("must have inputs");
    std::size_t units = 0;
    for (std::size_t l = 0; file.has(name("layers", l, "W")); ++l) {
        Layer layer;
        layer.W = file.matrix(name("layers", l, "W"), network.inputs);
        if (l > 0) layer.U = file.matrix(name("layers", l, "U"), units, true);
        units = layer.W.rows;
        layer.b = file.vector(name("layers", l, "b"), units);
        if (l > 0 && layer.U.rows != units) file.refute("layer " + std::to_string(l) + ": U and W differ in rows");
        network.layers.push_back(std::move(layer));
    }
    if (network.layers.empty()) file.refute("must have a layer");
    network.c = file.vector("c", units, true);
    network.b0 = file.number("b0");
    const auto read_modules = [&](const char* list, const char* weight, const char* matrix, const char* offset,
                                  bool positive) {
        std::vector<Module> result;
        for (std::size_t k = 0; file.has(name(list, k, matrix)); ++k) {
            Module module{file.number(name(list, k, weight)), file.matrix(name(list, k, matrix), network.inputs), {}};
            if (module.weight < 0.0 || (positive && module.weight == 0.0))
                file.refute(name(list, k, weight) + " is not allowed");
            module.o = file.vector(name(list, k, offset), module.M.rows);
            result.push_back(std::move(module));
        }
        return result;
    };
    network.quadratic = read_modules("quadratic", "alpha", "B", "e", true);
    network.conic = read_modules("conic", "lambda", "A", "d", false);
    if (file.has("reference.points"))
        file.vector("reference.values", file.matrix("reference.points", network.inputs).rows);
    file.expect_none_left();
    return network;
}

}  // namespace certicone::check
