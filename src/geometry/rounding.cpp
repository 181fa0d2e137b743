#include "geometry/rounding.hpp"

namespace certicone {

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

/// |M||x| + |b|.
Vector size_of_affine(const Matrix& M, const Vector& x, const Vector& b) {
    return M.cwiseAbs() * x.cwiseAbs() + b.cwiseAbs();
}

double size_of_relu_part(const Network& network, const Vector& x, const Multipliers& xi) {
    double size = std::abs(network.b0) + network.v.cwiseAbs().dot(x.cwiseAbs());
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        size += xi.nu[l].cwiseAbs().dot(size_of_affine(network.layers[l].W, x, network.layers[l].b));
    return size;
}

}  // namespace

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

}  // namespace certicone
