#include "geometry/branch.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace certicone {

AffineSupport relu_branch(const Network& network, const Multipliers& canonical) {
    AffineSupport branch{network.v, network.b0};
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        branch.slope.noalias() += network.layers[l].W.transpose() * canonical.nu[l];
        branch.offset += canonical.nu[l].dot(network.layers[l].b);
    }
    return branch;
}

Curvature::Curvature(const Network& network)
    : network_(&network), quadratic_(Matrix::Zero(network.input_dim, network.input_dim)) {
    for (const Quadratic& module : network.quadratic)
        quadratic_.noalias() += module.alpha * (module.B.transpose() * module.B);
    spectral_norm_.resize(static_cast<Index>(network.conic.size()));
    for (const Conic& module : network.conic) {
        const auto g = static_cast<Index>(gram_.size());
        // In units of the largest entry's power of two, so that squares neither overflow nor underflow.
        const double largest = module.A.lpNorm<Eigen::Infinity>();
        const double unit = largest > 0.0 ? std::ldexp(1.0, std::clamp(std::ilogb(largest), -1000, 1000)) : 1.0;
        const Matrix A = module.A / unit, gram = A.transpose() * A;
        gram_.push_back(unit * gram * unit);
        const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(gram, Eigen::EigenvaluesOnly);
        spectral_norm_(g) = unit * std::sqrt(std::max(spectrum.eigenvalues().maxCoeff(), 0.0));
    }
}

Matrix Curvature::hessian(const LocalState& state) const {
    Matrix result;
    hessian(state, result);
    return result;
}

void Curvature::hessian(const LocalState& state, Matrix& result) const {
    result = quadratic_;
    for (std::size_t g = 0; g < network_->conic.size(); ++g) {
        const Conic& module = network_->conic[g];
        if (module.lambda == 0.0) continue;
        const double size = state.conic_norm(static_cast<Index>(g));
        const Vector normal = module.A.transpose() * (state.trace.u[g] / size);
        const double weight = module.lambda / size;
        result += weight * gram_[g];
        result.noalias() -= (weight * normal) * normal.transpose();
    }
}

BranchRadius Curvature::branch_radius(const LocalState& state) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    BranchRadius result{infinity, -1, -1, infinity, -1, {}};
    Matrix jacobian, next;  // J_ℓ = W_ℓ + U_ℓ D_{ℓ−1} J_{ℓ−1}, with D the mask a > 0
    for (std::size_t l = 0; l < network_->layers.size(); ++l) {
        const Layer& layer = network_->layers[l];
        next = layer.W;
        if (l > 0) {
            for (Index i = 0; i < jacobian.rows(); ++i)
                if (state.pattern.sign[l - 1](i) <= 0) jacobian.row(i).setZero();
            next.noalias() += layer.U * jacobian;
        }
        jacobian.swap(next);
        for (Index i = 0; i < layer.units(); ++i) {
            const double slope = jacobian.row(i).stableNorm();
            if (slope == 0.0) continue;
            const double a = state.trace.a[l](i);  // a quotient that underflows is not 0
            const double distance =
                a == 0.0 ? 0.0 : std::max(std::abs(a) / slope, std::numeric_limits<double>::denorm_min());
            if (!(distance < result.relu)) continue;
            result.relu = distance;
            result.layer = static_cast<Index>(l);
            result.unit = i;
            result.boundary = state.x - (jacobian.row(i).transpose() / slope) * (a / slope);
        }
    }
    for (Index g = 0; g < spectral_norm_.size(); ++g) {
        if (spectral_norm_(g) == 0.0 || !(state.conic_norm(g) / spectral_norm_(g) < result.conic)) continue;
        result.conic = state.conic_norm(g) / spectral_norm_(g);
        result.module = g;
    }
    return result;
}

double smallest_eigenvalue(const Matrix& hessian) {
    return Eigen::SelfAdjointEigenSolver<Matrix>(hessian, Eigen::EigenvaluesOnly).eigenvalues()(0);
}

std::optional<Vector> branch_witness(const Network& network, const LocalState& state, const BranchRadius& radius) {
    if (radius.layer < 0) return std::nullopt;
    const Vector step = radius.boundary - state.x;
    // Rounding moves the boundary by a few ulps, so the step past it grows until the pattern is seen to change; it begins
    // where the error bound can tell the sign, for exact arithmetic is slow.
    for (double past = 1e-10; past < 1e-2; past *= 4.0) {
        const Vector candidate = state.x + (1.0 + past) * step;
        if ((candidate - state.x).stableNorm() > 1.01 * radius.relu) continue;  // only doubles further away
        if (!(evaluate(network, candidate).pattern == state.pattern)) return candidate;
    }
    return std::nullopt;
}

}  // namespace certicone
