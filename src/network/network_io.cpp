#include "network/network_io.hpp"

#include "network/json_tree.hpp"
#include "network/safetensors.hpp"
#include "support/file.hpp"

namespace certicone {

namespace {

/// A safetensors header begins at byte 8, after its length; the length's high byte is zero in any file that fits on a
/// disk, and JSON text never holds a zero byte. So a length whose low byte happens to be '{' or a blank does not fool.
bool looks_like_safetensors(std::string_view bytes) { return bytes.size() > 8 && bytes[7] == '\0' && bytes[8] == '{'; }

bool is_safetensors(std::string_view beginning, const std::string& source) {
    return std::filesystem::path(source).extension() == ".safetensors" || looks_like_safetensors(beginning);
}

/// Says which way leads from what people have to a network file.
void refuse_other_formats(std::string_view beginning, const std::string& source) {
    const std::string extension = std::filesystem::path(source).extension().string();
    if (extension == ".onnx")
        fail_input(source, "ONNX is not read; data/convert_torch.py makes a network file of a torch checkpoint");
    if (beginning.starts_with("PK\x03\x04") || beginning.starts_with("\x80\x02") || extension == ".pt" ||
        extension == ".pth" || extension == ".ckpt")
        fail_input(source, "torch checkpoints are not read; data/convert_torch.py makes a network file of one");
}

}  // namespace

Network parse_network(std::string_view bytes, const std::string& source) {
    if (bytes.empty()) fail_input(source, "empty file");
    if (is_safetensors(bytes, source)) return parse_safetensors(bytes, source);
    refuse_other_formats(bytes, source);
    return parse_network_json(bytes, source);
}

std::string read_network_bytes(const std::filesystem::path& path) {
    const std::string source = path.string();
    return read_file(path, [&](std::string_view beginning, std::uintmax_t size) {
        if (is_safetensors(beginning, source))
            return refuse_binary(safetensors_header(beginning, size, source), source + ": safetensors header");
        refuse_other_formats(beginning, source);
        refuse_binary(beginning, source);
    });
}

Network read_network(const std::filesystem::path& path) {
    return parse_network(read_network_bytes(path), path.string());
}

}  // namespace certicone
