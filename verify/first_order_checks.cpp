#include "verify/first_order_checks.hpp"

#include <fmt/format.h>

#include "conic/scaling.hpp"
#include "geometry/autodiff.hpp"
#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

const std::string kClosedForm = "closed form";

/// What rounding can do to slopeᵀdifference, beside the slope's own rounding.
double rounding_of_product(const Vector& slope, const Vector& from, const Vector& to) {
    const RoundingBound bound(2 * slope.size());
    return bound.relative * slope.cwiseAbs().dot(from.cwiseAbs() + to.cwiseAbs()) + bound.absolute;
}

}  // namespace

Finding check_subgradient(const Point& point, std::span<const Multipliers> optimal) {
    Worst worst;
    const Vector wrong = rounding_of_gradient(point.network, point.state);
    const auto check = [&](const Multipliers& xi, const std::string& name) {
        const Vector slope = point.subject.readout(point.network, xi);
        for (std::size_t k = 0; k < point.neighbours.size(); ++k) {
            const auto& [there, rounding] = point.neighbours[k];
            const Vector difference = there.x - point.state.x;
            const double above = point.state.value + slope.dot(difference) - there.value;
            const double bound = point.rounding + rounding + wrong.dot(difference.cwiseAbs()) +
                                 rounding_of_product(slope, point.state.x, there.x);
            worst.offer(above, bound, [&] { return fmt::format("{}, neighbour {}", name, k); });
        }
    };
    check(point.canonical, "canonical");
    for (std::size_t k = 0; k < optimal.size(); ++k)
        check(optimal[k], fmt::format("element {}", k));
    return worst.finding("theorem2.subgradient", kClosedForm, "rounding of f and G");
}

Finding check_directional(const Point& point) {
    Worst worst;
    const Network& network = point.network;
    const Vector wrong = rounding_of_gradient(network, point.state);
    const double scale = 1.0 + norm<double>(point.state.x);
    bool stepped = false;
    for (std::size_t k = 0; k < point.directions.size(); ++k)
        for (const double length : {1e-2, 1e-5}) {
            const auto step = short_step(point, point.directions[k], length * scale);
            if (!step) continue;
            stepped = true;
            const Vector& difference = step->difference;
            double expected = point.subject.directional_derivative(network, point.state, difference), rest = 0.0;
            for (const Quadratic& module : network.quadratic)
                expected += 0.5 * module.alpha * (module.B * difference).squaredNorm();
            for (std::size_t g = 0; g < network.conic.size(); ++g)
                if (!point.state.pattern.conic_zero[g])
                    rest += network.conic[g].lambda * (network.conic[g].A * difference).squaredNorm() /
                            point.state.conic_norm(static_cast<Index>(g));
            const double bound = rest + point.rounding +
                                 rounding_of_value(network, step->state.x, canonical_selector(network, step->state)) +
                                 wrong.dot(difference.cwiseAbs());
            worst.offer(std::abs(step->state.value - point.state.value - expected), bound,
                        [&] { return fmt::format("direction {}, step {:.1e}", k, step->length); });
        }
    if (!stepped)
        return skipped("theorem2.directional", kClosedForm, "doubles are too coarse for a step that crosses no kink");
    return worst.finding("theorem2.directional", kClosedForm,
                         "one-sided differences: second-order rest of the step, and rounding");
}

Finding check_subdifferential(const Point& point, std::span<const Multipliers> optimal) {
    Worst worst;
    const Network& network = point.network;
    const Vector wrong = rounding_of_gradient(network, point.state);
    const std::vector<Vector> box = conic::dual_box(network);
    double size = 0.0;  // the largest multiplier
    for (const Vector& ub : box)
        size = std::max(size, ub.lpNorm<Eigen::Infinity>());
    for (const Conic& module : network.conic)
        size = std::max(size, module.lambda);
    for (const Vector& p : point.canonical.p)
        size = std::max(size, norm<double>(p));
    // Sums of a layer, and norms of the rows of a module.
    Index longest = total_units(network) + network.input_dim;
    for (const Vector& p : point.canonical.p)
        longest = std::max(longest, p.size());
    for (const Vector& r : point.canonical.r)
        longest = std::max(longest, r.size());
    const double member = relative_rounding(longest) * size;
    std::vector<Vector> slopes;
    for (const Multipliers& xi : optimal)
        slopes.push_back(point.subject.readout(network, xi));
    slopes.push_back(point.subject.readout(network, point.canonical));
    for (std::size_t k = 0; k < 2 * point.directions.size(); ++k) {
        const Vector direction = (k % 2 == 0 ? 1.0 : -1.0) * point.directions[k / 2];
        const auto name = [&] { return fmt::format("direction {}", k); };
        const double bound = 2.0 * wrong.dot(direction.cwiseAbs());
        const double derivative = point.subject.directional_derivative(network, point.state, direction);
        const MaxReadout attained = point.subject.max_readout(network, point.state, direction);
        worst.offer(std::abs(attained.value - derivative), bound, name);
        worst.offer(std::abs(point.subject.readout(network, attained.xi).dot(direction) - derivative), bound, name);
        const Violation violation = membership_violation(network, point.state, attained.xi);
        worst.offer(violation.amount, member, [&] { return fmt::format("direction {}, {}", k, violation.where); });
        for (const Vector& slope : slopes)
            worst.offer(slope.dot(direction) - derivative, bound, name);
    }
    return worst.finding("theorem2.subdifferential", kClosedForm, "rounding of the readout");
}

Parts::Parts(const Network& network) {
    Network relu = network;
    relu.quadratic.clear();
    relu.conic.clear();
    parts_.emplace_back("relu", std::move(relu));
    // A module alone: one unit without weights and without effect stands for the backbone.
    Network none;
    none.input_dim = network.input_dim;
    none.layers.resize(1);
    none.layers[0].W = Matrix::Zero(1, network.input_dim);
    none.layers[0].b = Vector::Zero(1);
    none.c = Vector::Zero(1);
    none.v = Vector::Zero(network.input_dim);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        parts_.emplace_back(fmt::format("quadratic[{}]", h), none);
        parts_.back().second.quadratic.push_back(network.quadratic[h]);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        parts_.emplace_back(fmt::format("conic[{}]", g), none);
        parts_.back().second.conic.push_back(network.conic[g]);
    }
}

Finding Parts::check_decomposition(const Point& point) const {
    Worst worst;
    std::vector<LocalState> states;
    Vector wrong = rounding_of_gradient(point.network, point.state);
    for (const auto& [name, part] : parts_) {
        states.push_back(evaluate(part, point.state.x));
        wrong += rounding_of_gradient(part, states.back());
    }
    for (std::size_t k = 0; k < point.directions.size(); ++k) {
        const Vector& direction = point.directions[k];
        double sum = 0.0;
        for (std::size_t i = 0; i < parts_.size(); ++i)
            sum += directional_derivative(parts_[i].second, states[i], direction);
        worst.offer(std::abs(point.subject.directional_derivative(point.network, point.state, direction) - sum),
                    wrong.dot(direction.cwiseAbs()), [&] { return fmt::format("direction {}", k); });
    }
    return worst.finding("theorem2.decomposition", kClosedForm, "rounding of the derivative and of its parts");
}

Finding check_gradient(const Point& point) {
    const Vector slope = point.subject.readout(point.network, point.canonical);
    const Vector difference = (slope - autodiff_gradient(point.network, point.state.x)).cwiseAbs();
    const Vector wrong = rounding_of_summed_gradient(point.network, point.state);
    Worst worst;
    for (Index i = 0; i < slope.size(); ++i)
        worst.offer(difference(i), 2.0 * wrong(i), [&] { return fmt::format("entry {}", i); });
    Finding finding = worst.finding("proposition2.gradient", "autodiff", "rounding of both gradients");
    finding.accuracy.offer(Quantity::Gradient, 2.0 * wrong.maxCoeff(), point.slope_scale.maxCoeff());
    return finding;
}

Finding check_closed_graph(const Point& point) {
    Worst worst;
    const Network& network = point.network;
    const std::vector<Vector> box = conic::dual_box(network);
    const double chain = RoundingBound(total_units(network) + 2 * static_cast<Index>(network.layers.size())).relative;
    bool stepped = false;
    for (std::size_t k = 0; k < point.directions.size(); ++k)
        for (const double length : {1e-2, 1e-4, 1e-6, 1e-8}) {
            const auto step = short_step(point, point.directions[k], length * (1.0 + norm<double>(point.state.x)));
            if (!step) continue;
            stepped = true;
            const Multipliers near = point.subject.canonical_selector(network, step->state);
            const Multipliers limit = repair_to_optimal(network, point.state, near);
            const auto name = [&](std::string_view block, std::size_t index) {
                return fmt::format("{}[{}] in direction {}, step {:.1e}", block, index, k, step->length);
            };
            const Vector &here = point.state.x, &there = step->state.x;
            double slope_bound = norm<double>(rounding_of_gradient(network, point.state)) +
                                 norm<double>(rounding_of_gradient(network, step->state));
            for (std::size_t l = 0; l < network.layers.size(); ++l) {
                const double allowed = chain * norm<double>(box[l]);
                worst.offer(norm<double>(near.nu[l] - limit.nu[l]), allowed, [&] { return name("nu", l); });
                slope_bound += network.layers[l].W.stableNorm() * allowed;
            }
            for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
                // α‖q(x+δ) − q(x)‖ = α‖Bδ‖, an equality: q is rounded at both ends, δ once, Bδ and two norms, each relative to
                // sizes that both ends' |B||x| + |e| exceed.
                const Quadratic& module = network.quadratic[h];
                const double rounding = relative_rounding(2 * module.B.cols() + module.B.rows() + 4);
                const double allowed =
                    module.alpha * (norm<double>(module.B * step->difference) +
                                    rounding * (norm<double>(size_of_products(module.B, here, module.e)) +
                                                norm<double>(size_of_products(module.B, there, module.e)))) +
                    RoundingBound(module.B.rows()).absolute;
                worst.offer(norm<double>(near.p[h] - limit.p[h]), allowed, [&] { return name("p", h); });
                slope_bound += module.B.stableNorm() * allowed;
            }
            for (std::size_t g = 0; g < network.conic.size(); ++g) {
                // ‖û(x+δ) − û(x)‖ ≤ 2‖Aδ‖/‖u‖, and 2‖error of u‖/‖u‖ at each end, where ‖u(x+δ)‖ ≥ ‖u‖/2.
                const Conic& module = network.conic[g];
                const double rounding = relative_rounding(2 * module.A.cols() + module.A.rows() + 4);
                double allowed = rounding * module.lambda + RoundingBound(module.A.rows()).absolute;
                if (!point.state.pattern.conic_zero[g])
                    allowed += 2.0 * module.lambda / point.state.conic_norm(static_cast<Index>(g)) *
                               (norm<double>(module.A * step->difference) +
                                rounding * (norm<double>(size_of_products(module.A, here, module.d)) +
                                            norm<double>(size_of_products(module.A, there, module.d))));
                worst.offer(norm<double>(near.r[g] - limit.r[g]), allowed, [&] { return name("r", g); });
                slope_bound += module.A.stableNorm() * allowed;
            }
            worst.offer(norm<double>(point.subject.readout(network, near) - point.subject.readout(network, limit)),
                        slope_bound, [&] { return name("subgradient", 0); });
        }
    if (!stepped)
        return skipped("proposition3.closed_graph", kClosedForm,
                       "doubles are too coarse for a step that crosses no kink");
    return worst.finding("proposition3.closed_graph", kClosedForm, "the modules' moduli of continuity, and rounding");
}

}  // namespace certicone::verify
