// gzip, by zlib. The same text gives the same bytes: no time and no name are stored.
#pragma once

#include <string>
#include <string_view>

namespace certicone {

bool is_gzip(std::string_view bytes);
std::string gzip(std::string_view text);

/// InputError "source: …" for bytes that are cut short or damaged, and for a text of more than `limit` bytes (a small file
/// can unpack to a thousand times its size).
std::string gunzip(std::string_view bytes, const std::string& source, std::size_t limit = std::size_t{1} << 30);

}  // namespace certicone
