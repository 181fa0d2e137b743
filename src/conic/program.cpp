#include "conic/program.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "support/error.hpp"

namespace certicone::conic {

std::string_view to_string(Cone cone) {
    switch (cone) {
        case Cone::Zero: return "zero";
        case Cone::Nonnegative: return "nonnegative";
        case Cone::SecondOrder: return "second-order";
        case Cone::RotatedSecondOrder: return "rotated second-order";
    }
    return "unknown";
}

const Block& ConicProgram::block(std::string_view name) const {
    for (const Block& candidate : blocks)
        if (candidate.name == name) return candidate;
    throw InputError(fmt::format("the program has no block '{}'", name));
}

void validate(const ConicProgram& program) {
    const Index m = program.A.rows(), n = program.A.cols();
    const auto require = [](bool holds, std::string_view what) {
        if (!holds) throw InputError(fmt::format("conic program: {}", what));
    };
    require(m > 0 && n > 0, "no rows or no columns");
    require(program.b.size() == m && program.c.size() == n, "b or c does not fit A");
    require(program.P.rows() == n && program.P.cols() == n, "P does not fit A");
    require(program.b.allFinite() && program.c.allFinite() && std::isfinite(program.c0), "b or c is not finite");
    for (const SparseMatrix* matrix : {&program.A, &program.P})
        for (Index k = 0; k < matrix->nonZeros(); ++k)
            require(std::isfinite(matrix->valuePtr()[k]), "an entry of A or P is not finite");
    Index next = 0;
    for (const Block& block : program.blocks) {
        require(block.begin == next && block.size > 0,
                fmt::format("block '{}' does not follow the one before", block.name));
        require(block.cone != Cone::RotatedSecondOrder || block.size >= 2,
                fmt::format("block '{}': a rotated cone needs two rows", block.name));
        next += block.size;
    }
    require(next == m, "the blocks do not cover the rows");
    next = 0;
    for (const Columns& columns : program.variables) {
        require(columns.begin == next, fmt::format("variables '{}' do not follow the ones before", columns.name));
        next += columns.size;
    }
    require(next == n, "the variables do not cover the columns");
}

namespace {

double second_order_distance(double t, double length) {
    if (length <= t) return 0.0;
    return length <= -t ? std::hypot(t, length) : (length - t) / std::sqrt(2.0);
}

}  // namespace

double cone_distance(Cone cone, const Eigen::Ref<const Vector>& part, bool dual) {
    if (part.hasNaN()) return std::numeric_limits<double>::quiet_NaN();  // which std::max and min would lose
    switch (cone) {
        case Cone::Zero: return dual ? 0.0 : part.stableNorm();
        case Cone::Nonnegative: return part.cwiseMin(0.0).stableNorm();
        case Cone::SecondOrder: return second_order_distance(part(0), part.tail(part.size() - 1).stableNorm());
        case Cone::RotatedSecondOrder:
            // (t, s) ↦ ((t+s)/√2, (t−s)/√2) is an isometry onto the second-order cone.
            return second_order_distance(
                (part(0) + part(1)) / std::sqrt(2.0),
                std::hypot((part(0) - part(1)) / std::sqrt(2.0), part.tail(part.size() - 2).stableNorm()));
    }
    return 0.0;
}

Index Builder::add_columns(std::string name, Index count) {
    variables_.push_back({std::move(name), columns_, count});
    columns_ += count;
    return columns_ - count;
}

Index Builder::add_rows(std::string name, Cone cone, Index count) {
    blocks_.push_back({std::move(name), cone, rows_, count});
    rows_ += count;
    return rows_ - count;
}

ConicProgram Builder::build() {
    ConicProgram program;
    program.A.resize(rows_, columns_);
    program.A.setFromTriplets(entries_.begin(), entries_.end());
    program.A.makeCompressed();
    program.P.resize(columns_, columns_);
    program.P.makeCompressed();
    program.b = Vector::Zero(rows_);
    program.c = Vector::Zero(columns_);
    program.blocks = std::move(blocks_);
    program.variables = std::move(variables_);
    return program;
}

}  // namespace certicone::conic
