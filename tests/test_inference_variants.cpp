// What leaves the mathematics alone and changes the rounding changes no verdict of inference: variants of the suite's
// networks (inference_variants.hpp), and problems that once stayed open on one processor and not on another.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>

#include "inference/queries.hpp"
#include "inference/white_box.hpp"
#include "inference_variants.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"

using namespace certicone;
using namespace certicone::test;

TEST_CASE("inference: variants of the suite's networks close alike, to the same minimum") {
    std::mt19937_64 random(11);
    int count = 0;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(CERTICONE_DATA_DIR "/suite"))
        if (entry.path().string().ends_with(".network.json")) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
        const Network network = read_network(file);
        const std::string stem = file.string().substr(0, file.string().size() - std::string(".network.json").size());
        const Matrix points = read_points(stem + ".points.json", network.input_dim);
        const double beta = std::pow(10.0, 2 * (count % 3) - 2);
        const InferenceProblem problem = proximity(network, beta, points.col(count % points.cols()));
        const InferenceCertificate first = white_box_inference(problem).certificate;
        INFO(network.name, " beta ", beta, " query ", count % points.cols());
        CHECK(closed(problem, first, 1e-10) != Closed::open);
        for (int k = 0; k < 3; ++k, ++count) {
            const InferenceVariant variant = inference_variant(problem, random);
            std::fesetround(variant.rounding);
            const InferenceCertificate other = white_box_inference(variant.at()).certificate;
            std::fesetround(FE_TONEAREST);
            INFO("variant ", k, ": F ", other.value, ", gap ", other.gap, ", first ", first.value, ", gap ", first.gap);
            CHECK(closed(variant.at(), other, 1e-10) != Closed::open);
            const double error = std::abs(other.value / variant.factor - first.value);
            const double rounding = 1e-15 * (std::abs(first.value) + inference_size(problem, first.x));
            CHECK(error <= first.gap + other.gap / variant.factor + rounding);
        }
    }
    CHECK(count >= 120);
}

TEST_CASE("inference: queries that stayed open, or open under some kernels alone, close") {
    const std::string folder = CERTICONE_TESTS_DIR "/inference_cases/";
    for (const std::string name : {"open_107", "open_422"}) {
        const Network network = read_network(folder + name + ".network.json");
        const InferenceQueries queries = read_queries(folder + name + ".queries.json", network, std::nullopt);
        for (Index j = 0; j < queries.queries.cols(); ++j) {
            const InferenceProblem problem = queries.at(j);
            const WhiteBoxResult result = white_box_inference(problem);
            INFO(name, " query ", j, " F ", result.certificate.value, " gap ", result.certificate.gap);
            CHECK(closed(problem, result.certificate, 1e-10) == Closed::proved);
        }
    }
}
