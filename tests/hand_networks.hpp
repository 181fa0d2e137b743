// Networks small enough to be worked out by hand, for tests of several files.
#pragma once

#include "random_networks.hpp"

namespace certicone::test {

/// One unit (a = 2x + 1, c = 5), one quadratic module (q = 3x − 1, α = 4) and one conic module (u = 2x, λ = ½), with v = 7 and
/// b0 = −1. At x = 1: f = 5·3 + 7 − 1 + 2·4 + ½·2 = 30, and ν = 5, p = 8, r = ½.
inline Network hand_network() {
    Network network;
    network.input_dim = 1;
    network.layers = {{vector({2.0}), {}, vector({1.0})}};
    network.c = vector({5.0});
    network.v = vector({7.0});
    network.b0 = -1.0;
    network.quadratic = {{4.0, vector({3.0}), vector({-1.0})}};
    network.conic = {{0.5, vector({2.0}), vector({0.0})}};
    return network;
}

}  // namespace certicone::test
