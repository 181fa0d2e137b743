// Networks in files: JSON (format soc-icnn/1) and safetensors, with the same content and the same names.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "network/network.hpp"

namespace certicone {

inline constexpr std::string_view network_format = "soc-icnn/1";

/// Reads either format, told apart by content (the extension .safetensors decides by itself). Like all readers here it
/// returns only networks that validate(), and throws InputError otherwise.
Network read_network(const std::filesystem::path& path);

/// The bytes of a network file. What cannot be one is refused by its beginning, whatever its size.
std::string read_network_bytes(const std::filesystem::path& path);

/// The same from the bytes of a file already read; `source` is its path.
Network parse_network(std::string_view bytes, const std::string& source);

/// `source` stands before error messages, and its stem names a network without a name.
Network parse_network_json(std::string_view text, const std::string& source);
Network parse_safetensors(std::string_view bytes, const std::string& source);

/// Every double is written so that it reads back to the same bits. The write_ functions validate() first: what they
/// write can be read.
std::string to_json(const Network& network);
void write_network_json(const Network& network, const std::filesystem::path& path);
void write_safetensors(const Network& network, const std::filesystem::path& path);

}  // namespace certicone
