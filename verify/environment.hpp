// What a result depends on beside its input.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "verify/examiner.hpp"

namespace certicone::verify {

/// Versions of the program, its libraries and every solver that is there, compiler, flags, processor, and the options
/// that matter. No times, no machine's paths: two runs have the same.
std::vector<std::pair<std::string, std::string>> environment(const CertifyOptions& options);

}  // namespace certicone::verify
