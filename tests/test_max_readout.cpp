// Theorem 2 (efg_directional_derivative): f'(x; d) = max over D*(x) of G(ξ)ᵀd, against exact rational computation.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "geometry/max_readout.hpp"
#include "geometry/optimal_set.hpp"
#include "network/network_io.hpp"
#include "random_networks.hpp"

using namespace certicone;
using namespace certicone::test;

namespace {

struct Exact {
    Network network;
    Vector x, direction;
    Dyadic conic;  ///< the conic modules' part of f'(x; d), known by construction
};

/// Integer vectors with integer norms; the norms of the second list are powers of two, so that u/‖u‖ is exact.
const std::vector<std::pair<Vector, double>> pythagorean{
    {vector({3, 4}), 5},    {vector({5, 12}), 13},  {vector({8, 15}), 17},     {vector({1, 2, 2}), 3},
    {vector({2, 3, 6}), 7}, {vector({1, 4, 8}), 9}, {vector({1, 1, 3, 5}), 6}, {vector({2}), 2}};
const std::vector<std::pair<Vector, double>> unit_exact{
    {vector({1}), 1}, {vector({0, 4}), 4}, {vector({1, 1, 1, 1}), 2}, {vector({3, 2, 1, 1, 1}), 4}};

/// One of the list, shuffled, with random signs and a scale of 1/4 to 1.
std::pair<Vector, double> pick(const std::vector<std::pair<Vector, double>>& list, Random& random) {
    auto [entries, length] =
        list[static_cast<std::size_t>(random_index(0, static_cast<Index>(list.size()) - 1, random))];
    std::shuffle(entries.begin(), entries.end(), random);
    const double scale = std::ldexp(1.0, static_cast<int>(random_index(-2, 0, random)));
    for (double& entry : entries)
        entry *= random_index(0, 1, random) == 0 ? scale : -scale;
    return {entries, scale * length};
}

/// A degenerate network and a direction such that every norm in f'(x; d) is rational: where u = 0, ‖Ad‖ is the length
/// of a Pythagorean vector; where u ≠ 0, ‖u‖ is a power of two.
Exact exact_case(Random& random) {
    Shape shape = random_shape(random);
    shape.conic.clear();
    auto [network, x] = degenerate_network(shape, random);
    const Index d0 = x.size();
    Vector direction = random_quarters(d0, -2.0, 2.0, random);
    const Index pivot = random_index(0, d0 - 1, random);
    direction(pivot) = random_index(0, 1, random) == 0 ? 1.0 : -1.0;

    Exact result{network, x, direction, Dyadic()};
    for (Index g = random_index(1, 3, random); g > 0; --g) {
        const bool zero = g == 1 || random_index(0, 1, random) == 0;
        const auto [entries, length] = pick(zero ? pythagorean : unit_exact, random);
        const Index rows = entries.size();
        Conic module{std::ldexp(1.0, static_cast<int>(random_index(-2, 1, random))), Matrix(rows, d0), Vector(rows)};
        for (double& entry : module.A.reshaped())
            entry = random_quarter(-2.0, 2.0, random);
        if (zero) {  // Ad = entries through the pivot's column, and u = 0
            module.A.col(pivot) += (entries - module.A * direction) * direction(pivot);
            module.d = -module.A * x;
            REQUIRE(module.A * direction == entries);
            result.conic += Dyadic(module.lambda) * Dyadic(length);
        } else {  // u = entries
            module.d = entries - module.A * x;
            const VectorOf<Dyadic> u_dot = affine<Dyadic>(module.A, direction.cast<Dyadic>(), Vector::Zero(rows));
            Dyadic product;
            for (Index i = 0; i < rows; ++i)
                product += Dyadic(entries(i)) * u_dot(i);
            result.conic += Dyadic(module.lambda / length) * product;
        }
        result.network.conic.push_back(std::move(module));
    }
    validate(result.network);
    return result;
}

/// The one-sided derivative of the polyhedral and quadratic parts R along d, as an exact difference quotient:
/// (R(x + td) − R(x))/t − t/2 Σ α‖Bd‖², with t = 2^−k so small that the polyhedral part is affine on [0, t].
Dyadic exact_rational_derivative(const Network& network, const Vector& x, const Vector& direction) {
    const auto along = [&](double t) {
        VectorOf<Dyadic> point = x.cast<Dyadic>();
        for (Index i = 0; i < x.size(); ++i)
            point(i) += Dyadic(t) * Dyadic(direction(i));
        return point;
    };
    const Trace<Dyadic> start = forward(network, along(0.0));
    double t = 0.5;
    for (;; t *= 0.5) {
        REQUIRE(t > 1e-30);
        // Each a and z is convex along the ray (U ≥ 0), so it is affine on [0, t] if and only if its middle is the mean
        // of its ends. Then no kink lies in (0, t), and the signs at t/2 and t must be the same.
        const Trace<Dyadic> middle = forward(network, along(0.5 * t)), end = forward(network, along(t));
        bool affine_to_t = true;
        for (std::size_t l = 0; l < end.z.size(); ++l)
            for (Index i = 0; i < end.z[l].size(); ++i) {
                affine_to_t &= end.z[l](i) + start.z[l](i) == Dyadic(2.0) * middle.z[l](i);
                affine_to_t &= end.a[l](i) + start.a[l](i) == Dyadic(2.0) * middle.a[l](i);
                affine_to_t &= end.a[l](i).sign() == middle.a[l](i).sign();
            }
        if (affine_to_t) break;
    }
    const auto rational = [&](double at) { return rational_value(network, along(at), forward(network, along(at))); };
    Dyadic slope = Dyadic(1.0 / t) * (rational(t) - rational(0.0));
    for (const Quadratic& module : network.quadratic) {
        const VectorOf<Dyadic> q_dot =
            affine<Dyadic>(module.B, direction.cast<Dyadic>(), Vector::Zero(module.B.rows()));
        for (Index i = 0; i < q_dot.size(); ++i)
            slope -= Dyadic(0.5 * t * module.alpha) * q_dot(i) * q_dot(i);
    }
    return slope;
}

/// G(ξ)ᵀd computed on absolute values.
double readout_along(const Network& network, const Multipliers& xi, const Vector& direction) {
    return readout_size(network, xi).dot(direction.cwiseAbs());
}

}  // namespace

TEST_CASE("max-readout: Experiment 3's degenerate point along the axes, by hand") {
    const Network network = read_network(CERTICONE_DATA_DIR "/paper/exp3.network.json");
    const LocalState state = evaluate(network, Vector::Zero(2));  // a = (0, 0.5, −0.4), q = e, u = 0
    constexpr double eps = std::numeric_limits<double>::epsilon();
    // 1.2·max(W₀d, 0) + 0.8·W₁d + vᵀd + 0.7·eᵀBd + 1.3·‖d‖; numbers below 4.
    CHECK(std::abs(directional_derivative(network, state, vector({1, 0})) - (1.2 - 0.32 + 0.1 + 0.119 + 1.3)) <
          8 * eps);
    CHECK(std::abs(directional_derivative(network, state, vector({-1, 0})) - (0.32 - 0.1 - 0.119 + 1.3)) < 8 * eps);
    CHECK(std::abs(directional_derivative(network, state, vector({0, 1})) - (0.36 + 0.8 - 0.2 - 0.077 + 1.3)) <
          8 * eps);
    CHECK(std::abs(directional_derivative(network, state, vector({0, -1})) - (-0.8 + 0.2 + 0.077 + 1.3)) < 8 * eps);
    const MaxReadout right = max_readout(network, state, vector({2, 0}));
    CHECK(right.xi.nu[0] == vector({1.2, 0.8, 0.0}));
    CHECK(right.xi.r[0] == vector({1.3, 0.0}));
    const MaxReadout left = max_readout(network, state, vector({-2, 0}));
    CHECK(left.xi.nu[0] == vector({0.0, 0.8, 0.0}));
    CHECK(left.xi.r[0] == vector({-1.3, 0.0}));
    CHECK(max_readout(network, state, Vector::Zero(2)).value == 0.0);
}

TEST_CASE("max-readout: equal to exact rational computation on degenerate dyadic networks") {
    Random random(60);
    int kinks = 0, turning = 0;
    for (int round = 0; round < 1500; ++round) {
        const Exact exact = exact_case(random);
        const LocalState state = evaluate(exact.network, exact.x);
        kinks += static_cast<int>(state.pattern.degenerate_units().size());
        const Dyadic expected = exact_rational_derivative(exact.network, exact.x, exact.direction) + exact.conic;
        // Equality, not closeness: all intermediate doubles are exact.
        REQUIRE(Dyadic(directional_derivative(exact.network, state, exact.direction)) == expected);
        const MaxReadout best = max_readout(exact.network, state, exact.direction);
        REQUIRE(Dyadic(best.value) == expected);

        // f'(x; ·) is sublinear: f'(x; d) ≥ −f'(x; −d), with strict inequality at most kinks.
        const double back = directional_derivative(exact.network, state, -exact.direction);
        REQUIRE(best.value >= -back);
        turning += best.value > -back;
        REQUIRE(directional_derivative(exact.network, state, 2.0 * exact.direction) == 2.0 * best.value);
    }
    CHECK(kinks > 3 * 1500);
    CHECK(turning > 1000);
}

TEST_CASE("max-readout: attained by the returned ξ in D*(x), and by no element exceeded") {
    Random random(61);
    for (int round = 0; round < 400; ++round) {
        const Exact exact = exact_case(random);
        const LocalState state = evaluate(exact.network, exact.x);
        const MaxReadout best = max_readout(exact.network, state, exact.direction);
        // ν and p are exact; only r = λAd/‖Ad‖ is rounded, so ‖r‖ ≤ λ holds up to a few eps.
        const double unit = chain_error(exact.network);
        double lambda = 0.0;
        for (const Conic& module : exact.network.conic)
            lambda = std::max(lambda, module.lambda);
        REQUIRE(membership_violation(exact.network, state, best.xi).amount <= unit * lambda);
        const double attained = readout(exact.network, best.xi).dot(exact.direction);
        REQUIRE(std::abs(attained - best.value) <= unit * readout_along(exact.network, best.xi, exact.direction));
        for (int draw = 0; draw < 20; ++draw) {
            const Multipliers xi = random_optimal(exact.network, state, random);
            REQUIRE(readout(exact.network, xi).dot(exact.direction) <=
                    best.value + unit * readout_along(exact.network, xi, exact.direction));
        }
    }
}

TEST_CASE("max-readout: equal to the largest G(ξ)ᵀd over all vertices of D*(x)") {
    Random random(62);
    for (int round = 0; round < 300; ++round) {
        Shape shape = random_shape(random, 4);
        shape.conic.clear();
        const auto [network, x] = degenerate_network(shape, random);
        const LocalState state = evaluate(network, x);
        const Vector direction = random_quarters(x.size(), -2.0, 2.0, random);
        const auto kinks = state.pattern.degenerate_units();
        REQUIRE(kinks.size() < 17);
        double best = -std::numeric_limits<double>::infinity();
        Multipliers xi = canonical_selector(network, state);
        for (std::size_t mask = 0; mask < std::size_t{1} << kinks.size(); ++mask) {
            xi.nu = select_backward(network, [&](std::size_t l, Index i, double ub) {
                if (state.pattern.sign[l](i) != 0) return state.pattern.sign[l](i) > 0 ? ub : 0.0;
                const auto kink = std::find(kinks.begin(), kinks.end(), std::pair{static_cast<Index>(l), i});
                return (mask >> (kink - kinks.begin())) & 1 ? ub : 0.0;
            });
            best = std::max(best, readout(network, xi).dot(direction));
        }
        REQUIRE(max_readout(network, state, direction).value == best);
    }
}

TEST_CASE("max-readout: irrational norms and directions, against difference quotients") {
    // For convex f the quotient (f(x + td) − f(x))/t decreases to f'(x; d) as t does; for t short of the next kink it
    // exceeds it by at most the curvature, t/2 (Σα‖Bd‖² + Σ_{u≠0} λ‖Ad‖²/(‖u‖ − t‖Ad‖)).
    Random random(63);
    for (int round = 0; round < 300; ++round) {
        const auto [network, x] = degenerate_network(random_shape(random), random);
        const LocalState state = evaluate(network, x);
        const Vector direction = random_vector(x.size(), random);
        const double slope = directional_derivative(network, state, direction);
        const double t = std::ldexp(1.0, -20);
        const Vector ahead = x + t * direction;
        double curvature = 0.0;
        for (const Quadratic& module : network.quadratic)
            curvature += module.alpha * (module.B * direction).squaredNorm();
        for (std::size_t g = 0; g < network.conic.size(); ++g) {
            const double speed = (network.conic[g].A * direction).norm();
            if (!state.pattern.conic_zero[g])
                curvature +=
                    network.conic[g].lambda * speed * speed / (state.conic_norm(static_cast<Index>(g)) - t * speed);
        }
        const double rounding = 2.0 * chain_error(network) * value_size(network, ahead) / t;
        const double excess = (value<double>(network, ahead) - state.value) / t - slope;
        // Nonzero dyadic preactivations are at least 4⁻⁴; along a normal direction of length below 8 a slope can reach
        // some 10³, so that kinks within 2⁻²⁰ are out of reach.
        REQUIRE(excess >= -rounding);
        REQUIRE(excess <= 0.5 * t * curvature + rounding);
    }
}
