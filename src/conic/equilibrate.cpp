#include "conic/equilibrate.hpp"

#include <cmath>
#include <limits>

#include "conic/power_of_two.hpp"

namespace certicone::conic {

namespace {

/// The power of two nearest to 1/√size; 1 for size 0.
double step(double size) {
    if (!(size > 0.0) || !std::isfinite(size)) return 1.0;
    return std::exp2(-std::round(0.5 * std::log2(size)));
}

double largest_or_one(const Vector& vector) {
    const double size = vector.size() > 0 ? vector.lpNorm<Eigen::Infinity>() : 0.0;
    return size > 0.0 ? power_of_two(size) : 1.0;
}

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Upper bounds of nonnegative unknowns from rows ±(offset − Σ a_k u_k) ≥ 0 of the matrix M (by columns: one column of M is
/// one such row): where a_k > 0, a_k u_k ≤ offset + Σ_{a_l<0} |a_l| u_l. Unknowns without a sign give no bound.
Vector propagate(const SparseMatrix& M, const Vector& offset, const std::vector<bool>& usable,
                 const std::vector<bool>& nonnegative) {
    Vector bound = Vector::Constant(M.rows(), kNone);
    for (int round = 0; round < 100; ++round) {
        bool changed = false;
        for (int j = 0; j < M.outerSize(); ++j) {
            if (!usable[static_cast<std::size_t>(j)]) continue;
            double room = offset(j);
            for (SparseMatrix::InnerIterator it(M, j); it; ++it) {
                if (!nonnegative[static_cast<std::size_t>(it.row())]) room = kNone;
                if (it.value() < 0.0) room += -it.value() * bound(it.row());
            }
            if (!(room < kNone)) continue;
            for (SparseMatrix::InnerIterator it(M, j); it; ++it) {
                if (!(it.value() > 0.0) || bound(it.row()) < kNone) continue;  // the first bound will do
                bound(it.row()) = std::max(room, 0.0) / it.value();
                changed = true;
            }
        }
        if (!changed) break;
    }
    return bound;
}

bool useful(double bound) { return bound > 0.0 && bound < kNone; }

/// Bounds of |y|: columns of A say Σ −A_ij y_i = c_j where the objective is linear there. First by signs; then a column of
/// which all rows but one are bounded bounds that one, and the first row of a second-order cone its others (as λ bounds r).
Vector bounds_of_y(const ConicProgram& program) {
    std::vector<bool> linear(static_cast<std::size_t>(program.columns()), true);
    for (int j = 0; j < program.P.outerSize(); ++j)
        linear[static_cast<std::size_t>(j)] = program.P.col(j).nonZeros() == 0;
    std::vector<bool> nonnegative(static_cast<std::size_t>(program.rows()), false);
    for (const Block& block : program.blocks)
        for (Index i = block.begin; i < block.begin + block.size; ++i)
            nonnegative[static_cast<std::size_t>(i)] = block.cone == Cone::Nonnegative;
    Vector bound = propagate(-program.A, program.c, linear, nonnegative);
    for (bool changed = true; changed;) {
        changed = false;
        for (int j = 0; j < program.A.outerSize(); ++j) {
            if (!linear[static_cast<std::size_t>(j)]) continue;
            double sum = std::abs(program.c(j)), entry = 0.0;
            Index open = -1, count = 0;
            for (SparseMatrix::InnerIterator it(program.A, j); it; ++it) {
                if (it.value() == 0.0) continue;
                if (bound(it.row()) < kNone) {
                    sum += std::abs(it.value()) * bound(it.row());
                } else {
                    open = it.row();
                    entry = std::abs(it.value());
                    ++count;
                }
            }
            if (count != 1 || !(sum / entry < kNone)) continue;  // too large for a double: no bound
            bound(open) = sum / entry;
            changed = true;
        }
        for (const Block& block : program.blocks) {
            if (block.cone != Cone::SecondOrder || !(bound(block.begin) < kNone)) continue;
            for (Index i = block.begin + 1; i < block.begin + block.size; ++i) {
                changed = changed || !(bound(i) < kNone);
                bound(i) = std::min(bound(i), bound(block.begin));
            }
        }
    }
    return bound;
}

/// Columns that are nonnegative by rows −a x_j + s = 0, and by equations a x_j = b + Σ a_k x_k with b, a_k, x_k ≥ 0.
std::vector<bool> nonnegative_columns(const ConicProgram& program, const SparseMatrix& rows) {
    std::vector<bool> nonnegative(static_cast<std::size_t>(program.columns()), false);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Block& block : program.blocks) {
            if (block.cone != Cone::Nonnegative && block.cone != Cone::Zero) continue;
            for (Index i = block.begin; i < block.begin + block.size; ++i) {
                const bool equation = block.cone == Cone::Zero;
                // In a row of s ≥ 0 the column of interest has the negative entry, in an equation the positive one.
                Index candidate = -1, others = 0;
                for (SparseMatrix::InnerIterator it(rows, i); it; ++it) {
                    if ((it.value() > 0.0) == equation && candidate < 0)
                        candidate = it.row();
                    else
                        others += (it.value() > 0.0) == equation || !nonnegative[static_cast<std::size_t>(it.row())];
                }
                const bool holds = equation ? program.b(i) >= 0.0 : program.b(i) <= 0.0;
                if (candidate < 0 || others > 0 || !holds || nonnegative[static_cast<std::size_t>(candidate)]) continue;
                nonnegative[static_cast<std::size_t>(candidate)] = changed = true;
            }
        }
    }
    return nonnegative;
}

/// Bounds of x: rows s = b − Ax ≥ 0 or = 0.
Vector bounds_of_x(const ConicProgram& program) {
    const SparseMatrix rows = program.A.transpose();
    std::vector<bool> linear(static_cast<std::size_t>(program.rows()), false);
    for (const Block& block : program.blocks) {
        if (block.cone != Cone::Nonnegative && block.cone != Cone::Zero) continue;
        for (Index i = block.begin; i < block.begin + block.size; ++i)
            linear[static_cast<std::size_t>(i)] = true;
    }
    return propagate(rows, program.b, linear, nonnegative_columns(program, rows));
}

/// 1 / the largest entry of each column of R|A|, where that column meets a bounded row.
void divide_columns(const SparseMatrix& A, const Vector& bound, const Vector& row, Vector& column) {
    for (int j = 0; j < A.outerSize(); ++j) {
        double largest = 0.0;
        bool met = false;
        for (SparseMatrix::InnerIterator it(A, j); it; ++it) {
            met = met || useful(bound(it.row()));
            if (useful(bound(it.row()))) largest = std::max(largest, row(it.row()) * std::abs(it.value()));
        }
        if (met && largest > 0.0) column(j) = power_of_two(1.0 / largest);
    }
}

}  // namespace

Scaling equilibrate(const ConicProgram& program) {
    Scaling scaling = no_scaling(program);
    const Vector y = bounds_of_y(program), x = bounds_of_x(program);
    const auto share = [](const Vector& bound) { return bound.unaryExpr(&useful).cast<double>().mean(); };
    if (share(y) > share(x)) {
        for (Index i = 0; i < y.size(); ++i)
            if (useful(y(i))) scaling.row(i) = power_of_two(y(i));
        for (const Block& block : program.blocks) {  // what leaves a cone as it is
            auto rows = scaling.row.segment(block.begin, block.size);
            if (block.cone == Cone::SecondOrder) rows.setConstant(Vector(rows)(0));
            if (block.cone == Cone::RotatedSecondOrder) rows.setOnes();
        }
        divide_columns(program.A, y, scaling.row, scaling.column);
    } else {
        for (Index j = 0; j < x.size(); ++j)
            if (useful(x(j))) scaling.column(j) = power_of_two(x(j));
        divide_columns(program.A.transpose(), x, scaling.column, scaling.row);
        for (const Block& block : program.blocks)  // the rows of a cone have one unit, which the iteration below finds
            if (block.cone == Cone::SecondOrder || block.cone == Cone::RotatedSecondOrder)
                scaling.row.segment(block.begin, block.size).setOnes();
    }
    SparseMatrix A = scaling.row.asDiagonal() * program.A.cwiseAbs() * scaling.column.asDiagonal();
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
    double objective = scaling.column.cwiseProduct(program.c).lpNorm<Eigen::Infinity>();
    for (int j = 0; j < program.P.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(program.P, j); it; ++it)
            objective = std::max(objective,
                                 scaling.primal * scaling.column(it.row()) * scaling.column(j) * std::abs(it.value()));
    scaling.objective = objective > 0.0 ? 1.0 / power_of_two(objective) : 1.0;
    return scaling;
}

}  // namespace certicone::conic
