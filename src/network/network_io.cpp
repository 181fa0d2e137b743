#include "network/network_io.hpp"

#include "support/file.hpp"

namespace certicone {

namespace {

/// A safetensors header begins at byte 8, after its length; the length's high byte is zero in any file that fits on a
/// disk, and JSON text never holds a zero byte. So a length whose low byte happens to be '{' or a blank does not fool.
bool looks_like_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[7] == '\0' && bytes[8] == '{'; }

}  // namespace

Network parse_network(std::string_view bytes, const std::string& source) {
    const bool named = std::filesystem::path(source).extension() == ".safetensors";
    if (bytes.empty()) fail_input(source, "empty file");
    return named || looks_like_safetensors(bytes) ? parse_safetensors(bytes, source)
                                                  : parse_network_json(bytes, source);
}

Network read_network(const std::filesystem::path& path) { return parse_network(read_file(path), path.string()); }

}  // namespace certicone
