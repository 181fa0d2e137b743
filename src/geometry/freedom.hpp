// How large the sets of optimal multipliers are. Everything follows from one Boolean recursion: a unit *matters* when a
// rise of z there reaches f,
//
//   matters_L = [c > 0],   matters_{ℓ,i} = some j with U_{ji} > 0, passes_{ℓ+1,j} and matters_{ℓ+1,j}
//
// and `passes` says through which units it goes. No number is computed, so nothing is rounded or lost to underflow.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

using UnitFlags = std::vector<Eigen::Array<bool, Eigen::Dynamic, 1>>;

/// `passes(l, i)` for units above the first layer.
template <class Passes>
UnitFlags matters(const Network& network, Passes passes) {
    UnitFlags result(network.layers.size());
    for (std::size_t l = network.layers.size(); l-- > 0;) {
        if (l + 1 == network.layers.size()) {
            result[l] = network.c.array() > 0.0;
            continue;
        }
        const Matrix& U = network.layers[l + 1].U;
        result[l] = Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(U.cols(), false);
        for (Index j = 0; j < U.rows(); ++j)
            if (result[l + 1](j) && passes(l + 1, j)) result[l] = result[l] || U.row(j).transpose().array() > 0.0;
    }
    return result;
}

/// Whether ub_{ℓ,i}(ν) > 0 for some ν of D*(x): rises pass where a ≥ 0. A zero preactivation frees ν there and only there;
/// elsewhere ub = 0 leaves ν = 0.
UnitFlags positive_bounds(const Network& network, const Pattern& pattern);

/// The dimension of D*(x) (Proposition 1): the units with a = 0 whose bound can be positive, and the rows of each conic
/// module with u = 0 and λ > 0. The set is one point if and only if it is 0.
Index optimal_set_dimension(const Network& network, const Pattern& pattern);

}  // namespace certicone
