#include "inference/white_box.hpp"

#include <Eigen/Cholesky>
#include <cmath>
#include <limits>

#include "inference/branch_search.hpp"

namespace certicone {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// C x ≤ h with rows of length one, so that one penalty suits all.
struct Rows {
    Matrix C;
    Vector h;
    Vector length;  ///< of the original rows; 0 for rows that are left out (zero: 0 ≤ h)

    explicit Rows(const InferenceProblem& problem)
        : C(problem.C), h(problem.h), length(Vector::Zero(problem.C.rows())) {
        for (Index i = 0; i < C.rows(); ++i) {
            length(i) = problem.C.row(i).stableNorm();
            if (length(i) == 0.0) continue;
            C.row(i) /= length(i);
            h(i) /= length(i);
        }
    }

    /// By more than rounding can do.
    bool violated(const Vector& x) const {
        if (C.rows() == 0) return false;
        const double unit = RoundingBound(16 * C.cols()).relative;
        const Vector size = C.cwiseAbs() * x.cwiseAbs() + h.cwiseAbs();
        return ((C * x - h).array() > unit * size.array()).any();
    }
    Vector multipliers(const Vector& nu) const {
        Vector mu = nu;
        for (Index i = 0; i < mu.size(); ++i)
            mu(i) = length(i) > 0.0 ? nu(i) / length(i) : 0.0;
        return mu;
    }
};

/// `network` with the constraints among the units of its last layer: f(x) + M Σ max(C_i x − h_i, 0).
Network penalised(const Network& network, const Rows& rows, double M) {
    Network result = network;
    Layer& last = result.layers.back();
    const Index before = last.units(), more = rows.C.rows();
    last.W.conservativeResize(before + more, Eigen::NoChange);
    last.W.bottomRows(more) = rows.C;
    last.b.conservativeResize(before + more);
    last.b.tail(more) = -rows.h;
    if (last.U.size() > 0) {
        last.U.conservativeResize(before + more, Eigen::NoChange);
        last.U.bottomRows(more).setZero();
    }
    result.c.conservativeResize(before + more);
    result.c.tail(more) = (rows.length.array() > 0.0).select(Vector::Constant(more, M), 0.0);
    return result;
}

/// Nothing but the constraints.
Network violations_network(const Rows& rows) {
    Network network;
    network.input_dim = rows.C.cols();
    network.layers.push_back({rows.C, Matrix(), -rows.h});
    network.c = (rows.length.array() > 0.0).cast<double>();
    network.v = Vector::Zero(network.input_dim);
    return network;
}

/// Minimises the sum of violations by proximal steps, which on a piecewise linear function end: at a point that keeps to
/// the constraints, or where the multipliers say that none does.
std::optional<Infeasibility> find_infeasibility(const InferenceProblem& problem, const Rows& rows, Index& iterations) {
    for (Index i = 0; i < rows.C.rows(); ++i)
        if (rows.length(i) == 0.0 && problem.h(i) < 0.0) {
            return Infeasibility{Vector::Unit(rows.C.rows(), i), kInfinity};
        }
    const Network network = violations_network(rows);
    Vector x = problem.y;
    double delta = 1.0;
    Infeasibility best;
    for (int k = 0; k < 30 && rows.violated(x); ++k, delta *= 0.1) {
        const WhiteBoxResult found = search_branches(proximity(network, delta, x), {});
        iterations += found.iterations;
        x = found.certificate.x;
        Vector mu = rows.multipliers(found.certificate.xi.nu[0]);
        const double radius = infeasibility_radius(problem, mu);
        if (radius > best.radius) best = {std::move(mu), radius};
    }
    if (!rows.violated(x)) return std::nullopt;
    return best;
}

WhiteBoxResult solve_constrained(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    if (problem.C.rows() == 0) return search_branches(problem, options);
    const Rows rows(problem);
    const Network& network = *problem.network;
    WhiteBoxResult result;
    if ((result.infeasible = find_infeasibility(problem, rows, result.iterations))) return result;

    const Index units = network.layers.back().units(), last = static_cast<Index>(network.layers.size()) - 1;
    const LocalState start = evaluate(network, options.start.size() > 0 ? options.start : problem.y);
    double M = 10.0 * (readout(network, canonical_selector(network, start)) + problem.gradient(start.x)).norm() + 1.0;
    WhiteBoxOptions inner = options;
    for (int k = 0; k < 16; ++k, M *= 10.0) {
        const Network with_penalty = penalised(network, rows, M);
        InferenceProblem relaxed = problem;
        relaxed.network = &with_penalty;
        relaxed.C.resize(0, problem.C.cols());
        relaxed.h.resize(0);
        WhiteBoxResult found = search_branches(relaxed, inner);
        const Index so_far = result.iterations + found.iterations;
        inner.start = found.certificate.x;
        Multipliers xi = found.certificate.xi;
        const Vector mu = rows.multipliers(xi.nu.back().tail(rows.C.rows()));
        xi.nu.back().conservativeResize(units);
        result = std::move(found);
        result.iterations = so_far;
        result.certificate = certify_inference(problem, result.certificate.point(), xi, mu);
        std::erase_if(result.kinks, [&](const auto& kink) { return kink.first == last && kink.second >= units; });
        for (Index i = 0; i < mu.size(); ++i)
            if (mu(i) > 0.0) result.active.push_back(i);
        if (!rows.violated(result.certificate.x)) break;
    }
    return result;
}

}  // namespace

WhiteBoxResult white_box_inference(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    Matrix curvature = problem.Q;
    const auto definite = [&] {
        const Eigen::LLT<Matrix> factor(curvature);
        const double least = static_cast<double>(curvature.rows()) * std::numeric_limits<double>::epsilon();
        return factor.info() == Eigen::Success && factor.rcond() > 4.0 * least;
    };
    if (definite()) return solve_constrained(problem, options);
    for (const Quadratic& module : problem.network->quadratic)
        curvature += module.alpha * module.B.transpose() * module.B;
    if (definite()) return solve_constrained(problem, options);

    WhiteBoxOptions inner = options;
    if (inner.start.size() == 0) inner.start = problem.y;
    inner.relative_gap = 0.0;  // without curvature the proof's gap is of the order of the residual, not of its square
    double delta = std::max(1e-3, 1e-3 * curvature.trace() / static_cast<double>(curvature.rows()));
    const double least_delta = 1e-2 * delta;
    WhiteBoxResult best;
    best.certificate.gap = kInfinity;
    Index iterations = 0;
    for (int k = 0; k < 60; ++k, delta = std::max(least_delta, 0.3 * delta)) {
        InferenceProblem near = problem;
        near.Q.diagonal().array() += delta;
        near.q += delta * (problem.y - inner.start);
        WhiteBoxResult found = solve_constrained(near, inner);
        iterations += found.iterations;
        if (!found.infeasible) {
            found.certificate =
                certify_inference(problem, found.certificate.point(), found.certificate.xi, found.certificate.mu);
            inner.start = found.certificate.x;
        }
        if (found.infeasible || k == 0 || found.certificate.gap < best.certificate.gap) best = std::move(found);
        best.iterations = iterations;
        if (best.infeasible || best.certificate.gap <= options.relative_gap * std::abs(best.certificate.value)) break;
    }
    return best;
}

}  // namespace certicone
