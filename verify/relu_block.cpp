#include "verify/relu_block.hpp"

#include "conic/value_function.hpp"

namespace certicone::verify {

namespace {

Network without_modules(Network network) {
    network.quadratic.clear();
    network.conic.clear();
    return network;
}

}  // namespace

ReluBlock::ReluBlock(const Network& whole, std::string why)
    : network(without_modules(whole)), curvature(network), reason(std::move(why)) {}

std::unique_ptr<const ReluBlock> relu_block_for(const Network& network, const solvers::Backend& backend) {
    if (network.quadratic.empty() && network.conic.empty()) return nullptr;
    conic::Parts modules = conic::Parts::all(network);
    modules.relu = false;
    const auto why = solvers::obstacle(backend, conic::ValueFunction(network, modules).program());
    return why ? std::make_unique<const ReluBlock>(network, *why) : nullptr;
}

}  // namespace certicone::verify
