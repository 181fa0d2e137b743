#include "network/npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "network/raw_numbers.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
};

/// Reads the header, a Python dictionary of three known entries:
///   {'descr': '<f8', 'fortran_order': False, 'shape': (30, 10), }
class HeaderReader {
  public:
    HeaderReader(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

    Header read() {
        Header header;
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr" && !header.descr) {
                header.descr = description();
            } else if (key == "fortran_order" && !header.fortran_order) {
                header.fortran_order = boolean();
            } else if (key == "shape" && !header.shape) {
                header.shape = extents();
            } else {
                fail("unexpected key '" + one_line(key, 40) + "'");
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_blanks();
        if (!rest_.empty()) fail("text after the dictionary");
        if (!header.descr || !header.fortran_order || !header.shape) fail("descr, fortran_order or shape is missing");
        return header;
    }

  private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }

    bool accept(char character) {
        skip_blanks();
        if (!rest_.starts_with(character)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char character) {
        if (!accept(character)) fail(std::string("expected '") + character + "'");
    }

    bool accept_word(std::string_view word) {
        skip_blanks();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::string quoted() {
        const char quote = accept('"') ? '"' : '\'';
        if (quote == '\'') expect('\'');
        const std::size_t end = rest_.find(quote);
        if (end == rest_.npos) fail("unterminated string");
        std::string text(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return text;
    }

    std::string description() {
        if (accept('[')) fail("structured dtype, expected one number type such as '<f8'");
        return quoted();
    }

    bool boolean() {
        if (accept_word("True")) return true;
        if (accept_word("False")) return false;
        fail("fortran_order is neither True nor False");
    }

    std::vector<std::uint64_t> extents() {
        std::vector<std::uint64_t> shape;
        expect('(');
        while (!accept(')')) {
            skip_blanks();
            std::uint64_t extent = 0;
            const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
            if (error != std::errc{}) fail("shape is not a tuple of integers >= 0");
            rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
            shape.push_back(extent);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }

    [[noreturn]] void fail(const std::string& message) const { fail_input(source_, ".npy header: " + message); }

    std::string_view rest_;
    const std::string& source_;
};

/// The header and the data after it.
Header read_header(std::string_view bytes, const std::string& source, std::string_view& data) {
    if (bytes.size() < magic.size() + 2) fail_input(source, "truncated .npy file");
    const int version = static_cast<unsigned char>(bytes[magic.size()]);
    if (version < 1 || version > 3) {
        fail_input(source, ".npy format version " + std::to_string(version) + ", expected 1, 2 or 3");
    }
    std::string_view rest = bytes.substr(magic.size() + 2);
    const std::size_t width = version == 1 ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
    if (rest.size() < width) fail_input(source, "truncated .npy file");
    const std::size_t length =
        version == 1 ? load_raw<std::uint16_t>(rest.data()) : load_raw<std::uint32_t>(rest.data());
    rest.remove_prefix(width);
    if (length > rest.size()) {
        fail_input(source, ".npy header of " + std::to_string(length) + " bytes claimed, but only " +
                               std::to_string(rest.size()) + " follow");
    }
    data = rest.substr(length);
    return HeaderReader(rest.substr(0, length), source).read();
}

template <class T>
void convert(std::string_view data, std::endian order, std::vector<double>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<double>(load_raw<T>(data.data() + k * sizeof(T), order));
    }
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(magic); }

NpyArray parse_npy(std::string_view bytes, const std::string& source) {
    std::string_view data;
    Header header = read_header(bytes, source, data);
    const std::string& descr = *header.descr;
    const std::string_view type = std::string_view(descr).substr(std::min<std::size_t>(descr.size(), 1));
    const bool known = type == "f8" || type == "f4" || type == "i8" || type == "i4";
    if (!known || (descr[0] != '<' && descr[0] != '>')) {
        fail_input(source, ".npy dtype '" + one_line(descr, 40) + "', expected <f8, <f4, <i8 or <i4 (or with >)");
    }
    const std::endian order = descr[0] == '<' ? std::endian::little : std::endian::big;
    const std::size_t size = type[1] == '8' ? 8 : 4;

    NpyArray array{std::move(*header.shape), {}};
    const std::optional<std::uint64_t> count = entry_count(array.shape);
    if (!count || data.size() % size != 0 || data.size() / size != *count) {
        fail_input(source, ".npy data has " + std::to_string(data.size()) + " bytes, which is not what its shape and " +
                               "dtype " + descr + " say");
    }
    array.values.resize(*count);
    if (type == "f8") convert<double>(data, order, array.values);
    if (type == "f4") convert<float>(data, order, array.values);
    if (type == "i8") convert<std::int64_t>(data, order, array.values);
    if (type == "i4") convert<std::int32_t>(data, order, array.values);

    if (*header.fortran_order && array.shape.size() > 2) {
        fail_input(source, ".npy array of " + std::to_string(array.shape.size()) + " dimensions, expected at most 2");
    }
    if (*header.fortran_order && array.shape.size() == 2 && !array.values.empty()) {
        // Columns lie one after another: the transpose, read as rows, is what we want column-major.
        const auto rows = static_cast<Index>(array.shape[0]);
        const auto cols = static_cast<Index>(array.shape[1]);
        const double* values = array.values.data();
        const Matrix transposed = matrix_from_rows(cols, rows, [&](Index j, Index i) { return values[j * rows + i]; });
        array.values.assign(transposed.data(), transposed.data() + transposed.size());
    }
    return array;
}

}  // namespace certicone
