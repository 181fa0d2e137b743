// Cost of exact certificates and of their check against width and depth, and of f(x) in doubles, balls and exact numbers.
#include <fmt/format.h>

#include <ctime>
#include <string>

#include "bench.hpp"
#include "geometry/ball_bounds.hpp"
#include "network/network_io.hpp"
#include "support/draws.hpp"
#include "support/sha256.hpp"
#include "verify/certificate.hpp"
#include "verify/certify.hpp"
#include "verify/check/check.hpp"

namespace certicone::bench {

namespace {

Network draw(Index inputs, Index width, Index depth, Generator& random) {
    Network network;
    network.name = "bench";
    network.input_dim = inputs;
    const auto normal = [&](Index rows, Index cols) {
        return Matrix::NullaryExpr(rows, cols, [&](Index, Index) { return draw_normal(random); }).eval();
    };
    for (Index l = 0; l < depth; ++l)
        network.layers.push_back(
            {normal(width, inputs),
             l > 0 ? Matrix(normal(width, width).cwiseAbs() / static_cast<double>(width)) : Matrix(),
             normal(width, 1)});
    network.c = normal(width, 1).cwiseAbs();
    network.v = normal(inputs, 1);
    network.quadratic = {{0.5, normal(inputs, inputs), normal(inputs, 1)}};
    network.conic = {{0.5, normal(inputs, inputs), normal(inputs, 1)}};
    return network;
}

/// Milliseconds of processor time a call.
template <class Work>
double time_of(int calls, const Work& work) {
    const std::clock_t begin = std::clock();
    for (int k = 0; k < calls; ++k)
        work(k);
    return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / calls;
}

}  // namespace

void bench_certificates() {
    fmt::print("\nExact certificates (all claims of the closed forms, 64 bits), one core, ms a point\n\n");
    fmt::print("| inputs | width | depth | f in doubles | f in balls | f exactly | certificate | check | kB |\n");
    fmt::print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    Generator random(1);
    const auto row = [&](Index inputs, Index width, Index depth) {
        const Network network = draw(inputs, width, depth, random);
        const std::string bytes = to_json(network), hash = sha256(bytes);
        constexpr int count = 5;
        const Matrix points = verify::sample_points(inputs, count, 1);
        const ExactCurvature curvature(network);
        const std::vector<Vector> directions{draw_direction(inputs, random)};
        double sum = 0.0;
        const double doubles =
            time_of(200, [&](int k) { sum += value<double>(network, Vector(points.col(k % count))); });
        const double balls = time_of(count, [&](int k) { sum += value_ball(network, points.col(k)).lower(); });
        const double exact = time_of(
            count, [&](int k) { sum += enclose_value(exact_point(network, points.col(k)), 64).lower.to_double(); });
        std::vector<std::string> parts;
        const double written = time_of(count, [&](int k) {
            const Vector x = points.col(k);
            parts.push_back(verify::certificate_point(exact_point(network, x), x, curvature, directions, {}, 64));
        });
        const std::string text = verify::certificate(hash, 64, parts);
        check::Verdict verdict;
        const double checked = time_of(1, [&](int) { verdict = check::check(text, bytes); }) / count;
        fmt::print("| {} | {} | {} | {:.4f} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} |{}\n", inputs, width, depth,
                   doubles, balls, exact, written, checked, static_cast<double>(text.size()) / 1e3 / count,
                   verdict.verified && sum != 0.0 ? "" : " NOT VERIFIED");
    };
    for (const Index width : {16, 32, 64, 128, 256})
        row(20, width, 4);
    for (const Index depth : {1, 2, 4, 8, 16, 32})
        row(20, 64, depth);
    for (const Index inputs : {5, 10, 20, 40})
        row(inputs, 64, 4);
}

}  // namespace certicone::bench
