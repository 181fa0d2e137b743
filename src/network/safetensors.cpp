#include "network/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "network/json_tree.hpp"
#include "network/raw_numbers.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

std::uint64_t entry_size(std::string_view dtype) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> sizes = {
        {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}}};
    for (const auto& [name, size] : sizes) {
        if (name == dtype) return size;
    }
    return 0;
}

Tensor tensor_at(const JsonPlace& place, std::string_view data, std::uint64_t& begin) {
    place.allow_only({"dtype", "shape", "data_offsets"});
    const std::string name = "tensor " + one_line(place.path(), 60);
    Tensor tensor;
    tensor.dtype = place.at("dtype").text();
    const std::uint64_t size = entry_size(tensor.dtype);
    if (size == 0) {
        place.fail(name + " has dtype " + one_line(tensor.dtype, 20) + ", expected F64, F32, F16 or BF16");
    }
    for (const double extent : place.at("shape").numbers()) {
        if (extent < 0 || extent >= 0x1p53 || extent != std::floor(extent)) {
            place.fail(name + " has the extent " + format_double(extent) + " in its shape, expected an integer >= 0");
        }
        tensor.shape.push_back(static_cast<std::uint64_t>(extent));
    }

    const std::span<const double> offsets = place.at("data_offsets").numbers();
    const auto valid = [&](double offset) {
        return offset >= 0 && offset <= static_cast<double>(data.size()) && offset == std::floor(offset);
    };
    if (offsets.size() != 2 || !valid(offsets[0]) || !valid(offsets[1]) || offsets[0] > offsets[1]) {
        std::string found;
        for (std::size_t i = 0; i < std::min<std::size_t>(offsets.size(), 3); ++i) {
            found += (i > 0 ? ", " : "") + format_double(offsets[i]);
        }
        place.fail(name + " has data_offsets [" + found +
                   "], expected 0 <= begin <= end <= " + std::to_string(data.size()));
    }
    begin = static_cast<std::uint64_t>(offsets[0]);
    tensor.data = data.substr(begin, static_cast<std::uint64_t>(offsets[1]) - begin);

    // Divided, not multiplied: a huge shape cannot overflow into a small byte count.
    const std::optional<std::uint64_t> count = entry_count(tensor.shape);
    if (!count || tensor.data.size() % size != 0 || tensor.data.size() / size != *count) {
        place.fail(name + " holds " + std::to_string(tensor.data.size()) + " bytes, which is not " + tensor.dtype +
                   " of shape " + shape_text(tensor.shape));
    }
    return tensor;
}

/// The format forbids overlaps and holes: each tensor must begin where the one before it ends.
void check_tiling(std::vector<std::pair<std::uint64_t, std::string>> begins, const SafetensorsFile& file,
                  std::uint64_t data_size, const std::string& source) {
    const auto end_of = [&](const auto& entry) { return entry.first + file.tensors.at(entry.second).data.size(); };
    std::sort(begins.begin(), begins.end(), [&](const auto& a, const auto& b) {
        return std::pair(a.first, end_of(a)) < std::pair(b.first, end_of(b));
    });
    std::uint64_t reached = 0;
    for (const auto& entry : begins) {
        if (entry.first != reached) {
            fail_input(source, "tensor " + one_line(entry.second, 60) + " begins at byte " +
                                   std::to_string(entry.first) + " of the data, " +
                                   (entry.first < reached ? "overlapping another one" : "after a hole") +
                                   "; expected " + std::to_string(reached));
        }
        reached = end_of(entry);
    }
    if (reached != data_size) {
        fail_input(source, "the tensors end at byte " + std::to_string(reached) + " of the data, but it has " +
                               std::to_string(data_size));
    }
}

/// Calls `use` with a function from the entry's index to its value as a double.
template <class Use>
auto with_entries(const Tensor& tensor, const Use& use) {
    const char* data = tensor.data.data();
    if (tensor.dtype == "F64") return use([data](Index k) { return load_raw<double>(data + 8 * k); });
    if (tensor.dtype == "F32") return use([data](Index k) { return double{load_raw<float>(data + 4 * k)}; });
    if (tensor.dtype == "F16") {
        return use([data](Index k) { return half_to_double(load_raw<std::uint16_t>(data + 2 * k)); });
    }
    return use([data](Index k) { return bfloat16_to_double(load_raw<std::uint16_t>(data + 2 * k)); });
}

}  // namespace

std::string_view safetensors_header(std::string_view beginning, std::uintmax_t size, const std::string& source) {
    if (beginning.size() < 8) {
        fail_input(source, "truncated: " + std::to_string(size) + " bytes, a safetensors file begins with 8");
    }
    const auto length = load_raw<std::uint64_t>(beginning.data());
    if (length > size - 8) {
        fail_input(source, "safetensors header of " + std::to_string(length) + " bytes claimed, but only " +
                               std::to_string(size - 8) + " follow");
    }
    const std::string_view header = beginning.substr(8, length);
    if (!header.starts_with('{')) fail_input(source, "safetensors header does not begin with '{'");
    return header;
}

SafetensorsFile read_safetensors_container(std::string_view bytes, const std::string& source) {
    const std::string_view header = safetensors_header(bytes, bytes.size(), source);
    const std::string_view data = bytes.substr(8 + header.size());
    const std::string header_source = source + ": safetensors header";
    const JsonValue tree = parse_json(header, header_source);
    const JsonPlace root(tree, header_source);

    SafetensorsFile file;
    std::vector<std::pair<std::uint64_t, std::string>> begins;
    for (const JsonPlace& place : root.members()) {
        if (place.path() == "__metadata__") {
            for (const JsonPlace& entry : place.members()) {
                file.metadata.emplace(entry.path().substr(place.path().size() + 1), entry.text());
            }
        } else {
            std::uint64_t begin = 0;
            file.tensors.emplace(place.path(), tensor_at(place, data, begin));
            begins.emplace_back(begin, place.path());
        }
    }
    check_tiling(std::move(begins), file, data.size(), source);
    return file;
}

double scalar_from(const Tensor& tensor) {
    return with_entries(tensor, [](const auto& entry) { return entry(0); });
}

Vector vector_from(const Tensor& tensor) {
    Vector vector(static_cast<Index>(tensor.shape.at(0)));
    with_entries(tensor, [&](const auto& entry) {
        for (Index i = 0; i < vector.size(); ++i)
            vector(i) = entry(i);
    });
    return vector;
}

Matrix matrix_from(const Tensor& tensor) {
    const auto rows = static_cast<Index>(tensor.shape.at(0));
    const auto cols = static_cast<Index>(tensor.shape.at(1));
    return with_entries(tensor, [&](const auto& entry) {
        return matrix_from_rows(rows, cols, [&](Index i, Index j) { return entry(i * cols + j); });
    });
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

}  // namespace certicone
