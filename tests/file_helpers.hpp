// What the tests of readers and writers share.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "support/error.hpp"

namespace certicone::test {

/// A folder of its own, gone with the object.
struct ScratchFolder {
    std::filesystem::path path;

    ScratchFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "certicone-XXXXXX").string();
        path = ::mkdtemp(pattern.data());
    }
    ~ScratchFolder() { std::filesystem::remove_all(path); }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    std::filesystem::path operator/(std::string_view name) const { return path / name; }
    std::ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(path), std::filesystem::directory_iterator());
    }
};

/// The message of the InputError that `action` must throw: one line of bounded length.
inline std::string input_error(const std::function<void()>& action) {
    try {
        action();
    } catch (const InputError& error) {
        const std::string message = error.what();
        CHECK(message.find_first_of("\n\r") == std::string::npos);
        CHECK(message.size() < 1000);
        return message;
    }
    FAIL_CHECK("no InputError was thrown");
    return {};
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Damages `valid` in `rounds` ways (bytes changed, runs removed or doubled, the end cut) and lets `read` loose on
/// each: it may return or throw InputError, nothing else.
inline void fuzz(const std::string& valid, int rounds, const std::function<void(const std::string&)>& read) {
    std::mt19937 random(20240607);
    const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
    using namespace std::string_view_literals;
    constexpr std::string_view telling = "{}[]\",:-+.eE019 \n\t#;'()<>fi\\\0\xFF\x80"sv;
    int refused = 0;
    for (int round = 0; round < rounds; ++round) {
        std::string damaged = valid;
        const std::size_t kind = below(4);
        const std::size_t at = below(damaged.size());
        const std::size_t length = 1 + below(8);
        if (kind == 0) damaged.resize(at);
        if (kind == 1) damaged.erase(at, length);
        if (kind == 2) damaged.insert(at, damaged.substr(at, length));
        for (std::size_t flip = kind == 0 ? 0 : 1 + below(3); flip > 0 && !damaged.empty(); --flip) {
            char& byte = damaged[below(std::min<std::size_t>(damaged.size(), below(2) == 0 ? 400 : damaged.size()))];
            byte = below(2) == 0 ? telling[below(telling.size())] : static_cast<char>(byte ^ (1 << below(8)));
        }
        try {
            read(damaged);
        } catch (const InputError& error) {
            ++refused;
            REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
        } catch (const std::exception& error) {
            FAIL("round " << round << " threw something other than InputError: " << error.what());
        }
    }
    CHECK(refused > 0);
}

/// Any finite double: all exponents, subnormals, both zeros.
inline double any_double(std::mt19937_64& random) {
    constexpr double special[] = {0.0,   -0.0, 5e-324, -5e-324, 2.2250738585072009e-308,
                                  1e308, 0.1,  1e22,   1e15,    -1.7976931348623157e308};
    if (random() % 4 == 0) return special[random() % std::size(special)];
    while (true) {
        const double value = std::bit_cast<double>(random());
        if (std::isfinite(value)) return value;
    }
}

inline bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

/// A safetensors file of the given header and data.
inline std::string safetensors_bytes(const std::string& header, const std::string& data) {
    std::string bytes;
    for (int shift = 0; shift < 64; shift += 8) {
        bytes += static_cast<char>(header.size() >> shift & 0xFF);
    }
    return bytes + header + data;
}

/// The values as they lie in memory.
template <class T>
std::string raw(std::initializer_list<T> values, bool reversed = false) {
    std::string bytes;
    for (const T& value : values) {
        std::string entry(reinterpret_cast<const char*>(&value), sizeof(T));
        if (reversed) std::reverse(entry.begin(), entry.end());
        bytes += entry;
    }
    return bytes;
}

}  // namespace certicone::test
