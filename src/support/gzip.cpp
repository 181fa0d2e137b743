#include "support/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "support/file.hpp"

namespace certicone {

namespace {

constexpr int kGzip = 15 + 16;  // window bits, and "gzip" in place of zlib's own wrapping

/// zlib counts in 32 bits: hands over what is left of `bytes`.
void feed(z_stream& stream, std::string_view& bytes) {
    if (stream.avail_in > 0) return;
    const std::size_t count = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(count);
    bytes.remove_prefix(count);
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string gzip(std::string_view text) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
    std::string packed;
    std::array<char, 1 << 16> buffer;
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        feed(stream, text);
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
        stream.avail_out = buffer.size();
        code = deflate(&stream, text.empty() ? Z_FINISH : Z_NO_FLUSH);
        packed.append(buffer.data(), buffer.size() - stream.avail_out);
    }
    deflateEnd(&stream);
    return packed;
}

std::string gunzip(std::string_view bytes, const std::string& source, std::size_t limit) {
    std::string text;
    std::array<char, 1 << 16> buffer;
    while (!bytes.empty()) {  // a file may hold several members, one after the other
        z_stream stream{};
        if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
        int code = Z_OK;
        while (code == Z_OK) {
            feed(stream, bytes);
            stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
            stream.avail_out = buffer.size();
            code = inflate(&stream, Z_NO_FLUSH);
            text.append(buffer.data(), buffer.size() - stream.avail_out);
            if (text.size() > limit) break;
        }
        bytes = {bytes.data() - stream.avail_in, bytes.size() + stream.avail_in};
        inflateEnd(&stream);
        if (text.size() > limit)
            fail_input(source, "unpacks to more than " + std::to_string(limit) + " bytes, which is the limit");
        if (code == Z_BUF_ERROR) fail_input(source, "the compressed file is cut short");
        if (code != Z_STREAM_END) fail_input(source, "not a valid gzip file");
    }
    return text;
}

}  // namespace certicone
