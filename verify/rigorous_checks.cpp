#include "verify/rigorous_checks.hpp"

#include <fmt/format.h>

#include "geometry/ball_bounds.hpp"
#include "geometry/exact_multipliers.hpp"
#include "geometry/rounding.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

/// Σ|Δν||Wx+b| + Σ|Δr||u|: how far Ψ can move when ξ moves so.
double moved(const Point& point, const Multipliers& from, const Multipliers& to) {
    const Network& network = point.network;
    double sum = 0.0;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        sum += (to.nu[l] - from.nu[l])
                   .cwiseAbs()
                   .dot(size_of_products(network.layers[l].W, point.state.x, network.layers[l].b));
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        sum += (to.r[g] - from.r[g])
                   .cwiseAbs()
                   .dot(size_of_products(network.conic[g].A, point.state.x, network.conic[g].d));
    return sum * (1.0 + relative_rounding(2 * network.input_dim + total_units(network)));
}

Finding proved_gap(const Point& point, const Multipliers& xi, double bound, const std::string& solver, Ball& gap) {
    const Ball value = value_ball(point.network, point.state.x);
    gap = value - psi_ball(point.network, point.state.x, xi);
    Finding finding =
        judged("theorem1.strong_duality", solver, gap.upper(), bound,
               fmt::format("f in [{:.17g}, {:.17g}]", std::min((value - gap).lower(), value.lower()), value.upper()),
               "an exactly feasible dual point; f and Psi enclosed in ball arithmetic");
    if (gap.upper() < 0.0 || !exactly_feasible(point.network, xi)) finding.outcome = Outcome::Failed;
    finding.level = "rigorous";
    finding.accuracy.offer(Quantity::Value, bound, point.scale);
    finding.leave_open(bound, point.scale);
    return finding;
}

}  // namespace

Finding check_rigorous_closed_form(const Point& point) {
    if (!is_finite(point.canonical))
        return failed("theorem1.strong_duality", "closed form", "xi is not finite", "rigorous");
    const Multipliers xi = repair_exactly(point.network, point.canonical);
    const double bound = 2.0 * point.rounding + rounding_of_psi(point.network, point.state.x, point.canonical) +
                         moved(point, point.canonical, xi);
    Ball gap;
    return proved_gap(point, xi, bound, "closed form", gap);
}

void check_rigorous_solver(const Point& point, const ScaledAnswer& answer, double allowance, const std::string& solver,
                           std::vector<Finding>& findings) {
    if (!is_finite(answer.xi)) {
        findings.push_back(failed("theorem1.strong_duality", solver, "its multipliers are not finite", "rigorous"));
        return;
    }
    if (!std::isfinite(allowance)) {
        findings.push_back(skipped("theorem1.strong_duality", solver, "its answer was refused already", "rigorous"));
        return;
    }
    const Network& network = point.network;
    const Multipliers xi = repair_exactly(network, answer.xi);
    double bound = allowance + moved(point, answer.xi, xi) + rounding_of_psi(network, point.state.x, xi);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        bound += std::abs(answer.xi.p[h].squaredNorm() / (2.0 * network.quadratic[h].alpha) -
                          answer.squares(static_cast<Index>(h)));
    Ball gap;
    findings.push_back(proved_gap(point, xi, bound, solver, gap));

    // The identity makes distances equal to their bounds: each end, rounded up to a double, is off by one unit of its last place.
    constexpr double slack = 1.0 + 0x1p-51;
    const DistanceBalls distances = distance_balls(network, point.state, xi, gap);
    Worst worst;
    for (std::size_t h = 0; h < distances.p.size(); ++h)
        worst.offer(distances.p[h].upper(), slack * distances.p_allowed[h].upper(),
                    [&] { return fmt::format("p[{}]", h); });
    for (std::size_t g = 0; g < distances.r.size(); ++g)
        worst.offer(distances.r[g].upper(), slack * distances.r_allowed[g].upper(),
                    [&] { return fmt::format("r[{}]", g); });
    findings.push_back(worst.finding("proposition1.membership", solver, "the gap identity, in ball arithmetic"));
    findings.back().level = "rigorous";
}

}  // namespace certicone::verify
