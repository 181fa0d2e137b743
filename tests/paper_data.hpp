// The paper's four networks with their points.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "network/network_io.hpp"
#include "network/points.hpp"

namespace certicone::test {

struct PaperData {
    Network network;
    Matrix points;  ///< or queries
};

inline PaperData paper_data(int experiment) {
    const std::string stem = fmt::format("{}/paper/exp{}", CERTICONE_DATA_DIR, experiment);
    PaperData result{read_network(stem + ".network.json"), {}};
    for (const char* ending : {".points.json", ".queries.json"})
        if (std::filesystem::exists(stem + ending))
            result.points = read_points(stem + ending, result.network.input_dim);
    REQUIRE(result.points.cols() > 0);
    return result;
}

}  // namespace certicone::test
