// Certificates for the tests: small ones with claims of every kind.
#pragma once

#include <vector>

#include "network/network_io.hpp"
#include "random_networks.hpp"
#include "support/sha256.hpp"
#include "verify/certificate.hpp"

namespace certicone::test {

struct Sample {
    std::string network, certificate;  ///< the bytes of the files
};

/// A network in doubles at a nondegenerate point, with every kind of claim, or a dyadic one at a degenerate point.
inline Sample sample(std::uint64_t seed, bool degenerate, slong bits = 64) {
    using namespace verify;
    Random random(seed);
    const Shape shape{3, {4, 3}, {2}, {2, 1}, 0.5};
    PointedNetwork drawn;
    if (degenerate) {
        drawn = degenerate_network(shape, random);
    } else {
        drawn.network = random_network(shape, random);
        drawn.x = random_vector(3, random);
    }
    const Network& network = drawn.network;
    const ExactPoint point = exact_point(network, drawn.x);
    const std::vector<Vector> directions{random_vector(3, random), random_vector(3, random)};
    std::vector<std::string> claims{value_claim(point, bits), canonical_claim(point), subgradient_claim(point, bits),
                                    uniqueness_claim(point)};
    for (const Vector& direction : directions)
        claims.push_back(directional_claim(point, direction, bits));
    if (!degenerate) {
        claims.push_back(branch_claim(point, bits));
        claims.push_back(hessian_claim(point, ExactCurvature(network), bits));
        const LocalState state = evaluate(network, drawn.x);
        const Multipliers xi = repair_exactly(network, random_feasible(network, state, random));
        claims.push_back(multiplier_claim(point, xi, bits));
        claims.push_back(multiplier_claim(point, repair_exactly(network, canonical_selector(network, state)), bits));
        claims.push_back(inference_claim(point, random_vector(3, random), 10.0, xi, bits));
    }
    Sample result;
    result.network = to_json(network);
    result.certificate = certificate(sha256(result.network), bits, std::vector{certificate_point(drawn.x, claims)});
    return result;
}

}  // namespace certicone::test
