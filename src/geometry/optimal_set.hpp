// The optimal dual set D*(x) of Lemma 1 and Proposition 1: membership, repair, random elements.
#pragma once

#include "geometry/multipliers.hpp"
#include "support/draws.hpp"

namespace certicone {

/// How far ξ is from satisfying one condition; the worst one is named: "nu[1][3]", "p[0]", "r[1]".
struct Violation {
    double amount = 0.0;
    std::string where;
    std::string condition;  ///< what should hold there, in words
};

/// The largest violation of dual feasibility ν ∈ K_ν, r ∈ K_r (sdr_Knu, sdr_Kr); amount 0 means feasible.
Violation feasibility_violation(const Network& network, const Multipliers& xi);

/// The largest violation of ξ ∈ D*(x): ν = 0 where a<0, ν = ub(ν) where a>0, 0 ≤ ν ≤ ub(ν) where a=0, p = αq,
/// r = λû where u≠0 and ‖r‖ ≤ λ where u=0. Amount 0 means membership (in the arithmetic of doubles).
Violation membership_violation(const Network& network, const LocalState& state, const Multipliers& xi);

/// A feasible ξ near the given one: ν clipped into [0, ub(ν)] from the last layer down, r_g scaled into its ball. Its
/// gap is then a bound by weak duality alone. Feasible ξ are left as they are.
Multipliers repair_to_feasible(const Network& network, const Multipliers& xi);

/// An element of D*(x) near the given ξ: as above, and clipped further to the pattern of Lemma 1. It is the canonical
/// selector where x is nondegenerate. Elements of D*(x) are left as they are, so the distance moved bounds the distance
/// of ξ to D*(x).
Multipliers repair_to_optimal(const Network& network, const LocalState& state, const Multipliers& xi);

/// A random element of D*(x): every free ν uniform in [0, ub(ν)] or, in one of four cases, at either end; every free r
/// uniform in its ball or, in one of four cases, on its sphere.
Multipliers random_optimal(const Network& network, const LocalState& state, Generator& random);

}  // namespace certicone
