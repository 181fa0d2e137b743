#include "conic/value_function.hpp"

#include <fmt/format.h>

namespace certicone::conic {

ValueFunction::ValueFunction(const Network& network) : network_(&network) {
    Builder builder;
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        layout_.z.push_back(builder.add_columns(fmt::format("z[{}]", l), network.layers[l].units()));
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const Index units = layer.units();
        const Index relu = builder.add_rows(fmt::format("relu[{}]", l), Cone::Nonnegative, units);
        const Index bound = builder.add_rows(fmt::format("bound[{}]", l), Cone::Nonnegative, units);
        for (Index i = 0; i < units; ++i) {
            builder.set(relu + i, layout_.z[l] + i, -1.0);
            builder.set(bound + i, layout_.z[l] + i, -1.0);
        }
        for (Index j = 0; j < layer.U.cols(); ++j)
            for (Index i = 0; i < units; ++i)
                builder.set(relu + i, layout_.z[l - 1] + j, layer.U(i, j));
        layout_.relu.push_back(relu);
        layout_.bound.push_back(bound);
    }
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Index size = network.quadratic[h].B.rows();
        const Index s = builder.add_columns(fmt::format("s[{}]", h), 1);
        const Index eta = builder.add_columns(fmt::format("eta[{}]", h), size);
        const Index link = builder.add_rows(fmt::format("quadratic[{}].link", h), Cone::Zero, size);
        const Index cone = builder.add_rows(fmt::format("quadratic[{}].cone", h), Cone::RotatedSecondOrder, size + 2);
        builder.set(cone, s, -1.0);
        for (Index i = 0; i < size; ++i) {
            builder.set(link + i, eta + i, 1.0);
            builder.set(cone + 2 + i, eta + i, -1.0);
        }
        layout_.s.push_back(s);
        layout_.eta.push_back(eta);
        layout_.quadratic_link.push_back(link);
        layout_.quadratic_cone.push_back(cone);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const bool left_out = network.conic[g].lambda == 0.0;
        const Index size = network.conic[g].A.rows();
        const Index t = left_out ? -1 : builder.add_columns(fmt::format("t[{}]", g), 1);
        const Index omega = left_out ? -1 : builder.add_columns(fmt::format("omega[{}]", g), size);
        const Index link = left_out ? -1 : builder.add_rows(fmt::format("conic[{}].link", g), Cone::Zero, size);
        const Index cone =
            left_out ? -1 : builder.add_rows(fmt::format("conic[{}].cone", g), Cone::SecondOrder, size + 1);
        if (!left_out) {
            builder.set(cone, t, -1.0);
            for (Index i = 0; i < size; ++i) {
                builder.set(link + i, omega + i, 1.0);
                builder.set(cone + 1 + i, omega + i, -1.0);
            }
        }
        layout_.t.push_back(t);
        layout_.omega.push_back(omega);
        layout_.conic_link.push_back(link);
        layout_.conic_cone.push_back(cone);
    }
    program_ = builder.build();
    program_.c.segment(layout_.z.back(), network.c.size()) = network.c;
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        program_.c(layout_.s[h]) = network.quadratic[h].alpha;
        program_.b(layout_.quadratic_cone[h] + 1) = 1.0;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (layout_.t[g] >= 0) program_.c(layout_.t[g]) = network.conic[g].lambda;
    set_point(Vector::Zero(network.input_dim));
}

void ValueFunction::set_point(const Vector& x) {
    for (std::size_t l = 0; l < network_->layers.size(); ++l) {
        const Layer& layer = network_->layers[l];
        auto b = program_.b.segment(layout_.relu[l], layer.units());
        b = -layer.b;
        b.noalias() -= layer.W * x;
    }
    for (std::size_t h = 0; h < network_->quadratic.size(); ++h) {
        const Quadratic& module = network_->quadratic[h];
        auto b = program_.b.segment(layout_.quadratic_link[h], module.e.size());
        b = module.e;
        b.noalias() += module.B * x;
    }
    for (std::size_t g = 0; g < network_->conic.size(); ++g) {
        const Conic& module = network_->conic[g];
        if (layout_.t[g] < 0) continue;
        auto b = program_.b.segment(layout_.conic_link[g], module.d.size());
        b = module.d;
        b.noalias() += module.A * x;
    }
    program_.c0 = network_->v.dot(x) + network_->b0;
}

Multipliers ValueFunction::multipliers(const Vector& y) const {
    Multipliers xi = zero_multipliers(*network_);
    for (std::size_t l = 0; l < xi.nu.size(); ++l)
        xi.nu[l] = y.segment(layout_.relu[l], xi.nu[l].size());
    for (std::size_t h = 0; h < xi.p.size(); ++h)
        xi.p[h] = -y.segment(layout_.quadratic_link[h], xi.p[h].size());
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        if (layout_.t[g] >= 0) xi.r[g] = -y.segment(layout_.conic_link[g], xi.r[g].size());
    return xi;
}

Vector ValueFunction::primal(const LocalState& state) const {
    Vector x = Vector::Zero(program_.columns());
    for (std::size_t l = 0; l < state.trace.z.size(); ++l)
        x.segment(layout_.z[l], state.trace.z[l].size()) = state.trace.z[l];
    for (std::size_t h = 0; h < state.trace.q.size(); ++h) {
        x(layout_.s[h]) = 0.5 * state.trace.q[h].squaredNorm();
        x.segment(layout_.eta[h], state.trace.q[h].size()) = state.trace.q[h];
    }
    for (std::size_t g = 0; g < state.trace.u.size(); ++g) {
        if (layout_.t[g] < 0) continue;
        x(layout_.t[g]) = state.conic_norm(static_cast<Index>(g));
        x.segment(layout_.omega[g], state.trace.u[g].size()) = state.trace.u[g];
    }
    return x;
}

Vector ValueFunction::dual(const Multipliers& xi) const {
    Vector y = Vector::Zero(program_.rows());
    for (std::size_t l = 0; l < xi.nu.size(); ++l) {
        y.segment(layout_.relu[l], xi.nu[l].size()) = xi.nu[l];
        y.segment(layout_.bound[l], xi.nu[l].size()) = upper_bound(*network_, xi.nu, l) - xi.nu[l];
    }
    for (std::size_t h = 0; h < xi.p.size(); ++h) {
        const double alpha = network_->quadratic[h].alpha;
        const Index size = xi.p[h].size(), cone = layout_.quadratic_cone[h];
        y.segment(layout_.quadratic_link[h], size) = -xi.p[h];
        y(cone) = alpha;
        y(cone + 1) = xi.p[h].squaredNorm() / (2.0 * alpha);
        y.segment(cone + 2, size) = -xi.p[h];
    }
    for (std::size_t g = 0; g < xi.r.size(); ++g) {
        if (layout_.t[g] < 0) continue;
        const Index size = xi.r[g].size(), cone = layout_.conic_cone[g];
        y.segment(layout_.conic_link[g], size) = -xi.r[g];
        y(cone) = network_->conic[g].lambda;
        y.segment(cone + 1, size) = -xi.r[g];
    }
    return y;
}

}  // namespace certicone::conic
