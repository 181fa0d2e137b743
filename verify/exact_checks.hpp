// The level `exact`: signs, zeros, ν̂, its membership and strong duality decided in exact arithmetic, equalities as equalities
// (class `exact`); and what the closed forms give in doubles against canonical enclosures of the true values (class `rigorous`).
#pragma once

#include "geometry/exact_point.hpp"
#include "verify/finding.hpp"
#include "verify/point.hpp"

namespace certicone::verify {

void check_exactly(const Point& point, const ExactPoint& exact, const ExactCurvature& curvature, slong bits,
                   Generator& random, std::vector<Finding>& findings);

}  // namespace certicone::verify
