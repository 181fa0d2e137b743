// A network at a point, exactly: the quantities that docs/certificate.md defines.
#pragma once

#include "verify/check/network.hpp"

namespace certicone::check {

using Numbers = std::vector<Dyadic>;
using Blocks = std::vector<Numbers>;

inline Numbers exact(const Doubles& x) { return {x.begin(), x.end()}; }

inline Dyadic dot(const Numbers& x, const Numbers& y) {
    Dyadic sum;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum += x[i] * y[i];
    return sum;
}

/// y + Mx.
inline Numbers plus_product(Numbers y, const Matrix& M, const Numbers& x) {
    for (std::size_t i = 0; i < M.rows; ++i)
        for (std::size_t j = 0; j < M.cols; ++j)
            y[i].add_product(M(i, j), x[j]);
    return y;
}

/// y + factor·Mᵀx.
inline Numbers plus_transposed(Numbers y, const Matrix& M, const Numbers& x, double factor = 1.0) {
    for (std::size_t i = 0; i < M.rows; ++i) {
        const Dyadic scaled = factor * x[i];
        for (std::size_t j = 0; j < M.cols; ++j)
            y[j].add_product(M(i, j), scaled);
    }
    return y;
}

/// Σ_k M_ki M_kj.
inline Dyadic gram(const Matrix& M, std::size_t i, std::size_t j) {
    Dyadic sum;
    for (std::size_t k = 0; k < M.rows; ++k)
        sum.add_product(M(k, i), M(k, j));
    return sum;
}

struct Multipliers {
    Blocks nu, p, r;
};

struct Point {
    const Network& network;
    long bits;
    Numbers x;
    Blocks a, q, u, nu;  ///< preactivations, residuals, ν̂
    Numbers uu;          ///< ‖u_g‖²
    Enclosure f;         ///< of f(x)
    bool nondegenerate = true;

    Point(const Network& network_in, const Numbers& x_in, long bits_in) : network(network_in), bits(bits_in), x(x_in) {
        for (const Layer& layer : network.layers) {
            Numbers next = plus_product(exact(layer.b), layer.W, x);
            if (!a.empty()) next = plus_product(std::move(next), layer.U, activation(a.size() - 1));
            for (const Dyadic& entry : next)
                nondegenerate &= entry.sign() != 0;
            a.push_back(std::move(next));
        }
        for (const Module& module : network.quadratic)
            q.push_back(plus_product(exact(module.o), module.M, x));
        for (const Module& module : network.conic) {
            u.push_back(plus_product(exact(module.o), module.M, x));
            uu.push_back(dot(u.back(), u.back()));
            nondegenerate &= uu.back().sign() != 0;
        }
        nu = select(1);
        f.lower = network.b0 + dot(exact(network.v), x) + dot(exact(network.c), activation(a.size() - 1));
        for (std::size_t h = 0; h < q.size(); ++h)
            f.lower.add_product(network.quadratic[h].weight, dot(q[h], q[h]).shifted(-1));
        f.upper = f.lower;
        for (std::size_t g = 0; g < u.size(); ++g) {
            const Enclosure length = root(1, uu[g], 1.0, bits);
            f.lower.add_product(network.conic[g].weight, length.lower);
            f.upper.add_product(network.conic[g].weight, length.upper);
        }
    }

    /// z_ℓ.
    Numbers activation(std::size_t l) const {
        Numbers z = a[l];
        for (Dyadic& entry : z)
            if (entry.sign() < 0) entry = Dyadic();
        return z;
    }

    Numbers upper_bound(const Blocks& multipliers, std::size_t l) const {
        if (l + 1 == a.size()) return exact(network.c);
        return plus_transposed(Numbers(a[l].size()), network.layers[l + 1].U, multipliers[l + 1]);
    }

    /// ν = ub(ν) where the sign of a is at least `least`, else 0.
    Blocks select(int least) const {
        Blocks selected(a.size());
        for (std::size_t l = a.size(); l-- > 0;) {
            selected[l] = upper_bound(selected, l);
            for (std::size_t i = 0; i < a[l].size(); ++i)
                if (a[l][i].sign() < least) selected[l][i] = Dyadic();
        }
        return selected;
    }

    /// 0 ≤ ν ≤ ub(ν).
    bool in_box(const Blocks& multipliers) const {
        for (std::size_t l = 0; l < a.size(); ++l) {
            const Numbers bound = upper_bound(multipliers, l);
            for (std::size_t i = 0; i < bound.size(); ++i)
                if (multipliers[l][i].sign() < 0 || compare(multipliers[l][i], bound[i]) > 0) return false;
        }
        return true;
    }

    /// Σ ν_ℓᵀ(W_ℓ y + b_ℓ).
    Dyadic relu_support(const Blocks& multipliers, const Numbers& y) const {
        Dyadic sum;
        for (std::size_t l = 0; l < a.size(); ++l)
            sum += dot(multipliers[l], plus_product(exact(network.layers[l].b), network.layers[l].W, y));
        return sum;
    }

    /// n/d for n ≥ 0, d > 0.
    Enclosure quotient(const Dyadic& n, const Dyadic& d) const { return root(1, n * n, d * d, bits); }

    /// Ψ(y; ξ).
    Enclosure psi(const Multipliers& xi, const Numbers& y) const {
        Dyadic sum = network.b0 + dot(exact(network.v), y) + relu_support(xi.nu, y);
        for (std::size_t h = 0; h < q.size(); ++h)
            sum += dot(xi.p[h], plus_product(exact(network.quadratic[h].o), network.quadratic[h].M, y));
        for (std::size_t g = 0; g < u.size(); ++g)
            sum += dot(xi.r[g], plus_product(exact(network.conic[g].o), network.conic[g].M, y));
        Enclosure result{sum, sum};
        for (std::size_t h = 0; h < q.size(); ++h)
            result += -quotient(dot(xi.p[h], xi.p[h]), Dyadic(network.quadratic[h].weight).shifted(1));
        return result;
    }

    /// G(ξ) without the conic part: v + Σ W_ℓᵀν_ℓ + Σ α_hB_hᵀp_h, with factor α where `p` is q.
    Numbers readout(const Blocks& multipliers, const Blocks& p, bool p_is_q) const {
        Numbers slope = exact(network.v);
        for (std::size_t l = 0; l < a.size(); ++l)
            slope = plus_transposed(std::move(slope), network.layers[l].W, multipliers[l]);
        for (std::size_t h = 0; h < q.size(); ++h) {
            const Module& module = network.quadratic[h];
            slope = plus_transposed(std::move(slope), module.M, p[h], p_is_q ? module.weight : 1.0);
        }
        return slope;
    }

    /// The rows J_ℓ of layer ℓ from those of the layer before.
    Blocks jacobian(std::size_t l, const Blocks& before) const {
        const Layer& layer = network.layers[l];
        Blocks rows(a[l].size(), Numbers(x.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t j = 0; j < x.size(); ++j)
                rows[i][j] = layer.W(i, j);
            for (std::size_t k = 0; k < before.size(); ++k)
                for (std::size_t j = 0; j < x.size() && a[l - 1][k].sign() > 0; ++j)
                    rows[i][j].add_product(layer.U(i, k), before[k][j]);
        }
        return rows;
    }
};

}  // namespace certicone::check
