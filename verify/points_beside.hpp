// Names of what belongs to a network file, and where its points are when none are named.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace certicone::verify {

/// "dir/exp1.network.json" → "exp1".
inline std::string network_stem(const std::string& network) {
    std::string name = std::filesystem::path(network).stem().string();
    if (name.ends_with(".network")) name.resize(name.size() - std::string_view(".network").size());
    return name;
}

/// "dir/exp1.network.json" → "dir/exp1.points.json" or "dir/exp1.queries.json" where one is there, else nothing.
inline std::string points_beside(const std::string& network) {
    namespace fs = std::filesystem;
    const fs::path path(network);
    for (const char* ending : {".points.json", ".points.csv", ".points.npy", ".queries.json"}) {
        const fs::path candidate = path.parent_path() / (network_stem(network) + ending);
        std::error_code ignored;
        if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
    return {};
}

}  // namespace certicone::verify
