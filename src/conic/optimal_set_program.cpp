#include "conic/optimal_set_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace certicone::conic {

namespace {

/// Units of ν. Max-readout: its largest value on D*(x), which makes C W a contribution to f'. Min-norm, whose ½‖ν‖² has units
/// of its own: ν̂. Where those are 0, the dual box or the size of ‖ξ̂‖, but no more than the rows that read ν (ub of the layer
/// below) allow: a residual there must not outweigh the rest.
std::vector<Vector> units_of(const Network& network, const Pattern& pattern, Goal goal, const Multipliers& canonical) {
    const bool readout = goal == Goal::MaxReadout;
    std::vector<Vector> unit = select_backward(network, [&](std::size_t l, Index i, double ub) {
        return pattern.sign[l](i) > 0 || (readout && pattern.sign[l](i) == 0) ? ub : 0.0;
    });
    const std::vector<Vector> box = dual_box(network);
    const double norm = std::sqrt(squared_norm(canonical));
    const auto or_one = [](double size) { return size > 0.0 ? size : 1.0; };
    for (std::size_t l = 0; l < unit.size(); ++l)
        for (Index i = 0; i < unit[l].size(); ++i) {
            if (unit[l](i) > 0.0) continue;
            unit[l](i) = or_one(readout ? box[l](i) : norm);
            for (Index j = 0; j < network.layers[l].U.cols(); ++j)
                if (const double entry = network.layers[l].U(i, j); entry > 0.0)
                    unit[l](i) = std::min(unit[l](i), unit[l - 1](j) / entry);
        }
    return unit;
}

}  // namespace

OptimalSetProgram::OptimalSetProgram(const Network& network, const LocalState& state, Goal goal, bool conic)
    : network_(&network),
      goal_(goal),
      canonical_(canonical_selector(network, state)),
      unit_(units_of(network, state.pattern, goal, canonical_)) {
    Builder builder;
    const std::size_t depth = network.layers.size();
    for (std::size_t l = 0; l < depth; ++l)
        nu_.push_back(builder.add_columns(fmt::format("nu[{}]", l), network.layers[l].units()));
    std::vector<std::pair<Index, double>> offsets;  // entries of b: c in the last layer
    // s = ν_i
    const auto put_lower = [&](Index row, std::size_t l, Index i) {
        builder.set(row, nu_[l] + i, -1.0);
        lower_[l](i) = row;
        row_unit_.push_back(unit_[l](i));
    };
    // s = ub(ν)_i − ν_i
    const auto put_upper = [&](Index row, std::size_t l, Index i) {
        builder.set(row, nu_[l] + i, 1.0);
        upper_[l](i) = row;
        double largest = unit_[l](i);  // of the row's entries
        if (l + 1 == depth) {
            offsets.emplace_back(row, network.c(i));
        } else {
            const Matrix& U = network.layers[l + 1].U;
            for (Index j = 0; j < U.rows(); ++j) {
                builder.set(row, nu_[l + 1] + j, -U(j, i));
                largest = std::max(largest, U(j, i) * unit_[l + 1](j));
            }
        }
        row_unit_.push_back(largest);
    };
    for (std::size_t l = 0; l < depth; ++l) {
        const Pattern::Signs& sign = state.pattern.sign[l];
        const Index free = (sign.array() == 0).count(), fixed = sign.size() - free;
        lower_.emplace_back(Eigen::Matrix<Index, Eigen::Dynamic, 1>::Constant(sign.size(), -1));
        upper_.push_back(lower_.back());
        if (fixed > 0) {
            Index row = builder.add_rows(fmt::format("nu[{}].fixed", l), Cone::Zero, fixed);
            for (Index i = 0; i < sign.size(); ++i) {
                if (sign(i) == 0) continue;
                sign(i) < 0 ? put_lower(row++, l, i) : put_upper(row++, l, i);
            }
        }
        if (free > 0) {
            Index row = builder.add_rows(fmt::format("nu[{}].free", l), Cone::Nonnegative, 2 * free);
            for (Index i = 0; i < sign.size(); ++i) {
                if (sign(i) != 0) continue;
                put_lower(row++, l, i);
                put_upper(row++, l, i);
            }
        }
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const bool in = conic && state.pattern.conic_zero[g] && network.conic[g].lambda > 0.0;
        const Index size = network.conic[g].A.rows();
        r_.push_back(in ? builder.add_columns(fmt::format("r[{}]", g), size) : -1);
        ball_.push_back(in ? builder.add_rows(fmt::format("conic[{}]", g), Cone::SecondOrder, size + 1) : -1);
        if (!in) continue;
        for (Index i = 0; i < size; ++i)
            builder.set(ball_[g] + 1 + i, r_[g] + i, -1.0);
        offsets.emplace_back(ball_[g], network.conic[g].lambda);
        row_unit_.insert(row_unit_.end(), static_cast<std::size_t>(size + 1), network.conic[g].lambda);
    }
    program_ = builder.build();
    for (const auto& [row, value] : offsets)
        program_.b(row) = value;
    if (goal == Goal::MaxReadout) return;

    program_.P.setIdentity();
    for (const Vector& p : canonical_.p)
        program_.c0 += 0.5 * p.squaredNorm();
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] < 0) program_.c0 += 0.5 * canonical_.r[g].squaredNorm();
}

void OptimalSetProgram::set_direction(const Vector& direction) {
    Multipliers weight = zero_multipliers(*network_);
    for (std::size_t l = 0; l < nu_.size(); ++l)
        weight.nu[l] = network_->layers[l].W * direction;
    for (std::size_t g = 0; g < r_.size(); ++g)
        weight.r[g] = network_->conic[g].A * direction;
    set_weights(weight);
    program_.c0 -= network_->v.dot(direction);
    for (std::size_t h = 0; h < canonical_.p.size(); ++h)
        program_.c0 -= canonical_.p[h].dot(network_->quadratic[h].B * direction);
}

void OptimalSetProgram::set_weights(const Multipliers& weight) {
    program_.c0 = 0.0;
    for (std::size_t l = 0; l < nu_.size(); ++l)
        program_.c.segment(nu_[l], weight.nu[l].size()) = -weight.nu[l];
    for (std::size_t g = 0; g < r_.size(); ++g) {
        if (r_[g] >= 0)
            program_.c.segment(r_[g], weight.r[g].size()) = -weight.r[g];
        else
            program_.c0 -= weight.r[g].dot(canonical_.r[g]);
    }
}

Multipliers OptimalSetProgram::multipliers(const Vector& x) const {
    Multipliers xi = canonical_;
    for (std::size_t l = 0; l < nu_.size(); ++l)
        xi.nu[l] = x.segment(nu_[l], xi.nu[l].size());
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) xi.r[g] = x.segment(r_[g], xi.r[g].size());
    return xi;
}

Vector OptimalSetProgram::primal(const Multipliers& xi) const {
    Vector x(program_.columns());
    for (std::size_t l = 0; l < nu_.size(); ++l)
        x.segment(nu_[l], xi.nu[l].size()) = xi.nu[l];
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0) x.segment(r_[g], xi.r[g].size()) = xi.r[g];
    return x;
}

std::vector<Vector> OptimalSetProgram::rates(const Vector& x) const {
    const Vector gradient = program_.P * x + program_.c;
    std::vector<Vector> rate;
    Vector upper;
    for (std::size_t l = 0; l < nu_.size(); ++l) {
        rate.emplace_back(-gradient.segment(nu_[l], upper_[l].size()));
        if (l > 0) rate[l] += network_->layers[l].U * upper;
        upper = Vector::Zero(upper_[l].size());
        for (Index i = 0; i < upper.size(); ++i)
            if (upper_[l](i) >= 0) upper(i) = lower_[l](i) < 0 ? rate[l](i) : std::max(rate[l](i), 0.0);
    }
    return rate;
}

Vector OptimalSetProgram::dual(const Vector& x) const {
    Vector y = Vector::Zero(program_.rows());
    const std::vector<Vector> rate = rates(x);
    for (std::size_t l = 0; l < nu_.size(); ++l)
        for (Index i = 0; i < rate[l].size(); ++i) {
            const bool both = lower_[l](i) >= 0 && upper_[l](i) >= 0;
            if (upper_[l](i) >= 0) y(upper_[l](i)) = both ? std::max(rate[l](i), 0.0) : rate[l](i);
            if (lower_[l](i) >= 0) y(lower_[l](i)) = both ? std::max(-rate[l](i), 0.0) : -rate[l](i);
        }
    const Vector gradient = program_.P * x + program_.c;
    for (std::size_t g = 0; g < r_.size(); ++g) {
        if (r_[g] < 0) continue;
        const auto part = gradient.segment(r_[g], network_->conic[g].d.size());
        y(ball_[g]) = part.stableNorm();
        y.segment(ball_[g] + 1, part.size()) = part;
    }
    return y;
}

Scaling OptimalSetProgram::scaling() const {
    Scaling scaling = no_scaling(program_);
    for (std::size_t k = 0; k < row_unit_.size(); ++k)
        scaling.row(static_cast<Index>(k)) = 1.0 / row_unit_[k];
    for (std::size_t l = 0; l < nu_.size(); ++l)
        scaling.column.segment(nu_[l], unit_[l].size()) = unit_[l];
    for (std::size_t g = 0; g < r_.size(); ++g)
        if (r_[g] >= 0)
            scaling.column.segment(r_[g], network_->conic[g].d.size()).setConstant(network_->conic[g].lambda);
    const double size = goal_ == Goal::MaxReadout ? scaling.column.cwiseProduct(program_.c).lpNorm<Eigen::Infinity>()
                                                  : scaling.column.cwiseAbs2().maxCoeff();
    scaling.objective = size > 0.0 ? 1.0 / size : 1.0;
    return scaling;
}

}  // namespace certicone::conic
