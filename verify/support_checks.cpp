#include "verify/support_checks.hpp"

#include <fmt/format.h>

#include "geometry/rounding.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

Finding check_support(const Point& point, std::span<const Multipliers> feasible, const std::string& solver) {
    Worst worst;
    for (const Multipliers& xi : feasible)
        for (std::size_t k = 0; k < point.neighbours.size(); ++k) {
            const auto& [state, rounding] = point.neighbours[k];
            const double above = point.subject.psi(point.network, state.x, xi) - state.value;
            worst.offer(above, rounding + rounding_of_psi(point.network, state.x, xi),
                        [&] { return fmt::format("neighbour {}", k); });
        }
    return worst.finding("theorem1.support", solver, "rounding of f and Psi at the neighbours");
}

Finding check_slope(const Point& point) {
    Worst worst;
    const Network& network = point.network;
    const auto check = [&](const Multipliers& xi, std::string_view name) {
        const Vector slope = point.subject.readout(network, xi), wrong = rounding_of_readout(network, xi);
        const double here = point.subject.psi(network, point.state.x, xi);
        const double rounding = rounding_of_psi(network, point.state.x, xi);
        for (std::size_t k = 0; k < point.neighbours.size(); ++k) {
            const Vector& there = point.neighbours[k].state.x;
            const Vector difference = there - point.state.x;
            const double bound = rounding + rounding_of_psi(network, there, xi) + wrong.dot(difference.cwiseAbs()) +
                                 RoundingBound(2 * network.input_dim).relative *
                                     slope.cwiseAbs().dot(there.cwiseAbs() + point.state.x.cwiseAbs());
            worst.offer(std::abs(point.subject.psi(network, there, xi) - here - slope.dot(difference)), bound,
                        [&] { return fmt::format("{}, neighbour {}", name, k); });
        }
    };
    check(point.canonical, "canonical");
    for (const Multipliers& xi : point.elements)
        check(xi, "random element");
    return worst.finding("theorem1.slope", "closed form", "rounding of Psi and G");
}

}  // namespace certicone::verify
