#include "verify/environment.hpp"

#include <fmt/format.h>

#include <CLI/Version.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#ifdef CERTICONE_FLINT3
#include <flint/flint.h>
#else
#include <arb.h>
#endif

#include "solvers/mosek_runtime.hpp"
#include "support/blas.hpp"
#include "support/file.hpp"

namespace certicone::verify {

namespace {

std::string compiler() {
#if defined(__clang__)
    return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string flint() {
#ifdef CERTICONE_FLINT3
    return flint_version;
#else
    return fmt::format("{} with Arb {}", flint_version, arb_version);
#endif
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const std::size_t at = line.find(": "); at != std::string::npos) return line.substr(at + 2);
    return "unknown";
}

std::string version(int major, int minor, int patch) { return fmt::format("{}.{}.{}", major, minor, patch); }

}  // namespace

std::vector<std::pair<std::string, std::string>> environment(const CertifyOptions& options) {
    std::vector<std::pair<std::string, std::string>> entries{
        {"certicone", CERTICONE_VERSION},
        {"compiler", compiler()},
        {"flags", CERTICONE_FLAGS},
        {"cpu", processor()},
        {"eigen", version(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
        {"fmt", version(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"nlohmann_json",
         version(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
        {"cli11", CLI11_VERSION},
        {"flint", flint()},
        {"blas", blas_name()},
        {"blas_kernel", blas_kernel()},
    };
    for (const solvers::Backend* backend : solvers::backends())
        if (backend->available().ready) entries.emplace_back(backend->name(), backend->version());
    if (solvers::mosek::runtime().ready) entries.emplace_back("mosek_runtime", solvers::mosek::runtime_version());
    entries.emplace_back("seed", std::to_string(options.seed));
    entries.emplace_back("solver_tolerance", format_double(options.settings.eps_abs));
    entries.emplace_back("accuracy", options.accuracy ? format_double(*options.accuracy) : "default");
    entries.emplace_back("level", std::string(to_string(options.level)));
    entries.emplace_back("degeneracy_tolerance", format_double(options.tolerance));
    return entries;
}

}  // namespace certicone::verify
