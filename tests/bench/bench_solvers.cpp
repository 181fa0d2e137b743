// Every program with every capable backend on all points of the paper's networks: accuracy against the closed forms and
// time a point. One thread; times are wall times of update, solve, measurement and reading of ξ, without the set-up.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "bench.hpp"
#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/error.hpp"
#include "verify/sessions.hpp"

namespace certicone::bench {

namespace {

struct Sample {
    Multipliers xi;
    double value = 0.0, gap = 0.0;
    bool solved = false;
};
using Solve = std::function<Sample(const Vector&)>;

double relative(double error, double size) { return size > 0.0 ? error / size : error; }

/// ‖a − b‖ / ‖b‖ over all parts together.
double relative_distance(const std::vector<Vector>& a, const std::vector<Vector>& b) {
    double error = 0.0, size = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        error += (a[k] - b[k]).squaredNorm();
        size += b[k].squaredNorm();
    }
    return relative(std::sqrt(error), std::sqrt(size));
}

void run(const std::string& program, const std::string& solver, const Network& network, const Matrix& points,
         bool relu_only, const Solve& solve) {
    double f = 0.0, nu = 0.0, p = 0.0, r = 0.0, G = 0.0, gap = 0.0;
    Index solved = 0;
    std::vector<double> times;
    Network compared = network;  // what the program holds
    if (relu_only) {
        compared.quadratic.clear();
        compared.conic.clear();
    }
    for (Index j = 0; j < points.cols(); ++j) {
        const Vector x = points.col(j);
        const LocalState state = evaluate(compared, x);
        const auto begin = std::chrono::steady_clock::now();
        Sample sample = solve(x);
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        if (relu_only) sample.xi.p.clear(), sample.xi.r.clear();
        if (sample.solved) ++solved;
        // The nearest element of D*(x): the canonical selector where x is nondegenerate.
        const Multipliers optimal = repair_to_optimal(compared, state, sample.xi);
        f = std::max(f, relative(std::abs(sample.value - state.value), std::abs(state.value)));
        nu = std::max(nu, relative_distance(sample.xi.nu, optimal.nu));
        p = std::max(p, relative_distance(sample.xi.p, optimal.p));
        r = std::max(r, relative_distance(sample.xi.r, optimal.r));
        const Vector slope = readout(compared, optimal);
        G = std::max(G, relative((readout(compared, sample.xi) - slope).norm(), slope.norm()));
        gap = std::max(gap, relative(sample.gap, std::abs(state.value)));
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    fmt::print("| {} | {} | {} | {}/{} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.3f} |\n",
               network.name, program, solver, solved, points.cols(), f, nu, p, r, G, gap, times[times.size() / 2]);
}

template <class Session>
Solve reading(Session& session) {
    return [&session](const Vector& x) {
        const verify::ScaledAnswer answer = session.solve(x);
        return Sample{answer.xi, answer.objective(answer.solution.measured.primal_objective),
                      answer.scaling->unscale_objective(answer.solution.measured.gap),
                      answer.solution.claimed.status == solvers::Status::Solved};
    };
}

bool can_take(const solvers::Backend& backend, const conic::ConicProgram& program) {
    const auto cones = backend.capabilities().cones;
    return std::all_of(program.blocks.begin(), program.blocks.end(), [&](const conic::Block& block) {
        return std::find(cones.begin(), cones.end(), block.cone) != cones.end();
    });
}

}  // namespace

void bench_solvers() {
    fmt::print("\nPrograms and backends, tolerance 1e-9 (osqp 1e-9 with polishing), one thread\n\n");
    fmt::print("| network | program | solver | solved | f | nu | p | r | G | measured gap | median ms |\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|---|---|\n");
    const solvers::Settings settings;
    for (int e = 1; e <= 4; ++e) {
        const std::string stem = fmt::format("{}/paper/exp{}", CERTICONE_DATA_DIR, e);
        const Network network = read_network(stem + ".network.json");
        const Matrix points = read_points(stem + (e == 4 ? ".queries.json" : ".points.json"), network.input_dim);
        for (const solvers::Backend* backend : solvers::backends()) {
            const std::string name(backend->name());
            if (!backend->available().ready || !backend->enabled().ready) {
                fmt::print("| {} | – | {} | not available: {} |\n", network.name, name, backend->available().reason);
                continue;
            }
            if (can_take(*backend, conic::ValueFunction(network).program())) {
                verify::ValueFunctionSession session(network, *backend, settings);
                run("value function", name, network, points, false, reading(session));
            }
            if (can_take(*backend, conic::DualProgram(network).program())) {
                verify::DualSession session(network, *backend, settings);
                run("dual", name, network, points, false, reading(session));
            }
            verify::ValueFunctionSession relu(network, conic::Parts::relu_backbone(), *backend, settings);
            run("ReLU backbone", name, network, points, true, reading(relu));
        }
        for (const char* name : {"highs+scs", "highs+clarabel"}) {
            const solvers::Backend& pair = solvers::backend(name);
            if (!pair.enabled().ready) continue;
            verify::ValueFunctionSession session(network, pair, settings);
            run("value function", name, network, points, false, reading(session));
        }
    }
}

}  // namespace certicone::bench
