// One libFuzzer program for all targets: the name by which it is called, fuzz_NAME, says which (tests/fuzz/CMakeLists.txt).
#include <cstdint>
#include <filesystem>

#include "targets.hpp"

namespace {
void (*read_bytes)(std::string_view) = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int*, char*** argv) {
    const std::string called = std::filesystem::path((*argv)[0]).filename().string();
    for (const certicone::fuzz::Target& target : certicone::fuzz::targets)
        if (called == std::string("fuzz_") + target.name) read_bytes = target.read;
    certicone::fuzz::demand(read_bytes != nullptr, "a target of that name");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_bytes({reinterpret_cast<const char*>(data), size});
    return 0;
}
