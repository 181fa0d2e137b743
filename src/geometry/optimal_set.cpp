#include "geometry/optimal_set.hpp"

#include <fmt/format.h>

namespace certicone {

namespace {

void keep_worst(Violation& worst, double amount, std::string_view block, std::size_t index, Index entry,
                std::string_view condition) {
    if (!(amount > worst.amount) && !std::isnan(amount)) return;
    worst.amount = std::isnan(amount) ? std::numeric_limits<double>::infinity() : amount;
    worst.where = entry < 0 ? fmt::format("{}[{}]", block, index) : fmt::format("{}[{}][{}]", block, index, entry);
    worst.condition = condition;
}

/// r scaled into the ball of radius λ; the factor is nudged down until the rounded result is inside.
Vector into_ball(Vector r, double lambda) {
    const double length = norm<double>(r);
    if (length <= lambda) return r;
    const Vector direction = r / length;
    r = lambda * direction;
    for (double shrunk = lambda; norm<double>(r) > lambda;) {
        shrunk = std::nextafter(shrunk, 0.0);
        r = shrunk * direction;
    }
    return r;
}

}  // namespace

Violation feasibility_violation(const Network& network, const Multipliers& xi) {
    Violation worst;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Vector ub = upper_bound(network, xi.nu, l);
        for (Index i = 0; i < ub.size(); ++i) {
            keep_worst(worst, -xi.nu[l](i), "nu", l, i, "nu >= 0");
            keep_worst(worst, xi.nu[l](i) - ub(i), "nu", l, i, "nu <= ub(nu)");
        }
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        keep_worst(worst, norm<double>(xi.r[g]) - network.conic[g].lambda, "r", g, -1, "|r| <= lambda");
    return worst;
}

Violation membership_violation(const Network& network, const LocalState& state, const Multipliers& xi) {
    Violation worst = feasibility_violation(network, xi);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Vector ub = upper_bound(network, xi.nu, l);
        for (Index i = 0; i < ub.size(); ++i) {
            if (state.pattern.sign[l](i) < 0) keep_worst(worst, std::abs(xi.nu[l](i)), "nu", l, i, "nu = 0 as a < 0");
            if (state.pattern.sign[l](i) > 0)
                keep_worst(worst, std::abs(ub(i) - xi.nu[l](i)), "nu", l, i, "nu = ub(nu) as a > 0");
        }
    }
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        keep_worst(worst, (xi.p[h] - network.quadratic[h].alpha * state.trace.q[h]).norm(), "p", h, -1, "p = alpha q");
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (state.pattern.conic_zero[g]) continue;
        const Vector direction = state.trace.u[g] / state.conic_norm(static_cast<Index>(g));
        keep_worst(worst, (xi.r[g] - network.conic[g].lambda * direction).norm(), "r", g, -1, "r = lambda u/|u|");
    }
    return worst;
}

Multipliers repair_to_feasible(const Network& network, const Multipliers& xi) {
    Multipliers repaired;
    repaired.nu =
        select_backward(network, [&](std::size_t l, Index i, double ub) { return std::clamp(xi.nu[l](i), 0.0, ub); });
    repaired.p = xi.p;
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        repaired.r.push_back(into_ball(xi.r[g], network.conic[g].lambda));
    return repaired;
}

Multipliers repair_to_optimal(const Network& network, const LocalState& state, const Multipliers& xi) {
    Multipliers repaired = canonical_selector(network, state);
    repaired.nu = select_backward(network, [&](std::size_t l, Index i, double ub) {
        const int sign = state.pattern.sign[l](i);
        return sign > 0 ? ub : sign < 0 ? 0.0 : std::clamp(xi.nu[l](i), 0.0, ub);
    });
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (state.pattern.conic_zero[g]) repaired.r[g] = into_ball(xi.r[g], network.conic[g].lambda);
    return repaired;
}

Multipliers random_optimal(const Network& network, const LocalState& state, Generator& random) {
    Multipliers xi = canonical_selector(network, state);
    xi.nu = select_backward(network, [&](std::size_t l, Index i, double ub) {
        const int sign = state.pattern.sign[l](i);
        if (sign != 0) return sign > 0 ? ub : 0.0;
        const double choice = draw_uniform(random), share = draw_uniform(random);
        return choice < 0.125 ? 0.0 : choice < 0.25 ? ub : share * ub;
    });
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (!state.pattern.conic_zero[g]) continue;
        Vector direction = draw_normals(xi.r[g].size(), random);
        const double k = static_cast<double>(direction.size());
        const double radius = draw_uniform(random) < 0.25 ? 1.0 : std::pow(draw_uniform(random), 1.0 / k);
        const double length = direction.norm();
        if (length > 0.0) direction *= radius * network.conic[g].lambda / length;
        xi.r[g] = into_ball(direction, network.conic[g].lambda);
    }
    return xi;
}

}  // namespace certicone
