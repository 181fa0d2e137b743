#include "geometry/exact_point.hpp"

namespace certicone {

namespace {

using Numbers = VectorOf<Dyadic>;

Numbers zeros(Index size) { return Numbers(size); }

/// y += Mᵀx.
void add_transposed(Numbers& y, const Matrix& M, const Numbers& x) {
    for (Index i = 0; i < M.rows(); ++i)
        if (x(i).sign() != 0)
            for (Index j = 0; j < M.cols(); ++j)
                if (M(i, j) != 0.0) y(j).add_product(M(i, j), x(i));
}

Numbers scaled(const Numbers& x, double factor) {
    Numbers y(x.size());
    for (Index i = 0; i < x.size(); ++i)
        y(i) = x(i) * factor;
    return y;
}

/// ν = ub(ν) where the sign of a is at least `least`, else 0.
std::vector<Numbers> select(const Network& network, const Pattern& pattern, int least) {
    std::vector<Numbers> nu(network.layers.size());
    for (std::size_t l = nu.size(); l-- > 0;) {
        nu[l] = exact_upper_bound(network, nu, l);
        for (Index i = 0; i < nu[l].size(); ++i)
            if (pattern.sign[l](i) < least) nu[l](i) = Dyadic();
    }
    return nu;
}

/// J_{ℓ,i} on the branch: backward from the unit, with the mask a > 0.
Numbers jacobian_row(const ExactPoint& point, std::size_t l, Index i) {
    const Network& network = *point.network;
    Numbers row = network.layers[l].W.row(i).transpose().cast<Dyadic>();
    if (l == 0) return row;
    Numbers weight = network.layers[l].U.row(i).transpose().cast<Dyadic>();
    for (std::size_t k = l; k-- > 0;) {
        for (Index j = 0; j < weight.size(); ++j)
            if (point.pattern.sign[k](j) <= 0) weight(j) = Dyadic();
        add_transposed(row, network.layers[k].W, weight);
        if (k == 0) break;
        Numbers below = zeros(network.layers[k].U.cols());
        add_transposed(below, network.layers[k].U, weight);
        weight = std::move(below);
    }
    return row;
}

struct Candidate {
    double lower = 0.0;  ///< of |a|/‖J‖
    std::size_t layer = 0;
    Index unit = 0;
};

/// The units that may be the nearest. A computed row is off by γ times the same computation on absolute values (Higham, §3.1).
std::vector<Candidate> candidates(const ExactPoint& point) {
    const Network& network = *point.network;
    std::vector<Candidate> all;
    double least = std::numeric_limits<double>::infinity();
    Matrix J, size;
    Index chain = network.input_dim + 8;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        Matrix next = layer.W, next_size = layer.W.cwiseAbs();
        if (l > 0) {
            for (Index i = 0; i < J.rows(); ++i)
                if (point.pattern.sign[l - 1](i) <= 0) J.row(i).setZero(), size.row(i).setZero();
            next.noalias() += layer.U * J;
            next_size.noalias() += layer.U * size;
        }
        J.swap(next);
        size.swap(next_size);
        chain += layer.U.cols() + 2;
        const RoundingBound bound(chain);
        for (Index i = 0; i < layer.units(); ++i) {
            const double sizes = size.row(i).stableNorm();
            if (sizes == 0.0) continue;
            const double a = std::abs(point.trace.a[l](i).to_double()), slope = J.row(i).stableNorm();
            const double error = bound.relative * sizes;
            // Far from over- and underflow; 1e-12 covers the roundings of norm and quotient.
            const bool usable = a > 1e-200 && a < 1e200 && sizes > 1e-200 && sizes < 1e200;
            const double lower = usable ? (1.0 - 1e-12) * a / (slope + error) : 0.0;
            if (usable && slope > 2.0 * error) least = std::min(least, (1.0 + 1e-12) * a / (slope - error));
            all.push_back({lower, l, i});
        }
    }
    std::erase_if(all, [&](const Candidate& candidate) { return candidate.lower > least; });
    return all;
}

}  // namespace

VectorOf<Dyadic> exact_upper_bound(const Network& network, const std::vector<VectorOf<Dyadic>>& nu, std::size_t layer) {
    if (layer + 1 == network.layers.size()) return network.c.cast<Dyadic>();
    Numbers bound = zeros(network.layers[layer].units());
    add_transposed(bound, network.layers[layer + 1].U, nu[layer + 1]);
    return bound;
}

ExactPoint exact_point(const Network& network, const Vector& x) {
    ExactPoint point;
    point.network = &network;
    point.x = x.cast<Dyadic>();
    point.trace = forward(network, point.x);
    for (const Numbers& a : point.trace.a) {
        point.pattern.sign.emplace_back(a.size());
        for (Index i = 0; i < a.size(); ++i)
            point.pattern.sign.back()(i) = static_cast<std::int8_t>(a(i).sign());
    }
    for (const Numbers& u : point.trace.u) {
        point.uu.push_back(dot(u, u));
        point.pattern.conic_zero.push_back(point.uu.back().sign() == 0);
    }
    point.nu = select(network, point.pattern, 1);
    return point;
}

Enclosure enclose_value(const ExactPoint& point, slong bits) {
    // The template multiplies by α/2 in doubles, which is exact but for the smallest subnormal: so α·(‖q‖²/2) here.
    const Network& network = *point.network;
    Dyadic rational = Dyadic(network.b0) + dot(network.v, point.x) + dot(network.c, point.trace.z.back());
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        rational.add_product(network.quadratic[h].alpha, dot(point.trace.q[h], point.trace.q[h]).shifted(-1));
    Enclosure value(rational);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        Enclosure length = root_enclosure(1, point.uu[g], 1.0, bits);
        value += length *= network.conic[g].lambda;
    }
    return value;
}

Dyadic canonical_relu_gap(const ExactPoint& point) {
    const Network& network = *point.network;
    Dyadic gap = dot(network.c, point.trace.z.back());
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        gap -= dot(point.nu[l], affine(network.layers[l].W, point.x, network.layers[l].b));
    return gap;
}

std::vector<Enclosure> enclose_subgradient(const ExactPoint& point, slong bits) {
    const Network& network = *point.network;
    Numbers slope = network.v.cast<Dyadic>();
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        add_transposed(slope, network.layers[l].W, point.nu[l]);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        add_transposed(slope, network.quadratic[h].B, scaled(point.trace.q[h], network.quadratic[h].alpha));
    std::vector<Enclosure> result;
    for (Index j = 0; j < slope.size(); ++j)
        result.emplace_back(slope(j));
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (point.pattern.conic_zero[g]) continue;
        Numbers w = zeros(network.input_dim);
        add_transposed(w, network.conic[g].A, scaled(point.trace.u[g], network.conic[g].lambda));
        for (Index j = 0; j < w.size(); ++j)
            result[static_cast<std::size_t>(j)] += root_enclosure(w(j).sign(), w(j) * w(j), point.uu[g], bits);
    }
    return result;
}

Enclosure enclose_directional(const ExactPoint& point, const Vector& direction, slong bits) {
    const Network& network = *point.network;
    const Numbers d = direction.cast<Dyadic>();
    Numbers moving;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        Numbers next = zeros(layer.units());
        add_product(layer.W, d, next);
        if (l > 0) add_product(layer.U, moving, next);
        for (Index i = 0; i < next.size(); ++i) {
            const int sign = point.pattern.sign[l](i);
            if (sign < 0 || (sign == 0 && next(i).sign() < 0)) next(i) = Dyadic();
        }
        moving = std::move(next);
    }
    Dyadic linear = dot(network.v, d) + dot(network.c, moving);
    const auto along = [&](const Matrix& M) {
        Numbers product = zeros(M.rows());
        add_product(M, d, product);
        return product;
    };
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        linear.add_product(network.quadratic[h].alpha, dot(point.trace.q[h], along(network.quadratic[h].B)));
    Enclosure result(linear);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Numbers moved = scaled(along(network.conic[g].A), network.conic[g].lambda);
        const Dyadic product = dot(point.trace.u[g], moved);
        result += point.pattern.conic_zero[g] ? root_enclosure(1, dot(moved, moved), 1.0, bits)
                                              : root_enclosure(product.sign(), product * product, point.uu[g], bits);
    }
    return result;
}

FreeChoices free_choices(const ExactPoint& point) {
    FreeChoices result;
    const auto zeros = point.pattern.degenerate_units();
    if (!zeros.empty()) {
        const std::vector<Numbers> largest = select(*point.network, point.pattern, 0);
        for (const auto& [l, i] : zeros)
            if (largest[static_cast<std::size_t>(l)](i).sign() > 0) result.units.emplace_back(l, i);
    }
    for (const Index g : point.pattern.degenerate_modules())
        if (point.network->conic[static_cast<std::size_t>(g)].lambda > 0.0) result.modules.push_back(g);
    return result;
}

ExactBranch enclose_branch(const ExactPoint& point, slong bits) {
    const Network& network = *point.network;
    ExactBranch result;
    Dyadic n, d;  // the least n/d so far
    const auto nearer = [&](bool first, const Dyadic& n_in, const Dyadic& d_in) {
        if (d_in.sign() == 0 || (!first && !(n_in * d < n * d_in))) return false;
        n = n_in, d = d_in;
        return true;
    };
    for (const Candidate& candidate : candidates(point)) {
        const Numbers J = jacobian_row(point, candidate.layer, candidate.unit);
        const Dyadic& a = point.trace.a[candidate.layer](candidate.unit);
        if (nearer(!result.unit, a * a, dot(J, J))) result.unit = {static_cast<Index>(candidate.layer), candidate.unit};
    }
    if (result.unit) result.relu = root_enclosure(1, n, d, bits);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        Dyadic square;
        for (const double entry : network.conic[g].A.reshaped())
            square.add_product(entry, entry);
        if (nearer(!result.module, point.uu[g], square)) result.module = static_cast<Index>(g);
    }
    if (result.module) result.conic = root_enclosure(1, n, d, bits);
    return result;
}

ExactCurvature::ExactCurvature(const Network& network) {
    const auto triangle = [&](const Matrix& M) {
        Triangle result(static_cast<std::size_t>(M.cols()));
        for (Index i = 0; i < M.cols(); ++i)
            for (Index j = i; j < M.cols(); ++j) {
                Dyadic sum;
                for (Index k = 0; k < M.rows(); ++k)
                    sum.add_product(M(k, i), M(k, j));
                result[static_cast<std::size_t>(i)].push_back(sum);
            }
        return result;
    };
    quadratic_ = triangle(Matrix::Zero(1, network.input_dim));
    for (const Quadratic& module : network.quadratic) {
        const Triangle square = triangle(module.B);
        for (std::size_t i = 0; i < square.size(); ++i)
            for (std::size_t j = 0; j < square[i].size(); ++j)
                quadratic_[i][j].add_product(module.alpha, square[i][j]);
    }
    for (const Conic& module : network.conic)
        gram_.push_back(triangle(module.A));
}

std::vector<std::vector<Enclosure>> ExactCurvature::enclose_hessian(const ExactPoint& point, slong bits) const {
    const Network& network = *point.network;
    std::vector<std::vector<Enclosure>> result(quadratic_.size());
    for (std::size_t i = 0; i < quadratic_.size(); ++i)
        for (const Dyadic& entry : quadratic_[i])
            result[i].emplace_back(entry);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (network.conic[g].lambda == 0.0) continue;
        Numbers w = zeros(network.input_dim);
        add_transposed(w, network.conic[g].A, point.trace.u[g]);
        const Dyadic cube = point.uu[g] * point.uu[g] * point.uu[g];
        for (std::size_t i = 0; i < result.size(); ++i)
            for (std::size_t k = 0; k < result[i].size(); ++k) {
                const auto row = static_cast<Index>(i), column = static_cast<Index>(i + k);
                const Dyadic tau =
                    (gram_[g][i][k] * point.uu[g] - w(row) * w(column)) * Dyadic(network.conic[g].lambda);
                result[i][k] += root_enclosure(tau.sign(), tau * tau, cube, bits);
            }
    }
    return result;
}

}  // namespace certicone
