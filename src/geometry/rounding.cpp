#include "geometry/rounding.hpp"

#include <fmt/format.h>

namespace certicone {

namespace {

/// What a product counts besides its size: 2⁻¹⁰²².
constexpr double kSmallest = std::numeric_limits<double>::min();
double underflow(Index products) { return static_cast<double>(products) * kSmallest; }

double gamma(Index roundings) {
    const double nu = static_cast<double>(roundings) * 0.5 * std::numeric_limits<double>::epsilon();
    return nu / (1.0 - nu);
}

/// Roundings on the longest chain from x to f, Ψ or G: every layer's sum, the readout's and the modules'.
Index longest_chain(const Network& network) {
    Index chain = network.input_dim + network.c.size() + 16;
    for (const Layer& layer : network.layers)
        chain += layer.W.cols() + layer.U.cols() + 4;
    Index columns = 0;
    const auto add = [&](const Matrix& M) {
        chain += M.rows() + 1;  // G sums over the rows of all modules
        columns = std::max(columns, 2 * M.cols());
    };
    for (const Quadratic& module : network.quadratic)
        add(module.B);
    for (const Conic& module : network.conic)
        add(module.A);
    return chain + columns;
}

/// What underflow adds to ν in the backward recursion: Uᵀν has one product a row of U, and hands on what it inherits.
std::vector<Vector> underflow_of_nu(const Network& network) {
    std::vector<Vector> result(network.layers.size());
    for (std::size_t l = result.size(); l-- > 0;) {
        result[l] = Vector::Zero(network.layers[l].units());
        if (l + 1 == result.size()) continue;
        const Matrix& U = network.layers[l + 1].U;
        result[l] = (U.transpose() * result[l + 1]).array() + underflow(U.rows());
    }
    return result;
}

double size_of_relu_part(const Network& network, const Vector& x, const Multipliers& xi) {
    double size =
        std::abs(network.b0) + network.v.cwiseAbs().dot(x.cwiseAbs()) + underflow(x.size() + network.c.size());
    const std::vector<Vector> lost = underflow_of_nu(network);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const Vector rows = size_of_products(layer.W, x, layer.b).array() + underflow(layer.U.cols());
        size += (xi.nu[l].cwiseAbs() + lost[l]).dot(rows) + underflow(layer.units());
    }
    return size;
}

/// How many units of rounding û may be off where u is summed in doubles: ‖|A||x| + |d|‖/‖u‖; 0 where u = 0, for r is then not
/// computed from u.
double summed_spread(const Conic& module, const LocalState& state, std::size_t g) {
    if (state.pattern.conic_zero[g]) return 0.0;
    return norm<double>(size_of_products(module.A, state.x, module.d)) / state.conic_norm(static_cast<Index>(g));
}

/// The same for u as `state` has it: what was decided exactly is rounded once.
double spread(const Conic& module, const LocalState& state, std::size_t g) {
    if (state.pattern.conic_zero[g]) return 0.0;
    return sure_of_residual(module, state.x, state.trace.u[g]) ? summed_spread(module, state, g) : 1.0;
}

Vector size_of_readout(const Network& network, const Multipliers& xi) {
    Vector size = network.v.cwiseAbs();
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        size += network.layers[l].W.cwiseAbs().transpose() * xi.nu[l].cwiseAbs();
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        size += network.quadratic[h].B.cwiseAbs().transpose() * xi.p[h].cwiseAbs();
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        size += network.conic[g].A.cwiseAbs().transpose() * xi.r[g].cwiseAbs();
    return size;
}

/// Entry by entry, but r: its length is in each entry.
Multipliers largest_multipliers(const Network& network, const Vector& x) {
    Multipliers largest = zero_multipliers(network);
    largest.nu = select_backward(network, [](std::size_t, Index, double ub) { return ub; });
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        largest.p[h] = network.quadratic[h].alpha * size_of_affine(network.quadratic[h].B, x, network.quadratic[h].e);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        largest.r[g].setConstant(network.conic[g].lambda);
    return largest;
}

}  // namespace

Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b) {
    return M.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs();
}

Vector size_of_products(const Matrix& M, const Vector& x, const Vector& b) {
    return size_of_affine(M, x, b).array() + underflow(M.cols());
}

std::optional<std::string> beyond_range(const Network& network, const LocalState& state) {
    constexpr double largest = 0x1p180;
    std::optional<std::string> found;
    const auto at_most = [&](const auto& numbers, auto&& name) {
        if (!found && numbers.size() > 0 && !(numbers.cwiseAbs().maxCoeff() <= largest))
            found = fmt::format("{} exceeds 2^180", name());
    };
    const auto at_least = [&](double number, auto&& name) {
        if (!found && !(number >= 1.0 / largest)) found = fmt::format("{} is below 2^-180", name());
    };
    const auto number = [](double value) { return Vector::Constant(1, value); };
    const auto named = [](const char* name, std::size_t index, const char* part) {
        return [=] { return fmt::format("{}[{}]{}", name, index, part); };
    };
    at_most(state.x, [] { return "x"; });
    at_most(network.c, [] { return "c"; });
    at_most(network.v, [] { return "v"; });
    at_most(number(network.b0), [] { return "b0"; });
    Vector size, gradient;  // of what a and its gradient are summed from, along all paths
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        Vector next_size = size_of_products(layer.W, state.x, layer.b),
               next_gradient = layer.W.cwiseAbs().rowwise().sum();
        if (l > 0) {
            next_size += layer.U * size;
            next_gradient += layer.U * gradient;
        }
        size = std::move(next_size), gradient = std::move(next_gradient);
        at_most(layer.W, named("layers", l, ".W"));
        at_most(layer.U, named("layers", l, ".U"));
        at_most(layer.b, named("layers", l, ".b"));
        at_most(size, named("layers", l, ": the size of the forward pass"));
        at_most(gradient, named("layers", l, ": the size of the Jacobian"));
    }
    const std::vector<Vector> box = select_backward(network, [](std::size_t, Index, double ub) { return ub; });
    for (std::size_t l = 0; l < box.size(); ++l)
        at_most(box[l], named("layers", l, ": the dual box"));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        at_most(module.B, named("quadratic", h, ".B"));
        at_most(module.e, named("quadratic", h, ".e"));
        at_most(number(module.alpha), named("quadratic", h, ".alpha"));
        at_least(module.alpha, named("quadratic", h, ".alpha"));
        at_most(size_of_products(module.B, state.x, module.e), named("quadratic", h, ": the size of the residual"));
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        at_most(module.A, named("conic", g, ".A"));
        at_most(module.d, named("conic", g, ".d"));
        at_most(number(module.lambda), named("conic", g, ".lambda"));
        if (module.lambda > 0.0) at_least(module.lambda, named("conic", g, ".lambda"));
        at_most(size_of_products(module.A, state.x, module.d), named("conic", g, ": the size of the residual"));
        if (const double length = state.conic_norm(static_cast<Index>(g)); !state.pattern.conic_zero[g] && length > 0.0)
            at_least(length, named("conic", g, ": a residual that does not vanish"));
    }
    return found;
}

namespace {

/// Without what underflow may add: at x = 0 all of it may vanish.
double size_of_psi(const Network& network, const Vector& x) {
    const Multipliers largest = largest_multipliers(network, x);
    double scale = std::abs(network.b0) + network.v.cwiseAbs().dot(x.cwiseAbs());
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        scale += largest.nu[l].dot(size_of_affine(network.layers[l].W, x, network.layers[l].b));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        scale += largest.p[h].squaredNorm() / (2.0 * network.quadratic[h].alpha);
    for (const Conic& module : network.conic)
        scale += module.lambda * norm<double>(size_of_affine(module.A, x, module.d));
    return scale;
}

}  // namespace

double scale_of_value(const Network& network, const Vector& x) {
    const double scale = size_of_psi(network, x);
    return scale > 0.0 ? scale : size_of_psi(network, Vector::Ones(x.size()));
}

Vector scale_of_slope(const Network& network, const Vector& x) {
    return size_of_readout(network, largest_multipliers(network, x));
}

double scale_of_hessian(const Network& network, const LocalState& state) {
    Matrix size = Matrix::Zero(network.input_dim, network.input_dim);
    for (const Quadratic& module : network.quadratic)
        size += module.alpha * module.B.cwiseAbs().transpose() * module.B.cwiseAbs();
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (const Conic& module = network.conic[g]; module.lambda > 0.0)
            size += module.lambda / state.conic_norm(static_cast<Index>(g)) * module.A.cwiseAbs().transpose() *
                    module.A.cwiseAbs();
    return size.size() > 0 ? size.maxCoeff() : 0.0;
}

double rounding_of_value(const Network& network, const Vector& x, const Multipliers& canonical) {
    double size = size_of_relu_part(network, x, canonical);
    for (const Quadratic& module : network.quadratic)
        size += module.alpha * (size_of_products(module.B, x, module.e).squaredNorm() + underflow(module.B.rows())) +
                kSmallest;
    for (const Conic& module : network.conic)
        size += 2.0 * module.lambda * norm<double>(size_of_products(module.A, x, module.d)) + kSmallest;
    return gamma(2 * longest_chain(network)) * size;
}

double rounding_of_psi(const Network& network, const Vector& x, const Multipliers& xi) {
    double size = size_of_relu_part(network, x, xi);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        const double products = underflow(xi.p[h].size());
        size += xi.p[h].cwiseAbs().dot(size_of_products(module.B, x, module.e)) + products +
                (xi.p[h].squaredNorm() + products) / (2.0 * module.alpha) + kSmallest;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        size += xi.r[g].cwiseAbs().dot(size_of_products(network.conic[g].A, x, network.conic[g].d)) +
                underflow(xi.r[g].size());
    return gamma(2 * longest_chain(network)) * size;
}

Vector rounding_of_readout(const Network& network, const Multipliers& xi) {
    Vector size = network.v.cwiseAbs();
    const auto add = [&](const Matrix& M, const Vector& multiplier) {
        size += M.cwiseAbs().transpose() * multiplier.cwiseAbs();
        size.array() += underflow(M.rows());
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        add(network.layers[l].W, xi.nu[l]);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        add(network.quadratic[h].B, xi.p[h]);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        add(network.conic[g].A, xi.r[g]);
    return gamma(2 * longest_chain(network)) * size;
}

namespace {

using Spread = double(const Conic&, const LocalState&, std::size_t);

Vector gradient_bound(const Network& network, const LocalState& state, Spread spread_of) {
    Multipliers size = zero_multipliers(network);
    size.nu = select_backward(
        network, [&](std::size_t l, Index i, double ub) { return state.pattern.sign[l](i) >= 0 ? ub : 0.0; });
    const std::vector<Vector> lost = underflow_of_nu(network);
    for (std::size_t l = 0; l < lost.size(); ++l)
        size.nu[l] += lost[l];
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        size.p[h] = (module.alpha * size_of_products(module.B, state.x, module.e)).array() + kSmallest;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        size.r[g].setConstant(module.lambda * (1.0 + spread_of(module, state, g)) + kSmallest);
    }
    return rounding_of_readout(network, size);
}

std::optional<Matrix> hessian_bound(const Network& network, const LocalState& state, Spread spread_of) {
    Matrix size = Matrix::Zero(network.input_dim, network.input_dim), of_residuals = size;
    for (const Quadratic& module : network.quadratic) {
        size += module.alpha * module.B.cwiseAbs().transpose() * module.B.cwiseAbs();
        size.array() += module.alpha * underflow(module.B.rows()) + kSmallest;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        if (module.lambda == 0.0) continue;
        // u is off by ω‖u‖/2 at most, so û = u/‖u‖ by a vector δ of length ω, and 1/‖u‖ by the factor 1 ± ω.
        const double length = state.conic_norm(static_cast<Index>(g)), weight = module.lambda / length;
        const double omega = relative_rounding(module.A.cols() + 1) * spread_of(module, state, g);
        if (!(omega <= 0.125)) return std::nullopt;
        const Matrix A = module.A.cwiseAbs();
        const Vector along = (A.transpose() * (state.trace.u[g].cwiseAbs() / length)).array() + underflow(2 * A.rows());
        const Vector off = A.colwise().sum();  // |A|ᵀ|δ| ≤ ω · this
        const Matrix terms = weight * (A.transpose() * A + along * along.transpose());
        size += terms;
        size.array() += (weight + 1.0) * underflow(4 * A.rows());
        of_residuals += 2.0 * omega *
                        (terms + weight * (along * off.transpose() + off * along.transpose()) +
                         (2.0 * omega * weight) * off * off.transpose());
    }
    return Matrix(gamma(4 * longest_chain(network)) * size + of_residuals);
}

}  // namespace

Vector rounding_of_gradient(const Network& network, const LocalState& state) {
    return gradient_bound(network, state, spread);
}

Vector rounding_of_summed_gradient(const Network& network, const LocalState& state) {
    return gradient_bound(network, state, summed_spread);
}

Matrix rounding_of_hessian(const Network& network, const LocalState& state) {
    return hessian_bound(network, state, spread).value();  // sure_of_residual keeps the condition
}

std::optional<Matrix> rounding_of_summed_hessian(const Network& network, const LocalState& state) {
    return hessian_bound(network, state, summed_spread);
}

double relative_rounding_of_residual(const Network& network, const LocalState& state, std::size_t module) {
    const Conic& conic = network.conic[module];
    return relative_rounding(conic.A.cols() + 1) * spread(conic, state, module) + relative_rounding(conic.A.rows());
}

RadiusInterval enclose_relu_radius(const Network& network, const LocalState& state) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    RadiusInterval result{infinity, infinity};
    const std::vector<Vector> errors = preactivation_errors(network, state.x, state.trace);
    Matrix J, size;
    Index chain = network.input_dim + 8;  // of the norm
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        Matrix next = layer.W, next_size = layer.W.cwiseAbs();
        if (l > 0) {
            for (Index i = 0; i < J.rows(); ++i)
                if (state.pattern.sign[l - 1](i) <= 0) J.row(i).setZero(), size.row(i).setZero();
            next.noalias() += layer.U * J;
            next_size.noalias() += layer.U * size;
            next_size.array() += underflow(layer.U.cols());
        }
        J.swap(next);
        size.swap(next_size);
        chain += layer.U.cols() + 2;
        const double unit = relative_rounding(chain);
        for (Index i = 0; i < layer.units(); ++i) {
            // An |a| below its error was decided exactly, and rounded once.
            const double a = std::abs(state.trace.a[l](i));
            const double error = a > errors[l](i) ? 0.5 * errors[l](i) : 0x1p-52 * a;
            const double slope = J.row(i).stableNorm(), wrong = unit * size.row(i).stableNorm();
            const double least = (1.0 - 0x1p-50) * std::max(a - error, 0.0) / (slope + wrong);
            if (least < 0x1p500) result.lower = std::min(result.lower, least);
            if (slope > wrong) result.upper = std::min(result.upper, (1.0 + 0x1p-50) * (a + error) / (slope - wrong));
        }
    }
    return result;
}

}  // namespace certicone
