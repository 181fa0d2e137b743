// A network's ReLU block: what of it a solver can take that has no second-order cones (HiGHS, OSQP). By Proposition 1 the
// programs separate, so the multipliers ν of the block alone are those of the whole.
#pragma once

#include <memory>

#include "geometry/branch.hpp"
#include "solvers/solver.hpp"

namespace certicone::verify {

struct ReluBlock {
    const Network network;  ///< f's ReLU part with vᵀx + b0
    const Curvature curvature;
    const std::string reason;  ///< why not all: "does not support the second-order cone of block 'conic[0].cone'"

    ReluBlock(const Network& whole, std::string why);
    ReluBlock(const ReluBlock&) = delete;  // `curvature` holds on to `network`
    ReluBlock& operator=(const ReluBlock&) = delete;
};

/// None where the backend can take the whole network.
std::unique_ptr<const ReluBlock> relu_block_for(const Network& network, const solvers::Backend& backend);

}  // namespace certicone::verify
