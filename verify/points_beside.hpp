// Where the points of a network are when none are named.
#pragma once

#include <filesystem>
#include <string>

namespace certicone::verify {

/// "dir/exp1.network.json" → "dir/exp1.points.json" or "dir/exp1.queries.json" where one is there, else nothing.
inline std::string points_beside(const std::string& network) {
    namespace fs = std::filesystem;
    const fs::path path(network);
    std::string stem = path.stem().string();
    if (stem.ends_with(".network")) stem.resize(stem.size() - std::string_view(".network").size());
    for (const char* ending : {".points.json", ".points.csv", ".points.npy", ".queries.json"}) {
        const fs::path candidate = path.parent_path() / (stem + ending);
        std::error_code ignored;
        if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    }
    return {};
}

}  // namespace certicone::verify
