#include "conic/equilibrate.hpp"

#include <cmath>

namespace certicone::conic {

namespace {

/// The power of two nearest to 1/√size; 1 for size 0.
double step(double size) {
    if (!(size > 0.0) || !std::isfinite(size)) return 1.0;
    return std::exp2(-std::round(0.5 * std::log2(size)));
}

double largest_or_one(const Vector& vector) {
    const double size = vector.size() > 0 ? vector.lpNorm<Eigen::Infinity>() : 0.0;
    return size > 0.0 ? std::exp2(std::round(std::log2(size))) : 1.0;
}

}  // namespace

Scaling equilibrate(const ConicProgram& program) {
    Scaling scaling = no_scaling(program);
    SparseMatrix A = program.A.cwiseAbs();
    for (int round = 0; round < 20; ++round) {
        Vector row = Vector::Zero(A.rows()), column = Vector::Zero(A.cols());
        for (int j = 0; j < A.outerSize(); ++j)
            for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
                row(it.row()) = std::max(row(it.row()), it.value());
                column(j) = std::max(column(j), it.value());
            }
        for (const Block& block : program.blocks) {
            auto part = row.segment(block.begin, block.size);
            if (block.cone == Cone::Zero || block.cone == Cone::Nonnegative) {
                part = part.unaryExpr(&step);
            } else if (block.cone == Cone::SecondOrder || block.size < 3) {
                part.setConstant(step(part.maxCoeff()));
            } else {
                const double tail = step(part.tail(block.size - 2).maxCoeff());
                const double lean = step(part(0)) / tail;
                part.setConstant(tail);
                part(0) *= lean;
                part(1) /= lean;
            }
        }
        column = column.unaryExpr(&step);
        if ((row.array() == 1.0).all() && (column.array() == 1.0).all()) break;
        A = row.asDiagonal() * A * column.asDiagonal();
        scaling.row = scaling.row.cwiseProduct(row);
        scaling.column = scaling.column.cwiseProduct(column);
    }
    scaling.primal = largest_or_one(scaling.row.cwiseProduct(program.b));
    scaling.objective = 1.0 / largest_or_one(scaling.column.cwiseProduct(program.c));
    return scaling;
}

}  // namespace certicone::conic
