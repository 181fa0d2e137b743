#include "solvers/mosek_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace certicone::solvers::mosek {

namespace fs = std::filesystem;

namespace {

#define CERTICONE_MOSEK_NAME(name, arguments) std::string_view("MSK_" #name),
constexpr std::array kNames{CERTICONE_MOSEK_FUNCTIONS(CERTICONE_MOSEK_NAME)};
#undef CERTICONE_MOSEK_NAME

bool supported(int major, int minor) { return (major == 10 && minor >= 2) || major == 11; }

/// libmosek64.so, .so.11.2, … in a folder; the highest name first.
std::vector<std::string> libraries_in(const fs::path& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.path().filename().string().starts_with("libmosek64.so")) files.push_back(entry.path().string());
    std::sort(files.rbegin(), files.rend());
    return files;
}

/// An installation: the folder with <version>/tools/platform/linux64x86/bin, or any folder on the way down.
std::vector<std::string> libraries_under(const fs::path& root) {
    std::vector<fs::path> versions{root};
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
        if (entry.is_directory(error)) versions.push_back(entry.path());
    std::sort(versions.begin() + 1, versions.end(), std::greater<>());
    std::vector<std::string> files;
    for (const fs::path& version : versions)
        for (const char* below : {"", "bin", "lib", "tools/platform/linux64x86/bin", "tools/platform/linuxaarch64/bin"})
            for (std::string& file : libraries_in(version / below))
                files.push_back(std::move(file));
    return files;
}

std::string variable(const char* name) {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, before any thread
    return text == nullptr ? "" : text;
}

Library find() {
    if (const std::string file = variable("CERTICONE_MOSEK_LIBRARY"); !file.empty()) return load(file);
    std::vector<std::string> candidates;
    for (const char* name : {"MOSEK_ROOT", "MOSEK_DIR"})
        if (const std::string root = variable(name); !root.empty())
            for (std::string& file : libraries_under(root))
                candidates.push_back(std::move(file));
    for (std::string& file : libraries_in(fs::path(CERTICONE_DEPS_DIR) / "mosek"))
        candidates.push_back(std::move(file));
    for (const char* name :
         {"libmosek64.so", "libmosek64.so.11.2", "libmosek64.so.11.1", "libmosek64.so.11.0", "libmosek64.so.10.2"})
        candidates.emplace_back(name);

    Library wrong;  // the first that is there but cannot be used: its reason is worth telling
    for (const std::string& file : candidates) {
        Library loaded = load(file);
        if (loaded.found.ready) return loaded;
        if (file.find('/') != std::string::npos && wrong.found.reason.empty()) wrong = std::move(loaded);
    }
    if (wrong.found.reason.empty())
        wrong.found.reason =
            "libmosek64 not found: 'make deps' fetches it, or point MOSEK_ROOT at an installation of MOSEK 10.2 or 11";
    return wrong;
}

}  // namespace

std::string Library::describe(int code) const {
    if (code == 0) return {};
    std::array<char, 1024> symbol{}, text{};
    getcodedesc(code, symbol.data(), text.data());
    symbol.back() = text.back() = '\0';
    return fmt::format("{}({}): {}", symbol.data(), code, text.data());
}

std::span<const std::string_view> function_names() { return kNames; }

Library load(const std::string& file) {
    Library result;
    const auto refuse = [&](std::string reason) {
        Library none;
        none.found.reason = std::move(reason);
        return none;
    };
    // Kept open for good: MOSEK leaves threads and exit handlers behind.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* error = dlerror();
        return refuse(fmt::format("libmosek64 cannot be loaded: {}", error == nullptr ? file.c_str() : error));
    }
#define CERTICONE_MOSEK_LOOK_UP(name, arguments)                                   \
    result.name = reinterpret_cast<int(*) arguments>(dlsym(handle, "MSK_" #name)); \
    if (result.name == nullptr) return refuse(fmt::format("{} has no symbol MSK_{}", file, #name));
    CERTICONE_MOSEK_FUNCTIONS(CERTICONE_MOSEK_LOOK_UP)
#undef CERTICONE_MOSEK_LOOK_UP
    std::int32_t major = 0, minor = 0, revision = 0;
    if (result.getversion(&major, &minor, &revision) != 0) return refuse(fmt::format("{} has no version", file));
    result.version = fmt::format("{}.{}.{}", major, minor, revision);
    if (!supported(major, minor))
        return refuse(fmt::format("{} is MOSEK {}; versions 10.2 and 11 are supported", file, result.version));
    result.found = {true, file};
    return result;
}

const Library& library() {
    static const Library found = find();
    return found;
}

}  // namespace certicone::solvers::mosek
