// The safetensors container: an 8-byte little-endian header length, a JSON header that names dtype, shape and place of
// every tensor, then their raw little-endian data without gaps.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "network/network.hpp"

namespace certicone {

struct Tensor {
    std::string dtype;  ///< F64, F32, F16 or BF16
    std::vector<std::uint64_t> shape;
    std::string_view data;  ///< into the bytes of the file
};

struct SafetensorsFile {
    std::map<std::string, std::string> metadata;
    std::map<std::string, Tensor> tensors;
};

/// The header, or as much of it as there is at the beginning of a file of `size` bytes; its length is checked.
std::string_view safetensors_header(std::string_view beginning, std::uintmax_t size, const std::string& source);

/// Checks all that the header claims against the bytes: afterwards every tensor's data has exactly the size of its
/// shape and dtype, and the tensors tile the file. InputError otherwise.
SafetensorsFile read_safetensors_container(std::string_view bytes, const std::string& source);

/// All entries of a tensor as doubles (exactly): one value, a vector or, row by row, a matrix.
double scalar_from(const Tensor& tensor);
Vector vector_from(const Tensor& tensor);
Matrix matrix_from(const Tensor& tensor);

/// "[3, 4]"
std::string shape_text(const std::vector<std::uint64_t>& shape);

}  // namespace certicone
