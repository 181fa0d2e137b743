#include "conic/presolve.hpp"

#include <cmath>

#include "support/error.hpp"

namespace certicone::conic {

namespace {

using RowIterator = Eigen::SparseMatrix<double, Eigen::RowMajor, int>::InnerIterator;

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

}  // namespace

Presolved::Presolved(const ConicProgram& original)
    : original_(&original),
      rows_(original.A),
      b_(original.b),
      value_(Vector::Zero(original.columns())),
      out_(at(original.columns()), false),
      entries_(at(original.rows())),
      row_gone_(at(original.rows()), false),
      fate_(original.blocks.size(), Fate::Row),
      P_(Vector::Zero(original.columns())),
      c_(original.c) {
    if (original.P.nonZeros() > 0) throw InputError("presolve: the objective must be linear");
    for (Index i = 0; i < rows_.rows(); ++i)
        entries_[at(i)] = rows_.row(i).nonZeros();
    fix_columns();
    take_blocks();
    minimise_loose_columns();
    build();
}

void Presolved::fix_columns() {
    std::vector<Index> ready;
    std::vector<bool> zero(at(rows_.rows()), false);
    for (const Block& block : original_->blocks) {
        if (block.cone != Cone::Zero) continue;
        for (Index i = block.begin; i < block.begin + block.size; ++i) {
            zero[at(i)] = true;
            if (entries_[at(i)] == 1) ready.push_back(i);
        }
    }
    for (std::size_t k = 0; k < ready.size(); ++k) {
        const Index row = ready[k];
        if (entries_[at(row)] != 1) continue;
        RowIterator entry(rows_, row);
        while (out_[at(entry.col())])
            ++entry;
        const Index column = entry.col();
        value_(column) = b_(row) / entry.value();
        if (!std::isfinite(value_(column))) continue;
        fixed_.push_back({row, column, entry.value()});
        out_[at(column)] = row_gone_[at(row)] = true;
        for (SparseMatrix::InnerIterator it(original_->A, column); it; ++it) {
            b_(it.row()) -= it.value() * value_(column);
            if (--entries_[at(it.row())] == 1 && zero[at(it.row())]) ready.push_back(it.row());
        }
    }
}

void Presolved::take_blocks() {
    for (Index number = 0; number < static_cast<Index>(fate_.size()); ++number) {
        const Block& block = this->block(number);
        const Index first = block.begin, end = block.begin + block.size;
        if (block.cone == Cone::Zero || block.cone == Cone::Nonnegative) {
            for (Index i = first; i < end; ++i) {
                if (row_gone_[at(i)] || entries_[at(i)] > 0) continue;
                const double rounding = 1e-13 * std::abs(original_->b(i));
                row_gone_[at(i)] = block.cone == Cone::Zero ? std::abs(b_(i)) <= rounding : b_(i) >= -rounding;
            }
            continue;
        }
        const bool rotated = block.cone == Cone::RotatedSecondOrder;
        const Index tail = first + (rotated ? 2 : 1);
        if (rotated && (entries_[at(first + 1)] > 0 || !(b_(first + 1) > 0.0))) continue;
        bool constant = true, single = true;
        for (Index i = tail; i < end; ++i) {
            constant = constant && entries_[at(i)] == 0;
            single = single && entries_[at(i)] <= 1;
        }
        if (constant) {
            if (entries_[at(first)] > 0) fate_[at(number)] = Fate::Linearised;
            continue;
        }
        if (!rotated || !single || entries_[at(first)] != 1) continue;
        RowIterator entry(rows_, first);
        while (out_[at(entry.col())])
            ++entry;
        const Index t = entry.col();
        const double kappa = -entry.value(), tau = b_(first + 1);
        if (!(kappa > 0.0) || !(c_(t) > 0.0) || original_->A.col(t).nonZeros() != 1) continue;
        const double weight = c_(t) / (kappa * tau);
        if (!std::isfinite(weight)) continue;
        out_[at(t)] = true;
        fate_[at(number)] = Fate::Gone;
        squares_.push_back({number, t, kappa, tau, weight});
        for (Index i = tail; i < end; ++i)
            for (RowIterator it(rows_, i); it; ++it) {
                if (out_[at(it.col())]) continue;
                P_(it.col()) += weight * it.value() * it.value();  // ½ w (b − ax)²
                c_(it.col()) -= weight * it.value() * b_(i);
            }
    }
}

void Presolved::minimise_loose_columns() {
    std::vector<bool> used(out_.size(), false);
    for (Index number = 0; number < static_cast<Index>(fate_.size()); ++number) {
        if (fate_[at(number)] == Fate::Gone) continue;
        const Block& block = this->block(number);
        for (Index i = block.begin; i < block.begin + block.size; ++i)
            if (!row_gone_[at(i)])
                for (RowIterator it(rows_, i); it; ++it)
                    used[at(it.col())] = true;
    }
    for (Index j = 0; j < static_cast<Index>(out_.size()); ++j) {
        if (out_[at(j)] || used[at(j)] || !(P_(j) > 0.0 || c_(j) == 0.0)) continue;
        value_(j) = P_(j) > 0.0 ? -c_(j) / P_(j) : 0.0;
        out_[at(j)] = true;
    }
}

void Presolved::build() {
    Builder builder;
    std::vector<Index> new_column(out_.size(), -1);
    for (Index j = 0; j < static_cast<Index>(out_.size()); ++j) {
        if (out_[at(j)]) continue;
        new_column[at(j)] = static_cast<Index>(left_columns_.size());
        left_columns_.push_back(j);
    }
    builder.add_columns("x", static_cast<Index>(left_columns_.size()));
    std::vector<double> b;
    for (Index number = 0; number < static_cast<Index>(fate_.size()); ++number) {
        const Fate fate = fate_[at(number)];
        if (fate == Fate::Gone) continue;
        const Block& block = this->block(number);
        std::vector<Index> rows;
        for (Index i = block.begin; i < (fate == Fate::Linearised ? block.begin + 1 : block.begin + block.size); ++i)
            if (!row_gone_[at(i)]) rows.push_back(i);
        if (rows.empty()) continue;
        const Index first = builder.add_rows(block.name, fate == Fate::Linearised ? Cone::Nonnegative : block.cone,
                                             static_cast<Index>(rows.size()));
        for (std::size_t k = 0; k < rows.size(); ++k) {
            for (RowIterator it(rows_, rows[k]); it; ++it)
                if (!out_[at(it.col())])
                    builder.set(first + static_cast<Index>(k), new_column[at(it.col())], it.value());
            b.push_back(b_(rows[k]));
            left_rows_.push_back(rows[k]);
        }
        if (fate == Fate::Linearised) {
            const bool rotated = block.cone == Cone::RotatedSecondOrder;
            const double length =
                b_.segment(block.begin + (rotated ? 2 : 1), block.size - (rotated ? 2 : 1)).stableNorm();
            b.back() -= rotated ? 0.5 * length * (length / b_(block.begin + 1)) : length;
        }
    }
    program_ = builder.build();
    program_.b = Eigen::Map<const Vector>(b.data(), static_cast<Index>(b.size()));
    program_.c = c_(left_columns_);
    std::vector<Eigen::Triplet<double, int>> diagonal;
    for (std::size_t k = 0; k < left_columns_.size(); ++k)
        if (P_(left_columns_[k]) > 0.0)
            diagonal.emplace_back(static_cast<int>(k), static_cast<int>(k), P_(left_columns_[k]));
    program_.P.setFromTriplets(diagonal.begin(), diagonal.end());
}

Vector Presolved::x(const Vector& left) const {
    Vector x = value_;
    x(left_columns_) = left;
    for (const Square& square : squares_) {
        const Block& block = this->block(square.block);
        double sum = 0.0;
        for (Index i = block.begin + 2; i < block.begin + block.size; ++i) {
            const double v = original_->b(i) - rows_.row(i).dot(x);
            sum += v * v;
        }
        x(square.column) = (sum / (2.0 * square.tau) - b_(block.begin)) / square.kappa;
    }
    return x;
}

Vector Presolved::y(const Vector& x, const Vector& left) const {
    const Vector s = original_->b - original_->A * x;
    Vector y = Vector::Zero(original_->rows());
    y(left_rows_) = left;
    const auto complete = [&](const Block& block, double y0) {  // y ∈ K* with sᵀy = 0 and this first entry
        const bool rotated = block.cone == Cone::RotatedSecondOrder;
        const Index first = block.begin, tail = rotated ? 2 : 1;
        const auto v = s.segment(first + tail, block.size - tail);
        const double length = v.stableNorm(), unit = rotated ? s(first + 1) : length;
        y(first) = y0;
        if (rotated) y(first + 1) = 0.5 * y0 * (length / unit) * (length / unit);
        if (unit > 0.0) y.segment(first + tail, v.size()) = -(y0 / unit) * v;
    };
    for (std::size_t k = 0; k < fate_.size(); ++k)
        if (fate_[k] == Fate::Linearised) complete(original_->blocks[k], y(original_->blocks[k].begin));
    for (const Square& square : squares_)
        complete(block(square.block), square.weight * square.tau);
    for (std::size_t k = fixed_.size(); k-- > 0;) {
        const auto& [row, column, entry] = fixed_[k];
        double sum = original_->c(column);
        for (SparseMatrix::InnerIterator it(original_->A, column); it; ++it)
            if (it.row() != row) sum += it.value() * y(it.row());
        y(row) = -sum / entry;
    }
    return y;
}

}  // namespace certicone::conic
