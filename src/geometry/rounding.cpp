#include "geometry/rounding.hpp"

namespace certicone {

Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b) {
    return M.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs();
}

namespace {

double gamma(Index roundings) {
    const double nu = static_cast<double>(roundings) * 0.5 * std::numeric_limits<double>::epsilon();
    return nu / (1.0 - nu);
}

/// Roundings on the longest chain from x to f or Ψ: every layer's sum, the readout's and the modules'.
Index longest_chain(const Network& network) {
    Index chain = network.input_dim + network.c.size() + 16;
    for (const Layer& layer : network.layers)
        chain += layer.W.cols() + layer.U.cols() + 4;
    Index module = 0;
    for (const Quadratic& q : network.quadratic)
        module = std::max(module, 2 * q.B.cols() + q.B.rows());
    for (const Conic& c : network.conic)
        module = std::max(module, 2 * c.A.cols() + c.A.rows());
    return chain + module + static_cast<Index>(network.quadratic.size() + network.conic.size());
}

double size_of_relu_part(const Network& network, const Vector& x, const Multipliers& xi) {
    double size = std::abs(network.b0) + network.v.cwiseAbs().dot(x.cwiseAbs());
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        size += xi.nu[l].cwiseAbs().dot(size_of_affine(network.layers[l].W, x, network.layers[l].b));
    return size;
}

/// ‖|A||x| + |d|‖/‖u‖: how many units of rounding û may be off; 0 where u = 0, for r is then not computed from u.
double spread(const Conic& module, const LocalState& state, std::size_t g) {
    if (state.pattern.conic_zero[g]) return 0.0;
    return norm<double>(size_of_affine(module.A, state.x, module.d)) / state.conic_norm(static_cast<Index>(g));
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

namespace {

double size_of_psi(const Network& network, const Vector& x) {
    const Multipliers largest = largest_multipliers(network, x);
    double scale = size_of_relu_part(network, x, largest);
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
        size += module.alpha * size_of_affine(module.B, x, module.e).squaredNorm();
    for (const Conic& module : network.conic)
        size += 2.0 * module.lambda * norm<double>(size_of_affine(module.A, x, module.d));
    return gamma(2 * longest_chain(network)) * size;
}

double rounding_of_psi(const Network& network, const Vector& x, const Multipliers& xi) {
    double size = size_of_relu_part(network, x, xi);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        size += xi.p[h].cwiseAbs().dot(size_of_affine(module.B, x, module.e)) +
                xi.p[h].squaredNorm() / (2.0 * module.alpha);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        size += xi.r[g].cwiseAbs().dot(size_of_affine(network.conic[g].A, x, network.conic[g].d));
    return gamma(2 * longest_chain(network)) * size;
}

Vector rounding_of_readout(const Network& network, const Multipliers& xi) {
    return gamma(2 * longest_chain(network)) * size_of_readout(network, xi);
}

Vector rounding_of_gradient(const Network& network, const LocalState& state) {
    Multipliers size = zero_multipliers(network);
    size.nu = select_backward(
        network, [&](std::size_t l, Index i, double ub) { return state.pattern.sign[l](i) >= 0 ? ub : 0.0; });
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        size.p[h] = module.alpha * size_of_affine(module.B, state.x, module.e);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        size.r[g].setConstant(module.lambda * (1.0 + spread(module, state, g)));
    }
    return rounding_of_readout(network, size);
}

Matrix rounding_of_hessian(const Network& network, const LocalState& state) {
    Matrix size = Matrix::Zero(network.input_dim, network.input_dim);
    for (const Quadratic& module : network.quadratic)
        size += module.alpha * module.B.cwiseAbs().transpose() * module.B.cwiseAbs();
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        if (module.lambda == 0.0) continue;
        const double length = state.conic_norm(static_cast<Index>(g)), wrong = spread(module, state, g);
        const Matrix A = module.A.cwiseAbs();
        // (û + δ)(û + δ)ᵀ with |δ| ≤ γ · wrong, and 1/‖u‖ as wrong as that.
        const Vector along = A.transpose() * state.trace.u[g].cwiseAbs() / length;
        const Vector off = wrong * A.colwise().sum().transpose();
        size += module.lambda / length *
                ((1.0 + 2.0 * wrong) * (A.transpose() * A + along * along.transpose()) +
                 2.0 * (along * off.transpose() + off * along.transpose()));
    }
    return gamma(4 * longest_chain(network)) * size;
}

}  // namespace certicone
