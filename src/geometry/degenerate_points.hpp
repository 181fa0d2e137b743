// Points where preactivations of the first layer vanish exactly, for any doubles as weights.
//
// w·x + b = 0 with doubles is a linear equation in integers: write w = 2^−e ŵ and x = 2^−k X; then ŵ·X = −2^{e+k} b. Its
// solutions are one solution plus the lattice of integer vectors orthogonal to ŵ. Lattice reduction (LLL) gives short
// vectors of that lattice, of a length near |ŵ|^{1/(d−1)}, far below the 2^53 steps that a double has: so there is a
// solution next to any point, and its entries are doubles. Several equations at once leave a lattice of lower dimension
// and longer vectors.
#pragma once

#include <optional>
#include <span>

#include "network/network.hpp"

namespace certicone {

/// A point near x where all these units of the first layer have a preactivation of exactly 0; none where the lattice has
/// no such point within `reach` of x that doubles can hold (few inputs, many units, equations without a solution).
std::optional<Vector> degenerate_point(const Network& network, const Vector& x, std::span<const Index> units,
                                       double reach = 1.0);

}  // namespace certicone
