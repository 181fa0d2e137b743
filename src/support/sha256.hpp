// SHA-256 (FIPS 180-4): names the exact bytes a report speaks about.
#pragma once

#include <string>
#include <string_view>

namespace certicone {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace certicone
