// Every program of a network's points with its known optimal pair, for the tests of export.
#pragma once

#include <filesystem>
#include <functional>

#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/draws.hpp"
#include "verify/known_solution.hpp"
#include "verify/points_beside.hpp"

namespace certicone::test {

/// All networks of data/suite and data/paper.
inline std::vector<std::string> data_networks() {
    std::vector<std::string> files;
    for (const char* folder : {"/suite", "/paper"})
        for (const auto& entry : std::filesystem::directory_iterator(std::string(CERTICONE_DATA_DIR) + folder))
            if (entry.path().string().ends_with(".network.json")) files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

struct NamedProgram {
    std::string name, program;
    verify::KnownProgram known;
};

/// The six programs at one point; the direction of max-readout is drawn.
inline std::vector<NamedProgram> known_programs(const Network& network, const Vector& x, Index index = 0) {
    const LocalState state = evaluate(network, x);
    Generator random(static_cast<std::uint64_t>(index));
    const Vector direction = draw_direction(network.input_dim, random);
    std::vector<NamedProgram> programs;
    const auto add = [&](const char* program, verify::KnownProgram known) {
        programs.push_back({network.name + "." + program + "." + std::to_string(index), program, std::move(known)});
    };
    add("value", verify::known_value(network, state));
    add("dual", verify::known_dual(network, state));
    add("relu", verify::known_value(network, state, true));
    add("max-readout", verify::known_max_readout(network, state, direction));
    add("min-norm", verify::known_min_norm(network, state));
    add("inference", verify::known_inference(network, 1.0, x));
    return programs;
}

/// Calls `use(network, x, index)` for up to `limit` points of every network.
inline void for_each_point(Index limit, const std::function<void(const Network&, const Vector&, Index)>& use) {
    for (const std::string& file : data_networks()) {
        const Network network = read_network(file);
        const Matrix points = read_points(verify::points_beside(file), network.input_dim);
        for (Index j = 0; j < std::min(limit, points.cols()); ++j)
            use(network, points.col(j), j);
    }
}

}  // namespace certicone::test
