#include "verify/point.hpp"

#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "support/error.hpp"

namespace certicone::verify {

namespace {

constexpr int kElements = 2, kDirections = 3;
constexpr double kDistances[] = {3.0, 1.0, 0.1, 1e-3, 1e-6};  // of the neighbours, relative to 1 + ‖x‖

bool keeps_signs(const Pattern& from, const Pattern& to) {
    for (std::size_t l = 0; l < from.sign.size(); ++l)
        for (Index i = 0; i < from.sign[l].size(); ++i)
            if (from.sign[l](i) != 0 && from.sign[l](i) != to.sign[l](i)) return false;
    return true;
}

bool keeps_residuals(const LocalState& from, const LocalState& to) {
    for (std::size_t g = 0; g < from.trace.u.size(); ++g)
        if (!from.pattern.conic_zero[g] &&
            norm<double>(to.trace.u[g] - from.trace.u[g]) > 0.5 * from.conic_norm(static_cast<Index>(g)))
            return false;
    return true;
}

}  // namespace

Point::Point(const Network& network_in, const Subject& subject_in, const Curvature& curvature_in, LocalState state_in,
             Generator& random)
    : network(network_in),
      subject(subject_in),
      curvature(curvature_in),
      state(std::move(state_in)),
      canonical(subject_in.canonical_selector(network_in, state)) {
    rounding = rounding_of_value(network, state.x, canonical_selector(network, state));
    scale = scale_of_value(network, state.x);
    slope_scale = scale_of_slope(network, state.x);
    for (int k = 0; k < kElements; ++k)
        elements.push_back(random_optimal(network, state, random));
    for (int k = 0; k < kDirections; ++k)
        directions.push_back(draw_direction(network.input_dim, random));
    const double reach = 1.0 + state.x.norm();
    for (const double distance : kDistances) {
        const Vector x = state.x + distance * reach * draw_direction(network.input_dim, random);
        try {
            Neighbour neighbour{evaluate(network, x), 0.0};
            neighbour.rounding = rounding_of_value(network, x, canonical_selector(network, neighbour.state));
            neighbours.push_back(std::move(neighbour));
        } catch (const InputError&) {
            // The forward pass overflows there: nothing can be said of that neighbour.
        }
    }
}

std::optional<Step> short_step(const Point& point, const Vector& direction, double longest) {
    const Vector& x = point.state.x;
    const double coarse = 0x1p-50 * (x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0.0);
    for (double t = longest; t > coarse && t > 0.0; t *= 0.5)
        for (const double way : {t, -t}) {
            Step step;
            const Vector there = x + way * direction;
            step.difference = there - x;
            step.length = norm<double>(step.difference);
            if (step.length == 0.0) continue;
            step.state = evaluate(point.network, there);
            if (keeps_signs(point.state.pattern, step.state.pattern) && keeps_residuals(point.state, step.state))
                return step;
        }
    return std::nullopt;
}

}  // namespace certicone::verify
