#include "geometry/batch.hpp"

namespace certicone {

namespace {

constexpr Index kBlock = 256;  // points at a time: large enough for the matrix products, small enough for the cache

}  // namespace

BatchEvaluator::BatchEvaluator(const Network& network) : network_(&network), undecided_(kBlock) {
    const Index d0 = network.input_dim;
    Index widest = 0;
    Vector size, error;  // |z_{ℓ,i}| ≤ size · X and |error of z_{ℓ,i}| ≤ error · X with X = max(1, ‖x‖_∞)
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const RoundingBound bound(layer.W.cols() + layer.U.cols() + 1);
        Vector next_size = layer.W.cwiseAbs().rowwise().sum() + layer.b.cwiseAbs();
        Vector inherited = Vector::Zero(layer.units());
        if (l > 0) {
            next_size.noalias() += layer.U * size;
            inherited.noalias() += layer.U * error;
        }
        size = next_size;
        error = (bound.relative * size + (1.0 + bound.relative) * inherited).array() + bound.absolute;
        relu_error_.push_back(error);
        for (Index i = 0; i < layer.units(); ++i)
            if (structurally_zero(layer, i)) relu_error_.back()(i) = -1.0;

        stacked_.emplace_back(layer.units(), layer.U.cols() + d0);
        if (l > 0) stacked_.back().leftCols(layer.U.cols()) = layer.U;
        stacked_.back().rightCols(d0) = layer.W;
        activations_.emplace_back(layer.units() + d0, kBlock);
        widest = std::max(widest, layer.units());
    }
    upper_.resize(widest + d0, kBlock);
    lower_.resize(widest + d0, kBlock);
    for (const Quadratic& module : network.quadratic)
        q_.emplace_back(module.B.rows(), kBlock);
    for (const Conic& module : network.conic) {
        const RoundingBound bound(module.A.cols() + 1);
        conic_error_.push_back((bound.relative * (module.A.cwiseAbs().rowwise().sum() + module.d.cwiseAbs())).array() +
                               bound.absolute);
        u_.emplace_back(module.A.rows(), kBlock);
    }
}

void BatchEvaluator::evaluate(const Eigen::Ref<const Matrix>& points, BatchResult& result, bool selector) {
    const Index count = points.cols();
    result.value.resize(count);
    result.gradient.resize(network_->input_dim, count);
    result.exact.clear();
    result.nu.resize(selector ? network_->layers.size() : 0);
    result.p.resize(selector ? network_->quadratic.size() : 0);
    result.r.resize(selector ? network_->conic.size() : 0);
    for (std::size_t l = 0; l < result.nu.size(); ++l)
        result.nu[l].resize(network_->layers[l].units(), count);
    for (std::size_t h = 0; h < result.p.size(); ++h)
        result.p[h].resize(network_->quadratic[h].B.rows(), count);
    for (std::size_t g = 0; g < result.r.size(); ++g)
        result.r[g].resize(network_->conic[g].A.rows(), count);

    for (Index begin = 0; begin < count; begin += kBlock)
        evaluate_block(points, begin, std::min(kBlock, count - begin), result, selector);
}

void BatchEvaluator::evaluate_block(const Eigen::Ref<const Matrix>& points, Index begin, Index count,
                                    BatchResult& result, bool selector) {
    const Index d0 = network_->input_dim;
    const auto x = points.middleCols(begin, count);
    auto value = result.value.segment(begin, count);
    auto gradient = result.gradient.middleCols(begin, count);
    Eigen::Matrix<double, kBlock, 1> scale;  // X = max(1, ‖x‖_∞) of each point
    for (Index j = 0; j < count; ++j) {
        scale(j) = std::max(1.0, x.col(j).lpNorm<Eigen::Infinity>());
        undecided_[static_cast<std::size_t>(j)] = !std::isfinite(scale(j));
    }

    // Forward: a_ℓ = [U_ℓ W_ℓ] [z_{ℓ−1} ; x] + b_ℓ, z_ℓ = max(a_ℓ, 0).
    for (std::size_t l = 0; l < network_->layers.size(); ++l) {
        const Index units = network_->layers[l].units();
        auto a = activations_[l].topLeftCorner(units, count);
        a.colwise() = network_->layers[l].b;
        if (l == 0)
            a.noalias() += stacked_[0] * x;
        else
            a.noalias() += stacked_[l] * activations_[l - 1].leftCols(count);
        if (l + 1 < network_->layers.size()) activations_[l].block(units, 0, d0, count) = x;
        const double* error = relu_error_[l].data();
        for (Index j = 0; j < count; ++j) {
            double* entry = &activations_[l](0, j);
            const double X = scale(j);
            int close = 0;
            for (Index i = 0; i < units; ++i) {
                close |= !(std::abs(entry[i]) > error[i] * X);
                entry[i] = entry[i] > 0.0 ? entry[i] : 0.0;
            }
            if (close) undecided_[static_cast<std::size_t>(j)] = true;
        }
    }
    value.noalias() = x.transpose() * network_->v;
    value.noalias() += activations_.back().topLeftCorner(network_->c.size(), count).transpose() * network_->c;
    value.array() += network_->b0;
    gradient.colwise() = network_->v;

    // Backward: ν_ℓ = ub_ℓ where z_ℓ > 0, and [ub_{ℓ−1} ; W_ℓᵀν_ℓ] = [U_ℓ W_ℓ]ᵀ ν_ℓ.
    upper_.topLeftCorner(network_->c.size(), count).colwise() = network_->c;
    for (std::size_t l = network_->layers.size(); l-- > 0;) {
        const Index units = network_->layers[l].units();
        for (Index j = 0; j < count; ++j) {
            double* nu = &upper_(0, j);
            const double* z = &activations_[l](0, j);
            for (Index i = 0; i < units; ++i)
                nu[i] = z[i] > 0.0 ? nu[i] : 0.0;
        }
        const auto nu = upper_.topLeftCorner(units, count);
        if (selector) result.nu[l].middleCols(begin, count) = nu;
        if (l == 0) {
            gradient.noalias() += stacked_[0].transpose() * nu;
        } else {
            const Index below = network_->layers[l - 1].units();
            lower_.topLeftCorner(below + d0, count).noalias() = stacked_[l].transpose() * nu;
            gradient += lower_.block(below, 0, d0, count);
            upper_.swap(lower_);
        }
    }

    for (std::size_t h = 0; h < q_.size(); ++h) {
        const Quadratic& module = network_->quadratic[h];
        auto q = q_[h].leftCols(count);
        q.colwise() = module.e;
        q.noalias() += module.B * x;
        value += (0.5 * module.alpha) * q.colwise().squaredNorm().transpose();
        q *= module.alpha;
        gradient.noalias() += module.B.transpose() * q;
        if (selector) result.p[h].middleCols(begin, count) = q;
    }
    for (std::size_t g = 0; g < u_.size(); ++g) {
        const Conic& module = network_->conic[g];
        auto u = u_[g].leftCols(count);
        u.colwise() = module.d;
        u.noalias() += module.A * x;
        for (Index j = 0; j < count; ++j) {
            const double squares = u.col(j).squaredNorm();
            const bool sure =
                squares > 256.0 * scale(j) * scale(j) * conic_error_[g].squaredNorm();  // as in sure_of_residual
            if (!sure || !(squares > 1e-280 && squares < 1e280)) {
                undecided_[static_cast<std::size_t>(j)] = true;
                continue;
            }
            value(j) += module.lambda * std::sqrt(squares);
            u.col(j) *= module.lambda / std::sqrt(squares);
        }
        gradient.noalias() += module.A.transpose() * u;
        if (selector) result.r[g].middleCols(begin, count) = u;
    }
    for (Index j = 0; j < count; ++j)
        if (undecided_[static_cast<std::size_t>(j)] || !std::isfinite(value(j)))
            evaluate_alone(points, begin + j, result, selector);
}

void BatchEvaluator::evaluate_alone(const Eigen::Ref<const Matrix>& points, Index column, BatchResult& result,
                                    bool selector) const {
    const LocalState state = certicone::evaluate(*network_, points.col(column));
    const Multipliers xi = canonical_selector(*network_, state);
    result.exact.push_back(column);
    result.value(column) = state.value;
    result.gradient.col(column) = readout(*network_, xi);
    if (!selector) return;
    for (std::size_t l = 0; l < xi.nu.size(); ++l)
        result.nu[l].col(column) = xi.nu[l];
    for (std::size_t h = 0; h < xi.p.size(); ++h)
        result.p[h].col(column) = xi.p[h];
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        result.r[g].col(column) = xi.r[g];
}

}  // namespace certicone
