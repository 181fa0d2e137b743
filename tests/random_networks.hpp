// Networks for the tests: random ones, ugly ones, and exactly degenerate ones; and how large rounding can get on them.
#pragma once

#include <initializer_list>
#include <random>
#include <vector>

#include "geometry/multipliers.hpp"
#include "support/dyadic.hpp"

namespace certicone::test {

using Random = std::mt19937_64;

struct Shape {
    Index input_dim = 3;
    std::vector<Index> widths{4};
    std::vector<Index> quadratic{};  ///< rows of each quadratic module
    std::vector<Index> conic{};      ///< rows of each conic module
    double scale = 0.5;              ///< standard deviation of the weights
};

/// The entries as a column.
Vector vector(std::initializer_list<double> entries);

Vector random_vector(Index size, Random& random, double scale = 1.0);
Matrix random_matrix(Index rows, Index cols, Random& random, double scale = 1.0);
Index random_index(Index first, Index last, Random& random);

/// Normal weights; U, c, α and λ uniform and positive.
Network random_network(const Shape& shape, Random& random);

/// Two to four layers of one to `widest` units, up to two modules of each kind, one to four inputs.
Shape random_shape(Random& random, Index widest = 5);

/// One of each kind of trouble, told by its name: one unit, one input, no modules, zeros in U and c, zero columns of U,
/// λ = 0, a unit without weights, blocks scaled by 1e-7 to 1e7, depth 8, narrowing and widening layers.
std::vector<Network> ugly_networks(Random& random);

struct PointedNetwork {
    Network network;
    Vector x;
};

/// All numbers are small dyadics (weights multiples of 1/4 in [−2, 2], α and λ powers of two), so that every double
/// computation below is exact, which is asserted. At x at least one preactivation of every layer is exactly zero, and
/// so is the first conic residual; the others are by chance.
PointedNetwork degenerate_network(const Shape& shape, Random& random);

/// Whether doubles are exactly these numbers.
bool equal(const VectorOf<Dyadic>& exact, const Vector& doubles);

/// A multiple of 1/4 in [low, high].
double random_quarter(double low, double high, Random& random);
Vector random_quarters(Index size, double low, double high, Random& random);

/// ν in K_ν with every ν = share · ub(ν), p near αq, ‖r‖ ≤ λ: dual feasible, as a rule not optimal. With `dyadic` the
/// shares are multiples of 1/4 and p of 1/4, so that exact networks stay exact (r is then 0 or λ on one axis).
Multipliers random_feasible(const Network& network, const LocalState& state, Random& random, bool dyadic = false);

// ---- Rounding. A sum of n products is off by at most n·u/(1 − n·u) times the sum of the absolute values (Higham,
// §3.1), and errors of nested sums add up: a result with at most n operations in a chain is off by n·eps times the same
// computation on absolute values. eps = 2u leaves a factor 2 for the comparison's own rounding.

/// n·eps with n the longest chain of operations of a forward and a backward pass.
double chain_error(const Network& network);
/// The network with the absolute values of all numbers.
Network absolute(const Network& network);
/// f(x) computed on absolute values.
double value_size(const Network& network, const Vector& x);
/// Ψ(x; ξ) computed on absolute values.
double psi_size(const Network& network, const Vector& x, const Multipliers& xi);
/// G(ξ) computed on absolute values.
Vector readout_size(const Network& network, const Multipliers& xi);
/// Bound for the error of G(ξ̂(x)) computed in doubles. A direction û = u/‖u‖ is as wrong as u is relative to ‖u‖:
/// ‖|A||x| + |d|‖/‖u‖ units of rounding.
Vector gradient_bound(const Network& network, const LocalState& state);

}  // namespace certicone::test
