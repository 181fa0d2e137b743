#include "verify/optimal_set_checks.hpp"

#include <fmt/format.h>

#include "geometry/gap.hpp"
#include "geometry/rounding.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

const std::string kClosedForm = "closed form";

/// |f − Ψ(ξ)| beside the rounding of both sides.
void offer_gap(Worst& worst, const Point& point, const Multipliers& xi, auto&& name) {
    const double gap = std::abs(point.state.value - point.subject.psi(point.network, point.state.x, xi));
    worst.offer(gap, 2.0 * point.rounding + rounding_of_psi(point.network, point.state.x, xi), name);
}

/// The relative rounding of ν after the backward recursion.
double chain_of(const Network& network) {
    return RoundingBound(total_units(network) + 2 * static_cast<Index>(network.layers.size())).relative;
}

}  // namespace

Finding check_complementarity(const Point& point) {
    Worst worst;
    const Network& network = point.network;
    const double chain = chain_of(network);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Vector& nu = point.canonical.nu[l];
        const Vector ub = upper_bound(network, point.canonical.nu, l);
        for (Index i = 0; i < nu.size(); ++i) {
            const double z = point.state.trace.z[l](i), a = point.state.trace.a[l](i);
            const auto name = [&] { return fmt::format("nu[{}][{}]", l, i); };
            const double term = std::abs(nu(i) * (z - a)) + std::abs((ub(i) - nu(i)) * z);
            worst.offer(term, 0.0, name);
            worst.offer(std::max(-nu(i), nu(i) - ub(i)), chain * ub(i), name);
            if (z != std::max(a, 0.0) || z < 0.0) worst.offer(std::abs(z - std::max(a, 0.0)), 0.0, name);
        }
    }
    return worst.finding("lemma1.complementarity", kClosedForm, "exact: each product has a factor 0");
}

Finding check_complementarity(const Point& point, const Multipliers& feasible, const std::string& solver) {
    const Network& network = point.network;
    const double gap = std::abs(point.state.value - point.subject.psi(network, point.state.x, feasible)) +
                       2.0 * point.rounding + rounding_of_psi(network, point.state.x, feasible);
    const Gap terms = duality_gap(network, point.state, feasible);
    const std::vector<Vector> errors = preactivation_errors(network, point.state.x, point.state.trace);
    Worst worst;
    for (std::size_t l = 0; l < terms.relu.size(); ++l) {
        const Vector ub = upper_bound(network, feasible.nu, l);
        for (Index i = 0; i < terms.relu[l].size(); ++i)  // ν|a| or (ub − ν)|a|: as wrong as a
            worst.offer(std::abs(terms.relu[l](i)), gap + ub(i) * errors[l](i),
                        [&] { return fmt::format("nu[{}][{}]", l, i); });
    }
    return worst.finding("lemma1.complementarity", solver, "the gap f - Psi, which each unit's term is a part of");
}

Finding check_factorisation(const Point& point, std::span<const Multipliers> optimal) {
    Worst worst;
    const auto mix = [&](const Multipliers& first, const Multipliers& second, std::size_t k) {
        Multipliers xi = first;
        xi.p = second.p;
        offer_gap(worst, point, xi, [&] { return fmt::format("nu and r of element {}, p of the next", k); });
        xi = first;
        for (std::size_t g = 0; g < xi.r.size(); ++g) {
            xi.r[g] = second.r[g];
            offer_gap(worst, point, xi, [&] { return fmt::format("nu of element {}, r[{}] of the next", k, g); });
        }
        xi = second;
        xi.nu = first.nu;
        offer_gap(worst, point, xi, [&] { return fmt::format("nu of element {}, p and r of the next", k); });
    };
    for (std::size_t k = 0; k < optimal.size(); ++k)
        mix(optimal[k], optimal[(k + 1) % optimal.size()], k);
    return worst.finding("proposition1.factorisation", kClosedForm, "rounding of f and Psi");
}

Finding check_nonuniqueness_sources(const Point& point, std::span<const Multipliers> optimal) {
    const Network& network = point.network;
    Worst worst;
    // Every ν follows from the free ones.
    const auto rebuilt = [&](const std::vector<Vector>& nu) {
        return select_backward(network, [&](std::size_t l, Index i, double ub) {
            const int sign = point.state.pattern.sign[l](i);
            return sign > 0 ? ub : sign < 0 ? 0.0 : nu[l](i);
        });
    };
    for (std::size_t k = 0; k < optimal.size(); ++k) {
        const std::vector<Vector> again = rebuilt(optimal[k].nu);
        for (std::size_t l = 0; l < again.size(); ++l)
            worst.offer((again[l] - optimal[k].nu[l]).lpNorm<Eigen::Infinity>(), 0.0,
                        [&] { return fmt::format("nu[{}] of element {}", l, k); });
        for (std::size_t g = 0; g < network.conic.size(); ++g)
            if (!point.state.pattern.conic_zero[g])
                worst.offer(norm<double>(optimal[k].r[g] - point.canonical.r[g]), 0.0,
                            [&] { return fmt::format("r[{}] of element {}", g, k); });
        for (std::size_t h = 0; h < network.quadratic.size(); ++h)
            worst.offer(norm<double>(optimal[k].p[h] - point.canonical.p[h]), 0.0,
                        [&] { return fmt::format("p[{}] of element {}", h, k); });
    }
    // Each source alone, at its other end.
    for (const auto& [layer, unit] : point.state.pattern.degenerate_units()) {
        Multipliers xi = point.canonical;
        xi.nu = select_backward(network, [&, l0 = layer, i0 = unit](std::size_t l, Index i, double ub) {
            const int sign = point.state.pattern.sign[l](i);
            return sign > 0 || (static_cast<Index>(l) == l0 && i == i0) ? ub : 0.0;
        });
        offer_gap(worst, point, xi, [&, l0 = layer, i0 = unit] { return fmt::format("nu[{}][{}] = ub", l0, i0); });
    }
    for (const Index g : point.state.pattern.degenerate_modules()) {
        Multipliers xi = point.canonical;
        Vector& r = xi.r[static_cast<std::size_t>(g)];
        if (r.size() == 0) continue;
        r.setZero();
        r(0) = network.conic[static_cast<std::size_t>(g)].lambda;
        offer_gap(worst, point, xi, [&] { return fmt::format("r[{}] on its sphere", g); });
    }
    return worst.finding("proposition1.nonuniqueness_sources", kClosedForm,
                         "exact for the choices; rounding of f and Psi for the ends");
}

Finding check_elementwise_minimum(const Point& point, std::span<const Multipliers> optimal) {
    Worst worst;
    for (std::size_t k = 0; k < optimal.size(); ++k) {
        for (std::size_t l = 0; l < point.network.layers.size(); ++l) {
            Index unit = 0;
            const double above = (point.canonical.nu[l] - optimal[k].nu[l]).maxCoeff(&unit);
            worst.offer(above, 0.0, [&] { return fmt::format("nu[{}][{}] against element {}", l, unit, k); });
        }
        for (std::size_t g = 0; g < point.network.conic.size(); ++g)
            worst.offer(norm<double>(point.canonical.r[g]) - norm<double>(optimal[k].r[g]), 0.0,
                        [&] { return fmt::format("r[{}] against element {}", g, k); });
    }
    return worst.finding("corollary1.min_norm", kClosedForm, "exact: sums of nonnegative terms round monotonically");
}

}  // namespace certicone::verify
