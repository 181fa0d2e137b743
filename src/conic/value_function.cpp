#include "conic/value_function.hpp"

#include <fmt/format.h>

namespace certicone::conic {

Parts Parts::all(const Network& network) {
    Parts parts;
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        parts.quadratic.push_back(h);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        parts.conic.push_back(g);
    return parts;
}

ValueFunction::ValueFunction(const Network& network, const Parts& parts) : network_(&network) {
    const std::size_t depth = network.layers.size();
    layout_.z.assign(depth, -1);
    layout_.relu = layout_.bound = layout_.z;
    layout_.s.assign(network.quadratic.size(), -1);
    layout_.eta = layout_.quadratic_link = layout_.quadratic_cone = layout_.s;
    layout_.t.assign(network.conic.size(), -1);
    layout_.omega = layout_.conic_link = layout_.conic_cone = layout_.t;

    Builder builder;
    for (std::size_t l = 0; parts.relu && l < depth; ++l)
        layout_.z[l] = builder.add_columns(fmt::format("z[{}]", l), network.layers[l].units());
    for (std::size_t l = 0; parts.relu && l < depth; ++l) {
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
        layout_.relu[l] = relu;
        layout_.bound[l] = bound;
    }
    for (const std::size_t h : parts.quadratic) {
        const Index size = network.quadratic[h].B.rows();
        const Index s = layout_.s[h] = builder.add_columns(fmt::format("s[{}]", h), 1);
        const Index eta = layout_.eta[h] = builder.add_columns(fmt::format("eta[{}]", h), size);
        const Index link = builder.add_rows(fmt::format("quadratic[{}].link", h), Cone::Zero, size);
        const Index cone = builder.add_rows(fmt::format("quadratic[{}].cone", h), Cone::RotatedSecondOrder, size + 2);
        builder.set(cone, s, -1.0);
        for (Index i = 0; i < size; ++i) {
            builder.set(link + i, eta + i, 1.0);
            builder.set(cone + 2 + i, eta + i, -1.0);
        }
        layout_.quadratic_link[h] = link;
        layout_.quadratic_cone[h] = cone;
    }
    for (const std::size_t g : parts.conic) {
        if (network.conic[g].lambda == 0.0) continue;
        const Index size = network.conic[g].A.rows();
        const Index t = layout_.t[g] = builder.add_columns(fmt::format("t[{}]", g), 1);
        const Index omega = layout_.omega[g] = builder.add_columns(fmt::format("omega[{}]", g), size);
        const Index link = builder.add_rows(fmt::format("conic[{}].link", g), Cone::Zero, size);
        const Index cone = builder.add_rows(fmt::format("conic[{}].cone", g), Cone::SecondOrder, size + 1);
        builder.set(cone, t, -1.0);
        for (Index i = 0; i < size; ++i) {
            builder.set(link + i, omega + i, 1.0);
            builder.set(cone + 1 + i, omega + i, -1.0);
        }
        layout_.conic_link[g] = link;
        layout_.conic_cone[g] = cone;
    }
    program_ = builder.build();
    if (parts.relu) program_.c.segment(layout_.z.back(), network.c.size()) = network.c;
    for (const std::size_t h : parts.quadratic) {
        program_.c(layout_.s[h]) = network.quadratic[h].alpha;
        program_.b(layout_.quadratic_cone[h] + 1) = 1.0;
    }
    for (const std::size_t g : parts.conic)
        if (layout_.t[g] >= 0) program_.c(layout_.t[g]) = network.conic[g].lambda;
    set_point(Vector::Zero(network.input_dim));
}

void ValueFunction::set_point(const Vector& x) {
    for (std::size_t l = 0; l < network_->layers.size(); ++l) {
        const Layer& layer = network_->layers[l];
        if (layout_.z[l] < 0) continue;
        auto b = program_.b.segment(layout_.relu[l], layer.units());
        b = -layer.b;
        b.noalias() -= layer.W * x;
    }
    for (std::size_t h = 0; h < network_->quadratic.size(); ++h) {
        const Quadratic& module = network_->quadratic[h];
        if (layout_.s[h] < 0) continue;
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
    if (layout_.z.front() >= 0) program_.c0 = network_->v.dot(x) + network_->b0;
}

Multipliers ValueFunction::multipliers(const Vector& y) const {
    Multipliers xi = zero_multipliers(*network_);
    for (std::size_t l = 0; l < xi.nu.size(); ++l)
        if (layout_.z[l] >= 0) xi.nu[l] = y.segment(layout_.relu[l], xi.nu[l].size());
    for (std::size_t h = 0; h < xi.p.size(); ++h)
        if (layout_.s[h] >= 0) xi.p[h] = -y.segment(layout_.quadratic_link[h], xi.p[h].size());
    for (std::size_t g = 0; g < xi.r.size(); ++g)
        if (layout_.t[g] >= 0) xi.r[g] = -y.segment(layout_.conic_link[g], xi.r[g].size());
    return xi;
}

Vector ValueFunction::squares(const Vector& y) const {
    Vector result = Vector::Zero(static_cast<Index>(network_->quadratic.size()));
    for (std::size_t h = 0; h < layout_.quadratic_cone.size(); ++h)
        if (layout_.quadratic_cone[h] >= 0) result(static_cast<Index>(h)) = y(layout_.quadratic_cone[h] + 1);
    return result;
}

Vector ValueFunction::primal(const LocalState& state) const {
    Vector x = Vector::Zero(program_.columns());
    for (std::size_t l = 0; l < state.trace.z.size(); ++l)
        if (layout_.z[l] >= 0) x.segment(layout_.z[l], state.trace.z[l].size()) = state.trace.z[l];
    for (std::size_t h = 0; h < state.trace.q.size(); ++h) {
        if (layout_.s[h] < 0) continue;
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
        if (layout_.z[l] < 0) continue;
        y.segment(layout_.relu[l], xi.nu[l].size()) = xi.nu[l];
        y.segment(layout_.bound[l], xi.nu[l].size()) = upper_bound(*network_, xi.nu, l) - xi.nu[l];
    }
    for (std::size_t h = 0; h < xi.p.size(); ++h) {
        if (layout_.s[h] < 0) continue;
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
