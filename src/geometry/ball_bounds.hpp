// f(x), Ψ(x; ξ), gaps and distances enclosed in ball arithmetic.
#pragma once

#include "geometry/multipliers.hpp"
#include "support/ball.hpp"

namespace certicone {

/// ‖x‖; the name by which the forward template finds it.
Ball norm(const VectorOf<Ball>& x);

/// f(x), by the one forward template.
Ball value_ball(const Network& network, const Vector& x);

/// Ψ(x; ξ).
Ball psi_ball(const Network& network, const Vector& x, const Multipliers& xi);

/// Upper bounds, for a gap of at most δ, of the distances ‖p_h − p̂_h‖ and ‖r_g − r̂_g‖ that are allowed (gap identity), beside enclosures of
/// what they are. Modules with u_g = 0, where every feasible r_g is optimal, or with λ_g = 0 have both 0.
struct DistanceBalls {
    std::vector<Ball> p, r, p_allowed, r_allowed;
};
DistanceBalls distance_balls(const Network& network, const LocalState& state, const Multipliers& xi, const Ball& gap);

}  // namespace certicone
