#include "verify/answer.hpp"

#include <fmt/format.h>

namespace certicone::verify {

namespace {

using conic::Block;
using conic::ConicProgram;

constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// The largest entry of a row vector where solvers measure it: with rotated cones mapped to second-order cones by
/// (t, s) ↦ ((t+s)/√2, (t−s)/√2). The map is orthogonal, but it moves the largest entry by up to √2.
double largest_row(const ConicProgram& program, Vector rows) {
    for (const Block& block : program.blocks) {
        if (block.cone != conic::Cone::RotatedSecondOrder) continue;
        const double t = rows(block.begin), s = rows(block.begin + 1);
        rows(block.begin) = (t + s) * std::sqrt(0.5);
        rows(block.begin + 1) = (t - s) * std::sqrt(0.5);
    }
    return rows.size() > 0 ? rows.lpNorm<Eigen::Infinity>() : 0.0;
}

double largest(const Vector& vector) { return vector.size() > 0 ? vector.lpNorm<Eigen::Infinity>() : 0.0; }

/// A sum of n products is off by at most γ_n times the sum of sizes (Higham, §3.1); ε = 2u leaves room for the bound's own.
double roundings(const ConicProgram& program) {
    return kUnit * static_cast<double>(program.rows() + program.columns() + 8);
}

struct Products {
    Vector Ax, Px, Aty;
    Vector primal_rounding, dual_rounding;
    double half_square, cx, by, objective_rounding;

    Products(const ConicProgram& program, const solvers::Solution& solution)
        : Ax(program.A * solution.x), Px(program.P * solution.x), Aty(program.A.transpose() * solution.y) {
        const conic::SparseMatrix A = program.A.cwiseAbs(), P = program.P.cwiseAbs();
        const Vector x = solution.x.cwiseAbs(), y = solution.y.cwiseAbs(), size_of_Px = P * x;
        const double unit = roundings(program);
        primal_rounding = unit * (A * x + solution.s.cwiseAbs() + program.b.cwiseAbs());
        dual_rounding = unit * (size_of_Px + A.transpose() * y + program.c.cwiseAbs());
        half_square = 0.5 * solution.x.dot(Px);
        cx = program.c.dot(solution.x);
        by = program.b.dot(solution.y);
        objective_rounding = unit * (program.c.cwiseAbs().dot(x) + program.b.cwiseAbs().dot(y) + x.dot(size_of_Px));
    }
};

}  // namespace

Residuals residuals(const ConicProgram& program, const solvers::Solution& solution) {
    const Products products(program, solution);
    Residuals result;
    result.primal = (products.Ax + solution.s - program.b).cwiseAbs() + products.primal_rounding;
    result.dual = (products.Px + products.Aty + program.c).cwiseAbs() + products.dual_rounding;
    result.cone = Vector::Zero(static_cast<Index>(program.blocks.size()));
    for (std::size_t k = 0; k < program.blocks.size(); ++k) {
        const Block& block = program.blocks[k];
        const auto s = solution.s.segment(block.begin, block.size), y = solution.y.segment(block.begin, block.size);
        // Distances are computed from entries, so they are off by a few units of the block's size.
        const double unit = roundings(program);
        result.primal.segment(block.begin, block.size).array() +=
            conic::cone_distance(block.cone, s, false) + unit * s.norm();
        result.cone(static_cast<Index>(k)) = conic::cone_distance(block.cone, y, true) + unit * y.norm();
    }
    result.objective_rounding = products.objective_rounding;
    return result;
}

std::optional<std::string> broken_promise(const ConicProgram& program, const solvers::Solution& solution,
                                          const solvers::Settings& settings) {
    if (solution.claimed.status != solvers::Status::Solved)
        return fmt::format("the solver ends with '{}' after {} iterations", solution.claimed.text,
                           solution.claimed.iterations);
    if (!solution.x.allFinite() || !solution.s.allFinite() || !solution.y.allFinite())
        return fmt::format("claims '{}', but its answer is not finite", solution.claimed.text);
    const Products products(program, solution);
    std::optional<std::string> broken;
    const auto require = [&](std::string_view what, double value, double size, double rounding) {
        const double limit = settings.eps_abs + settings.eps_rel * size + 2.0 * rounding;
        if (!broken && !(value <= limit))
            broken = fmt::format("claims '{}', but its {} is {:.2e} where {:.2e} was asked for", solution.claimed.text,
                                 what, value, limit);
    };
    const double primal_size = std::max(
        {largest_row(program, products.Ax), largest_row(program, solution.s), largest_row(program, program.b)});
    const double dual_size = std::max({largest(products.Px), largest(products.Aty), largest(program.c)});
    require("primal residual", largest_row(program, products.Ax + solution.s - program.b), primal_size,
            largest(products.primal_rounding));
    require("dual residual", largest(products.Px + products.Aty + program.c), dual_size,
            largest(products.dual_rounding));
    require("gap", std::abs(2.0 * products.half_square + products.cx + products.by),
            std::max({std::abs(products.half_square + products.cx), std::abs(products.half_square + products.by)}),
            products.objective_rounding);
    require("distance from the cone", solution.measured.primal_cone, primal_size, largest(products.primal_rounding));
    require("distance from the dual cone", solution.measured.dual_cone, largest(solution.y),
            roundings(program) * largest(solution.y));
    return broken;
}

double proved_lower_bound(const ConicProgram& program, const solvers::Solution& solution, const Vector& box,
                          const Vector& size) {
    const Products products(program, solution);
    const Residuals found = residuals(program, solution);
    return -products.half_square - products.by - found.dual.dot(box) - found.cone.dot(size) -
           products.objective_rounding;
}

}  // namespace certicone::verify
