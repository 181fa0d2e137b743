#pragma once
#include "verify/export_instance.hpp"
namespace certicone::verify {
Index export_library(const ExportOptions& options, std::uint64_t seed);
}
