// The level `exact`: signs, zeros, ν̂, its membership and strong duality decided in exact arithmetic, equalities as equalities
// (class `exact`); and what the closed forms give in doubles against canonical enclosures of the true values (class `rigorous`).
#pragma once

#include "geometry/exact_point.hpp"
#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

/// Class `exact`: whatever the size of the numbers.
void check_exactly(const LocalState& state, const ExactPoint& exact, Generator& random, std::vector<Finding>& findings);
/// Class `rigorous`.
void check_enclosed(const Point& point, const ExactPoint& exact, const ExactCurvature& curvature, slong bits,
                    std::vector<Finding>& findings);

}  // namespace certicone::verify
