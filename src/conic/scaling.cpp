#include "conic/scaling.hpp"

#include <cmath>

#include "conic/power_of_two.hpp"

namespace certicone::conic {

Scaling no_scaling(const ConicProgram& program) {
    return {Vector::Ones(program.rows()), Vector::Ones(program.columns()), 1.0, 1.0};
}

ConicProgram scaled(const ConicProgram& program, const Scaling& scaling) {
    ConicProgram result = program;
    result.A = scaling.row.asDiagonal() * program.A * scaling.column.asDiagonal();
    result.P = scaling.column.asDiagonal() * program.P * scaling.column.asDiagonal();
    result.P *= scaling.objective * scaling.primal;
    result.A.makeCompressed();
    result.P.makeCompressed();
    result.b = scaling.scaled_b(program.b);
    result.c = scaling.scaled_c(program.c);
    result.c0 = 0.0;
    return result;
}

Scaling by_powers_of_two(const ConicProgram& program, const Scaling& scaling) {
    Scaling result{scaling.row.unaryExpr(&power_of_two), scaling.column.unaryExpr(&power_of_two),
                   power_of_two(scaling.primal), power_of_two(scaling.objective)};
    for (const Block& block : program.blocks) {
        if (block.cone != Cone::RotatedSecondOrder || block.size < 2) continue;
        // (ρσ, ρ/σ, ρ, …)
        const double first = std::log2(scaling.row(block.begin)), second = std::log2(scaling.row(block.begin + 1));
        const double rho = std::round(0.5 * (first + second)), sigma = std::round(0.5 * (first - second));
        result.row(block.begin) = std::exp2(rho + sigma);
        result.row(block.begin + 1) = std::exp2(rho - sigma);
        result.row.segment(block.begin + 2, block.size - 2).setConstant(std::exp2(rho));
    }
    return result;
}

std::vector<Vector> dual_box(const Network& network) {
    return select_backward(network, [](std::size_t, Index, double ub) { return ub; });
}

DualBoxScaling::DualBoxScaling(const ValueFunction& value_function) : value_function_(&value_function) {
    const Network& network = value_function.network();
    const ValueFunction::Layout& layout = value_function.layout();
    scaling_.row = Vector::Ones(value_function.program().rows());
    scaling_.column = Vector::Ones(value_function.program().columns());
    box_ = dual_box(network);
    for (std::size_t l = 0; l < box_.size(); ++l) {
        if (layout.z[l] < 0) continue;
        Vector unit = box_[l];
        for (Index i = 0; i < unit.size(); ++i) {
            if (unit(i) > 0.0) continue;
            // A unit that cannot matter: its row must not outweigh the others where it reads units with a small ub.
            double sum = 1.0;
            for (Index j = 0; j < network.layers[l].U.cols(); ++j)
                sum += network.layers[l].U(i, j) * scaling_.column(layout.z[l - 1] + j);
            unit(i) = 1.0 / sum;
        }
        scaling_.row.segment(layout.relu[l], unit.size()) = unit;
        scaling_.row.segment(layout.bound[l], unit.size()) = unit;
        scaling_.column.segment(layout.z[l], unit.size()) = unit.cwiseInverse();
    }
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        if (layout.s[h] < 0) continue;
        scaling_.row(layout.quadratic_cone[h]) = network.quadratic[h].alpha;
        scaling_.column(layout.s[h]) = 1.0 / network.quadratic[h].alpha;
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        if (layout.t[g] < 0) continue;
        const double lambda = network.conic[g].lambda;
        const Index size = network.conic[g].d.size();
        scaling_.row.segment(layout.conic_link[g], size).setConstant(lambda);
        scaling_.row.segment(layout.conic_cone[g], size + 1).setConstant(lambda);
        scaling_.column(layout.t[g]) = 1.0 / lambda;
        scaling_.column.segment(layout.omega[g], size).setConstant(1.0 / lambda);
    }
}

const Scaling& DualBoxScaling::at_current_point() {
    const Network& network = value_function_->network();
    const ValueFunction::Layout& layout = value_function_->layout();
    const Vector& b = value_function_->program().b;
    // σ without the quadratic modules first: it is the natural size where a module's residual vanishes.
    double size = 0.0;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        if (layout.z[l] < 0) continue;
        const Index units = network.layers[l].units();
        size = std::max(size, box_[l].cwiseProduct(b.segment(layout.relu[l], units)).lpNorm<Eigen::Infinity>());
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (layout.t[g] >= 0)
            size = std::max(size, network.conic[g].lambda *
                                      b.segment(layout.conic_link[g], network.conic[g].d.size()).stableNorm());
    const double without_modules = size > 0.0 ? size : 1.0;
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        if (layout.s[h] < 0) continue;
        const double alpha = network.quadratic[h].alpha;
        const Index count = network.quadratic[h].e.size();
        const double length = b.segment(layout.quadratic_link[h], count).stableNorm();
        const double tau = length > 0.0 ? length / std::sqrt(2.0) : std::sqrt(without_modules / alpha);
        scaling_.row.segment(layout.quadratic_link[h], count).setConstant(alpha * tau);
        scaling_.row(layout.quadratic_cone[h] + 1) = alpha * tau * tau;
        scaling_.row.segment(layout.quadratic_cone[h] + 2, count).setConstant(alpha * tau);
        scaling_.column.segment(layout.eta[h], count).setConstant(1.0 / (alpha * tau));
        size = std::max(size, alpha * tau * tau);
    }
    scaling_.primal = size > 0.0 ? size : 1.0;
    return scaling_;
}

}  // namespace certicone::conic
