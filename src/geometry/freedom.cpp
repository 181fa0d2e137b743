#include "geometry/freedom.hpp"

namespace certicone {

UnitFlags positive_bounds(const Network& network, const Pattern& pattern) {
    return matters(network, [&](std::size_t l, Index i) { return pattern.sign[l](i) >= 0; });
}

Index optimal_set_dimension(const Network& network, const Pattern& pattern) {
    const UnitFlags positive = positive_bounds(network, pattern);
    Index dimension = 0;
    for (std::size_t l = 0; l < positive.size(); ++l)
        dimension += (positive[l] && pattern.sign[l].array() == 0).count();
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (pattern.conic_zero[g] && network.conic[g].lambda > 0.0) dimension += network.conic[g].A.rows();
    return dimension;
}

}  // namespace certicone
