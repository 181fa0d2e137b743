#include "conic/dual_program.hpp"

#include <fmt/format.h>

namespace certicone::conic {

DualProgram::DualProgram(const Network& network) : network_(&network), box_(dual_box(network)) {
    Builder builder;
    const std::size_t depth = network.layers.size();
    for (std::size_t l = 0; l < depth; ++l)
        nu_.push_back(builder.add_columns(fmt::format("nu[{}]", l), network.layers[l].units()));
    for (std::size_t l = 0; l < depth; ++l) {
        const Index units = network.layers[l].units();
        lower_.push_back(builder.add_rows(fmt::format("nu[{}].lower", l), Cone::Nonnegative, units));
        upper_.push_back(builder.add_rows(fmt::format("nu[{}].upper", l), Cone::Nonnegative, units));
        for (Index i = 0; i < units; ++i) {
            builder.set(lower_[l] + i, nu_[l] + i, -1.0);
            builder.set(upper_[l] + i, nu_[l] + i, 1.0);
        }
        if (l + 1 == depth) continue;
        const Matrix& U = network.layers[l + 1].U;
        for (Index j = 0; j < U.cols(); ++j)
            for (Index i = 0; i < U.rows(); ++i)
                builder.set(upper_[l] + j, nu_[l + 1] + i, -U(i, j));
    }
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Index size = network.quadratic[h].B.rows();
        w_.push_back(builder.add_columns(fmt::format("w[{}]", h), 1));
        p_.push_back(builder.add_columns(fmt::format("p[{}]", h), size));
        square_.push_back(builder.add_rows(fmt::format("quadratic[{}]", h), Cone::RotatedSecondOrder, size + 2));
        builder.set(square_[h], w_[h], -1.0);
        for (Index i = 0; i < size; ++i)
            builder.set(square_[h] + 2 + i, p_[h] + i, -1.0);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const bool left_out = network.conic[g].lambda == 0.0;
        const Index size = network.conic[g].A.rows();
        r_.push_back(left_out ? -1 : builder.add_columns(fmt::format("r[{}]", g), size));
        ball_.push_back(left_out ? -1 : builder.add_rows(fmt::format("conic[{}]", g), Cone::SecondOrder, size + 1));
        for (Index i = 0; !left_out && i < size; ++i)
            builder.set(ball_[g] + 1 + i, r_[g] + i, -1.0);
    }
    program_ = builder.build();
    program_.b.segment(upper_.back(), network.c.size()) = network.c;
    for (std::size_t h = 0; h < w_.size(); ++h) {
        program_.b(square_[h] + 1) = 1.0;
        program_.c(w_[h]) = 1.0 / network.quadratic[h].alpha;
    }
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) program_.b(ball_[g]) = network.conic[g].lambda;
    set_point(Vector::Zero(network.input_dim));
}

void DualProgram::set_point(const Vector& x) {
    const auto put = [&](Index column, const Matrix& M, const Vector& offset) {
        program_.c.segment(column, offset.size()) = -(M * x + offset);
    };
    for (std::size_t l = 0; l < nu_.size(); ++l)
        put(nu_[l], network_->layers[l].W, network_->layers[l].b);
    for (std::size_t h = 0; h < p_.size(); ++h)
        put(p_[h], network_->quadratic[h].B, network_->quadratic[h].e);
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) put(r_[g], network_->conic[g].A, network_->conic[g].d);
    program_.c0 = -(network_->v.dot(x) + network_->b0);
}

Multipliers DualProgram::multipliers(const Vector& x) const {
    Multipliers xi = zero_multipliers(*network_);
    for (std::size_t l = 0; l < nu_.size(); ++l)
        xi.nu[l] = x.segment(nu_[l], xi.nu[l].size());
    for (std::size_t h = 0; h < p_.size(); ++h)
        xi.p[h] = x.segment(p_[h], xi.p[h].size());
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) xi.r[g] = x.segment(r_[g], xi.r[g].size());
    return xi;
}

Vector DualProgram::squares(const Vector& x) const {
    Vector result(static_cast<Index>(w_.size()));
    for (std::size_t h = 0; h < w_.size(); ++h)
        result(static_cast<Index>(h)) = x(w_[h]) / network_->quadratic[h].alpha;
    return result;
}

Vector DualProgram::primal(const Multipliers& xi) const {
    Vector x = Vector::Zero(program_.columns());
    for (std::size_t l = 0; l < nu_.size(); ++l)
        x.segment(nu_[l], xi.nu[l].size()) = xi.nu[l];
    for (std::size_t h = 0; h < p_.size(); ++h) {
        x(w_[h]) = 0.5 * xi.p[h].squaredNorm();
        x.segment(p_[h], xi.p[h].size()) = xi.p[h];
    }
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) x.segment(r_[g], xi.r[g].size()) = xi.r[g];
    return x;
}

Vector DualProgram::dual(const LocalState& state) const {
    Vector y = Vector::Zero(program_.rows());
    for (std::size_t l = 0; l < nu_.size(); ++l) {
        const Vector& z = state.trace.z[l];
        y.segment(lower_[l], z.size()) = z - state.trace.a[l];
        y.segment(upper_[l], z.size()) = z;
    }
    for (std::size_t h = 0; h < p_.size(); ++h) {
        const Vector& q = state.trace.q[h];
        y(square_[h]) = 1.0 / network_->quadratic[h].alpha;
        y(square_[h] + 1) = 0.5 * network_->quadratic[h].alpha * q.squaredNorm();
        y.segment(square_[h] + 2, q.size()) = -q;
    }
    for (std::size_t g = 0; g < r_.size(); ++g) {
        if (r_[g] < 0) continue;
        y(ball_[g]) = state.conic_norm(static_cast<Index>(g));
        y.segment(ball_[g] + 1, state.trace.u[g].size()) = -state.trace.u[g];
    }
    return y;
}

Scaling DualProgram::scaling() const {
    Scaling scaling = no_scaling(program_);
    double size = 0.0;  // the largest term of the objective in the new units
    for (std::size_t l = 0; l < nu_.size(); ++l) {
        const Vector ub = (box_[l].array() > 0.0).select(box_[l], 1.0);
        scaling.column.segment(nu_[l], ub.size()) = ub;
        scaling.row.segment(lower_[l], ub.size()) = ub.cwiseInverse();
        scaling.row.segment(upper_[l], ub.size()) = ub.cwiseInverse();
        size = std::max(size, box_[l].cwiseProduct(program_.c.segment(nu_[l], ub.size())).lpNorm<Eigen::Infinity>());
    }
    for (std::size_t g = 0; g < r_.size(); ++g) {
        if (r_[g] < 0) continue;
        const double lambda = network_->conic[g].lambda;
        const Index count = network_->conic[g].d.size();
        scaling.column.segment(r_[g], count).setConstant(lambda);
        scaling.row.segment(ball_[g], count + 1).setConstant(1.0 / lambda);
        size = std::max(size, lambda * program_.c.segment(r_[g], count).stableNorm());
    }
    const double without_modules = size > 0.0 ? size : 1.0;
    for (std::size_t h = 0; h < p_.size(); ++h) {
        const double alpha = network_->quadratic[h].alpha;
        const Index count = network_->quadratic[h].e.size();
        const double length = program_.c.segment(p_[h], count).stableNorm();
        const double tau = length > 0.0 ? length / std::sqrt(2.0) : std::sqrt(without_modules / alpha);
        const double unit = alpha * tau;  // of p; w in its square
        scaling.column(w_[h]) = unit * unit;
        scaling.column.segment(p_[h], count).setConstant(unit);
        scaling.row(square_[h]) = 1.0 / (unit * unit);
        scaling.row.segment(square_[h] + 2, count).setConstant(1.0 / unit);
        size = std::max(size, alpha * tau * tau);
    }
    scaling.objective = size > 0.0 ? 1.0 / size : 1.0;
    return scaling;
}

}  // namespace certicone::conic
