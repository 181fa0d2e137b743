// NumPy's .npy arrays of numbers, format versions 1 to 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace certicone {

struct NpyArray {
    std::vector<std::uint64_t> shape;
    std::vector<double> values;  ///< in C order: the last index runs fastest
};

bool is_npy(std::string_view bytes);

/// Reads f8, f4, i8 and i4 of either byte order, up to two dimensions in Fortran order; InputError otherwise.
NpyArray parse_npy(std::string_view bytes, const std::string& source);

}  // namespace certicone
