// Speed of the batched value and gradient, as a fraction of the dgemm rate of the same machine, BLAS, thread and run;
// and the cost of a Hessian. `make bench` runs it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "bench.hpp"
#include "geometry/autodiff.hpp"
#include "geometry/batch.hpp"
#include "geometry/branch.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/blas.hpp"

namespace certicone::bench {

namespace {

double seconds(const std::function<void()>& action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Seconds of one call, over so many calls that the clock does not matter.
double seconds_a_call(const std::function<void()>& action) {
    const double once = seconds(action);
    const int calls = std::clamp(static_cast<int>(0.05 / std::max(once, 1e-9)), 1, 100000);
    return seconds([&] {
               for (int call = 0; call < calls; ++call)
                   action();
           }) /
           calls;
}

Matrix random_matrix(Index rows, Index cols, std::mt19937_64& random, double scale) {
    std::normal_distribution<double> normal(0.0, scale);
    return Matrix::NullaryExpr(rows, cols, [&] { return normal(random); });
}

/// Width 512 × depth 6, d0 = 64, two quadratic and two conic modules of 64 rows; weights scaled to keep sizes level.
Network large_network(std::mt19937_64& random) {
    constexpr Index d0 = 64, width = 512, depth = 6;
    Network network;
    network.name = "512 x 6";
    network.input_dim = d0;
    for (Index l = 0; l < depth; ++l) {
        Layer layer{random_matrix(width, d0, random, 0.125), {}, random_matrix(width, 1, random, 0.125)};
        if (l > 0) layer.U = random_matrix(width, width, random, 1.0 / width).cwiseAbs();
        network.layers.push_back(std::move(layer));
    }
    network.c = random_matrix(width, 1, random, 1.0 / width).cwiseAbs();
    network.v = random_matrix(d0, 1, random, 0.125);
    for (int module = 0; module < 2; ++module) {
        network.quadratic.push_back({0.5, random_matrix(d0, d0, random, 0.125), random_matrix(d0, 1, random, 0.125)});
        network.conic.push_back({0.5, random_matrix(d0, d0, random, 0.125), random_matrix(d0, 1, random, 0.125)});
    }
    validate(network);
    return network;
}

/// Multiplications and additions of the products that value and gradient need: each weight once forward, once backward.
double flops_a_point(const Network& network) {
    double weights = 0.0;
    for (const Layer& layer : network.layers)
        weights += static_cast<double>(layer.W.size() + layer.U.size());
    for (const Quadratic& module : network.quadratic)
        weights += static_cast<double>(module.B.size());
    for (const Conic& module : network.conic)
        weights += static_cast<double>(module.A.size());
    return 4.0 * weights;
}

class Dgemm {
  public:
    explicit Dgemm(std::mt19937_64& random)
        : a_(random_matrix(size, size, random, 1.0)), b_(random_matrix(size, size, random, 1.0)), c_(size, size) {}
    double rate() {
        return 2.0 * size * size * size / seconds([&] { c_.noalias() = a_ * b_; });
    }

  private:
    static constexpr Index size = 1024;
    Matrix a_, b_, c_;
};

void measure(const Network& network, const Matrix& points, Dgemm& dgemm) {
    const double count = static_cast<double>(points.cols());
    BatchEvaluator batch(network);
    BatchResult result;
    const auto batched = [&] { batch.evaluate(points, result); };
    double best = 1e300, peak = 0.0;
    for (int repetition = 0; repetition < 15; ++repetition) {  // interleaved, so that both see the same machine
        peak = std::max(peak, dgemm.rate());
        best = std::min(best, seconds_a_call(batched));
    }
    const double rate = flops_a_point(network) * count / best;
    fmt::print("{} (d0 = {}, {} units, {} parameters), {} points\n", network.name, network.input_dim,
               total_units(network), parameter_count(network), points.cols());
    fmt::print("  dgemm 1024 x 1024 x 1024                  {:10.2f} GFLOP/s\n", 1e-9 * peak);
    fmt::print(
        "  batched value + gradient                  {:10.2f} GFLOP/s   {:8.3f} us a point   fraction of dgemm "
        "{:.2f}\n",
        1e-9 * rate, 1e6 * best / count, rate / peak);
    fmt::print("  points that needed exact signs            {:10}\n", result.exact.size());

    const Index single_points = std::min<Index>(points.cols(), 100);
    double sum = 0.0;
    const double single = seconds([&] {
                              for (Index j = 0; j < single_points; ++j) {
                                  const LocalState state = evaluate(network, points.col(j));
                                  sum += readout(network, canonical_selector(network, state)).sum();
                              }
                          }) /
                          static_cast<double>(single_points);
    fmt::print("  one evaluate() a point                    {:10.3f} us a point, {:.1f} times the batch\n",
               1e6 * single, single * count / best);

    const Curvature curvature(network);
    const LocalState state = evaluate(network, points.col(0));
    Matrix hessian;
    const double closed = seconds_a_call([&] { curvature.hessian(state, hessian); });
    fmt::print("  Hessian, O(d0^2) a conic module           {:10.3f} us a point\n", 1e6 * closed);
    const double oracle = seconds([&] { sum += autodiff_hessian(network, state.x).sum(); });
    fmt::print("  Hessian by automatic differentiation      {:10.0f} us a point\n", 1e6 * oracle);
    if (!std::isfinite(sum)) fmt::print("  the sums are not finite\n");
}

}  // namespace

void bench_batch() {
    fmt::print("BLAS: {}, kernels: {}\n", blas_name(), blas_kernel());
    std::mt19937_64 random(1);
    Dgemm dgemm(random);
    const Network small = read_network(CERTICONE_DATA_DIR "/paper/exp1.network.json");
    const Matrix drawn = read_points(CERTICONE_DATA_DIR "/paper/exp1.points.json", small.input_dim);
    measure(small, drawn.replicate(1, 4), dgemm);
    const Network large = large_network(random);
    measure(large, random_matrix(large.input_dim, 1000, random, 1.0), dgemm);
}

}  // namespace certicone::bench
