// What the checks at one point share: the subject's state and selector there, elements of D*(x), neighbours, directions.
#pragma once

#include "support/draws.hpp"
#include "verify/subject.hpp"

namespace certicone::verify {

/// Another point with what bounds there need.
struct Neighbour {
    LocalState state;
    double rounding = 0.0;  ///< of its value
};

struct Point {
    const Network& network;
    const Subject& subject;
    const Curvature& curvature;
    LocalState state;
    Multipliers canonical;
    double rounding = 0.0;              ///< of f(x)
    double scale = 0.0;                 ///< of f(x) (geometry/rounding.hpp)
    Vector slope_scale;                 ///< of G(ξ), entry by entry
    std::vector<Multipliers> elements;  ///< random elements of D*(x)
    std::vector<Neighbour> neighbours;  ///< near and far
    std::vector<Vector> directions;     ///< unit vectors

    Point(const Network& network_in, const Subject& subject_in, const Curvature& curvature_in, LocalState state_in,
          Generator& random);

    bool nondegenerate() const { return state.pattern.nondegenerate(); }
};

/// A short step: none of the units with a ≠ 0 changes its sign between x and `state.x`, so every
/// preactivation is affine in between (layer by layer: the one below has fixed masks), and conic residuals with
/// u ≠ 0 move by at most half their length.
struct Step {
    LocalState state;
    Vector difference;    ///< state.x − x, as doubles have it
    double length = 0.0;  ///< ‖difference‖
};

/// At most `longest` long, along `direction` or against it; halved until the conditions hold. One of both ways leads away from a
/// kink that is nearer than doubles lie. Nothing where doubles are too coarse for it.
std::optional<Step> short_step(const Point& point, const Vector& direction, double longest);

}  // namespace certicone::verify
