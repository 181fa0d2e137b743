#include "random_networks.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace certicone::test {

namespace {

double uniform(double low, double high, Random& random) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

bool chance(double probability, Random& random) { return uniform(0.0, 1.0, random) < probability; }

Matrix positive_matrix(Index rows, Index cols, Random& random, double scale) {
    return Matrix::NullaryExpr(rows, cols, [&] { return uniform(0.0, scale, random); });
}

Matrix random_quarters(Index rows, Index cols, double low, Random& random) {
    return Matrix::NullaryExpr(rows, cols, [&] { return random_quarter(low, 2.0, random); });
}

void thin_out(Matrix& matrix, double probability, Random& random) {
    for (double& entry : matrix.reshaped())
        if (chance(probability, random)) entry = 0.0;
}

Network named(std::string name, Network network) {
    network.name = std::move(name);
    validate(network);
    return network;
}

/// Every block times its own power of ten between 1e-7 and 1e7.
void rescale_blocks(Network& network, Random& random) {
    const auto factor = [&] { return std::pow(10.0, uniform(-7.0, 7.0, random)); };
    for (Layer& layer : network.layers) {
        layer.W *= factor();
        layer.U *= factor();
        layer.b *= factor();
    }
    network.c *= factor();
    network.v *= factor();
    for (Quadratic& module : network.quadratic) {
        module.alpha *= factor();
        module.B *= factor();
        module.e *= factor();
    }
    for (Conic& module : network.conic) {
        module.lambda *= factor();
        module.A *= factor();
        module.d *= factor();
    }
}

}  // namespace

Vector vector(std::initializer_list<double> entries) {
    return Eigen::Map<const Vector>(entries.begin(), static_cast<Index>(entries.size()));
}

Vector random_vector(Index size, Random& random, double scale) { return random_matrix(size, 1, random, scale); }

Matrix random_matrix(Index rows, Index cols, Random& random, double scale) {
    std::normal_distribution<double> normal(0.0, scale);
    return Matrix::NullaryExpr(rows, cols, [&] { return normal(random); });
}

Index random_index(Index first, Index last, Random& random) {
    return std::uniform_int_distribution<Index>(first, last)(random);
}

bool equal(const VectorOf<Dyadic>& exact, const Vector& doubles) {
    for (Index i = 0; i < exact.size(); ++i)
        if (!(exact(i) == Dyadic(doubles(i)))) return false;
    return exact.size() == doubles.size();
}

double random_quarter(double low, double high, Random& random) {
    return 0.25 *
           static_cast<double>(random_index(static_cast<Index>(4.0 * low), static_cast<Index>(4.0 * high), random));
}

Vector random_quarters(Index size, double low, double high, Random& random) {
    return Vector::NullaryExpr(size, [&] { return random_quarter(low, high, random); });
}

Network random_network(const Shape& shape, Random& random) {
    Network network;
    network.name = "random";
    network.input_dim = shape.input_dim;
    Index below = 0;
    for (const Index width : shape.widths) {
        Layer layer;
        layer.W = random_matrix(width, shape.input_dim, random, shape.scale);
        if (below > 0) layer.U = positive_matrix(width, below, random, shape.scale);
        layer.b = random_vector(width, random, shape.scale);
        network.layers.push_back(std::move(layer));
        below = width;
    }
    network.c = positive_matrix(below, 1, random, 1.0);
    network.v = random_vector(shape.input_dim, random, shape.scale);
    network.b0 = uniform(-1.0, 1.0, random);
    for (const Index rows : shape.quadratic)
        network.quadratic.push_back({uniform(0.2, 1.2, random),
                                     random_matrix(rows, shape.input_dim, random, shape.scale),
                                     random_vector(rows, random, shape.scale)});
    for (const Index rows : shape.conic)
        network.conic.push_back({uniform(0.2, 1.2, random), random_matrix(rows, shape.input_dim, random, shape.scale),
                                 random_vector(rows, random, shape.scale)});
    return network;
}

Shape random_shape(Random& random, Index widest) {
    Shape shape{.input_dim = random_index(1, 4, random), .widths = {}, .quadratic = {}, .conic = {}};
    for (Index l = random_index(2, 4, random); l > 0; --l)
        shape.widths.push_back(random_index(1, widest, random));
    for (Index h = random_index(0, 2, random); h > 0; --h)
        shape.quadratic.push_back(random_index(1, 4, random));
    for (Index g = random_index(0, 2, random); g > 0; --g)
        shape.conic.push_back(random_index(1, 4, random));
    return shape;
}

std::vector<Network> ugly_networks(Random& random) {
    std::vector<Network> networks;
    const auto add = [&](std::string name, Network network) {
        networks.push_back(named(std::move(name), std::move(network)));
    };
    const Shape full{.input_dim = 4, .widths = {6, 5, 4}, .quadratic = {3, 5}, .conic = {4, 2}};
    add("one unit, one input, no modules", random_network({.input_dim = 1, .widths = {1}}, random));
    add("one of everything", random_network({.input_dim = 1, .widths = {1}, .quadratic = {1}, .conic = {1}}, random));
    add("one input, wide",
        random_network({.input_dim = 1, .widths = {40, 30}, .quadratic = {7}, .conic = {9}}, random));
    add("no modules", random_network({.input_dim = 5, .widths = {7, 6, 5}}, random));
    add("narrowing", random_network({.input_dim = 3, .widths = {16, 8, 4, 2, 1}, .conic = {2}}, random));
    add("widening", random_network({.input_dim = 3, .widths = {1, 2, 4, 8}, .quadratic = {6}}, random));
    add("depth 8",
        random_network({.input_dim = 3, .widths = {4, 5, 4, 3, 4, 5, 4, 3}, .quadratic = {2}, .conic = {3}}, random));
    Network network = random_network(full, random);
    for (Layer& layer : network.layers) {
        thin_out(layer.U, 0.6, random);
        if (layer.U.size() > 0) layer.U.col(layer.U.cols() / 2).setZero();
    }
    network.c(0) = network.c(2) = 0.0;
    add("zeros in U and c, zero columns of U", std::move(network));
    network = random_network(full, random);
    network.c.setZero();
    add("c = 0", std::move(network));
    network = random_network(full, random);
    network.conic[0].lambda = 0.0;
    add("lambda = 0", std::move(network));
    network = random_network(full, random);
    for (Layer& layer : network.layers) {
        layer.W.row(1).setZero();
        if (layer.U.size() > 0) layer.U.row(1).setZero();
        layer.b(1) = 0.0;
    }
    add("units without weights", std::move(network));
    for (int repeat = 0; repeat < 4; ++repeat) {
        network = random_network(full, random);
        rescale_blocks(network, random);
        add("blocks of scales 1e-7 to 1e7", std::move(network));
    }
    return networks;
}

PointedNetwork degenerate_network(const Shape& shape, Random& random) {
    const auto power_of_two = [&](int low, int high) {
        return std::ldexp(1.0, static_cast<int>(random_index(low, high, random)));
    };
    PointedNetwork result{{}, random_quarters(shape.input_dim, -2.0, 2.0, random)};
    Network& network = result.network;
    const Vector& x = result.x;
    network.name = "degenerate";
    network.input_dim = shape.input_dim;
    Vector z;
    for (const Index width : shape.widths) {
        Layer layer{
            random_quarters(width, shape.input_dim, -2.0, random), {}, random_quarters(width, -2.0, 2.0, random)};
        Vector rest = layer.W * x;
        if (z.size() > 0) {
            layer.U = random_quarters(width, z.size(), 0.0, random);
            rest += layer.U * z;
        }
        const Index always = random_index(0, width - 1, random);
        for (Index i = 0; i < width; ++i)
            if (i == always || chance(0.4, random)) layer.b(i) = -rest(i);
        z = (rest + layer.b).cwiseMax(0.0);
        network.layers.push_back(std::move(layer));
    }
    network.c = random_quarters(shape.widths.back(), 0.0, 2.0, random);
    network.v = random_quarters(shape.input_dim, -2.0, 2.0, random);
    network.b0 = random_quarter(-2.0, 2.0, random);
    for (const Index rows : shape.quadratic)
        network.quadratic.push_back({power_of_two(-2, 1), random_quarters(rows, shape.input_dim, -2.0, random),
                                     random_quarters(rows, -2.0, 2.0, random)});
    for (const Index rows : shape.conic) {
        Conic module{power_of_two(-2, 1), random_quarters(rows, shape.input_dim, -2.0, random),
                     random_quarters(rows, -2.0, 2.0, random)};
        if (network.conic.empty() || chance(0.4, random)) module.d = -module.A * x;
        network.conic.push_back(std::move(module));
    }
    validate(network);

    const Trace<double> trace = forward<double>(network, x);
    const Trace<Dyadic> exact = forward<Dyadic>(network, x.cast<Dyadic>());
    for (std::size_t l = 0; l < trace.a.size(); ++l) {
        REQUIRE(equal(exact.a[l], trace.a[l]));
        REQUIRE((trace.a[l].array() == 0.0).any());
    }
    for (std::size_t h = 0; h < trace.q.size(); ++h)
        REQUIRE(equal(exact.q[h], trace.q[h]));
    for (std::size_t g = 0; g < trace.u.size(); ++g)
        REQUIRE(equal(exact.u[g], trace.u[g]));
    if (!trace.u.empty()) REQUIRE((trace.u[0].array() == 0.0).all());
    REQUIRE(rational_value(network, VectorOf<Dyadic>(x.cast<Dyadic>()), exact) == rational_value(network, x, trace));
    return result;
}

Multipliers random_feasible(const Network& network, const LocalState& state, Random& random, bool dyadic) {
    Multipliers xi = zero_multipliers(network);
    xi.nu = select_backward(network, [&](std::size_t, Index, double ub) {
        return ub * (dyadic ? random_quarter(0.0, 1.0, random) : uniform(0.0, 1.0, random));
    });
    for (std::size_t h = 0; h < xi.p.size(); ++h) {
        const Vector& q = state.trace.q[h];
        const Vector near = dyadic ? random_quarters(q.size(), -2.0, 2.0, random)
                                   : Vector(q + random_vector(q.size(), random, 0.1 + 0.1 * q.norm()));
        xi.p[h] = network.quadratic[h].alpha * near;
    }
    for (std::size_t g = 0; g < xi.r.size(); ++g) {
        const double lambda = network.conic[g].lambda;
        const Index rows = xi.r[g].size();
        if (dyadic) {
            xi.r[g](random_index(0, rows - 1, random)) = lambda * random_quarter(-1.0, 1.0, random);
        } else {
            const Vector direction = random_vector(rows, random);
            xi.r[g] = direction * (uniform(0.0, 0.999, random) * lambda / direction.norm());
        }
    }
    return xi;
}

double chain_error(const Network& network) {
    Index chain = 2 * network.input_dim + 16 + static_cast<Index>(network.quadratic.size() + network.conic.size());
    for (const Layer& layer : network.layers)
        chain += network.input_dim + 2 * layer.units() + 4;
    Index rows = 0;
    for (const Quadratic& module : network.quadratic)
        rows = std::max(rows, module.B.rows());
    for (const Conic& module : network.conic)
        rows = std::max(rows, module.A.rows());
    return static_cast<double>(chain + 2 * rows) * std::numeric_limits<double>::epsilon();
}

Network absolute(const Network& network) {
    Network sizes = network;
    for (Layer& layer : sizes.layers) {
        layer.W = layer.W.cwiseAbs();
        layer.b = layer.b.cwiseAbs();
    }
    sizes.v = sizes.v.cwiseAbs();
    sizes.b0 = std::abs(sizes.b0);
    for (Quadratic& module : sizes.quadratic) {
        module.B = module.B.cwiseAbs();
        module.e = module.e.cwiseAbs();
    }
    for (Conic& module : sizes.conic) {
        module.A = module.A.cwiseAbs();
        module.d = module.d.cwiseAbs();
    }
    return sizes;
}

double value_size(const Network& network, const Vector& x) { return value<double>(absolute(network), x.cwiseAbs()); }

double psi_size(const Network& network, const Vector& x, const Multipliers& xi) {
    const Vector size = x.cwiseAbs();
    double sum = network.v.cwiseAbs().dot(size) + std::abs(network.b0);
    for (std::size_t l = 0; l < xi.nu.size(); ++l)
        sum += xi.nu[l].cwiseAbs().dot(network.layers[l].W.cwiseAbs() * size + network.layers[l].b.cwiseAbs());
    for (std::size_t h = 0; h < xi.p.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        sum += xi.p[h].cwiseAbs().dot(module.B.cwiseAbs() * size + module.e.cwiseAbs()) +
               xi.p[h].squaredNorm() / (2.0 * module.alpha);
    }
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        sum += xi.r[g].cwiseAbs().dot(network.conic[g].A.cwiseAbs() * size + network.conic[g].d.cwiseAbs());
    return sum;
}

Vector readout_size(const Network& network, const Multipliers& xi) {
    Vector sum = network.v.cwiseAbs();
    for (std::size_t l = 0; l < xi.nu.size(); ++l)
        sum += network.layers[l].W.cwiseAbs().transpose() * xi.nu[l].cwiseAbs();
    for (std::size_t h = 0; h < xi.p.size(); ++h)
        sum += network.quadratic[h].B.cwiseAbs().transpose() * xi.p[h].cwiseAbs();
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        sum += network.conic[g].A.cwiseAbs().transpose() * xi.r[g].cwiseAbs();
    return sum;
}

Vector gradient_bound(const Network& network, const LocalState& state) {
    const Vector size = state.x.cwiseAbs();
    Multipliers xi = canonical_selector(network, state);
    for (std::size_t h = 0; h < xi.p.size(); ++h)
        xi.p[h] =
            network.quadratic[h].alpha * (network.quadratic[h].B.cwiseAbs() * size + network.quadratic[h].e.cwiseAbs());
    for (std::size_t g = 0; g < xi.r.size(); ++g) {
        if (state.pattern.conic_zero[g]) continue;
        const Conic& module = network.conic[g];
        const double spread = (module.A.cwiseAbs() * size + module.d.cwiseAbs()).norm();
        xi.r[g].setConstant(module.lambda * (1.0 + spread / state.conic_norm(static_cast<Index>(g))));
    }
    return chain_error(network) * readout_size(network, xi);
}

}  // namespace certicone::test
