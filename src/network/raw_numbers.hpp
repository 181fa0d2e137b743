// Numbers as raw bytes, as safetensors and .npy hold them: any byte order, any alignment, row-major.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "network/network.hpp"

namespace certicone {

template <class T>
T load_raw(const char* bytes, std::endian order = std::endian::little) {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes, sizeof(T));
    if (order != std::endian::native) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
}

/// IEEE binary16; every value is a double.
inline double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 0x1F;
    const int fraction = bits & 0x3FF;
    double magnitude = std::ldexp(fraction + (exponent > 0 ? 1024 : 0), std::max(exponent, 1) - 25);
    if (exponent == 0x1F) {
        magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

/// The upper half of an IEEE binary32.
inline double bfloat16_to_double(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// The product of the extents, or nothing when it does not fit.
inline std::optional<std::uint64_t> entry_count(std::span<const std::uint64_t> shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) {
        if (extent != 0 && count > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
        count *= extent;
    }
    return count;
}

/// The matrix with the given entries, read a few rows at a time: row-major sources and the column-major destination
/// then both stay in cache, whatever the size.
template <class Entry>
Matrix matrix_from_rows(Index rows, Index cols, const Entry& entry) {
    constexpr Index band = 16;
    Matrix matrix(rows, cols);
    if (matrix.size() == 0) return matrix;
    for (Index top = 0; top < rows; top += band) {
        const Index bottom = std::min(top + band, rows);
        for (Index j = 0; j < cols; ++j) {
            for (Index i = top; i < bottom; ++i)
                matrix(i, j) = entry(i, j);
        }
    }
    return matrix;
}

}  // namespace certicone
