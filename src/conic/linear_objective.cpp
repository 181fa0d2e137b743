#include "conic/linear_objective.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "support/error.hpp"

namespace certicone::conic {

namespace {

/// R with P = RᵀR: entry by entry for a diagonal P, else one row √λ vᵀ for each positive eigenvalue λ of the part of P
/// that is not zero.
SparseMatrix square_root(const SparseMatrix& P) {
    std::vector<Eigen::Triplet<double, int>> entries;
    bool diagonal = true;
    std::vector<int> touched;
    for (int j = 0; j < P.outerSize(); ++j) {
        bool any = false;
        for (SparseMatrix::InnerIterator it(P, j); it; ++it) {
            if (it.value() == 0.0) continue;
            any = true;
            diagonal = diagonal && it.row() == j;
        }
        if (any) touched.push_back(j);
    }
    const auto size = static_cast<Index>(touched.size());
    int rows = 0;
    if (diagonal) {
        for (const int j : touched) {
            const double value = P.coeff(j, j);
            if (!(value > 0.0)) throw InputError("the quadratic objective is not convex");
            entries.emplace_back(rows++, j, std::sqrt(value));
        }
    } else {
        std::vector<int> place(static_cast<std::size_t>(P.cols()), -1);
        for (Index k = 0; k < size; ++k)
            place[static_cast<std::size_t>(touched[static_cast<std::size_t>(k)])] = static_cast<int>(k);
        Matrix dense = Matrix::Zero(size, size);
        for (const int j : touched)
            for (SparseMatrix::InnerIterator it(P, j); it; ++it)
                if (it.value() != 0.0)
                    dense(place[static_cast<std::size_t>(it.row())], place[static_cast<std::size_t>(j)]) = it.value();
        const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(dense);
        const Vector& eigenvalue = spectrum.eigenvalues();
        // Eigenvalues of this size cannot be told from zero (Weyl, with the rounding of P and of the decomposition).
        const double rounding =
            8.0 * std::numeric_limits<double>::epsilon() * static_cast<double>(size) * eigenvalue.cwiseAbs().maxCoeff();
        if (spectrum.info() != Eigen::Success || eigenvalue.minCoeff() < -rounding)
            throw InputError("the quadratic objective is not convex");
        for (Index i = 0; i < size; ++i) {
            if (eigenvalue(i) <= rounding) continue;
            for (Index k = 0; k < size; ++k)
                entries.emplace_back(rows, touched[static_cast<std::size_t>(k)],
                                     std::sqrt(eigenvalue(i)) * spectrum.eigenvectors()(k, i));
            ++rows;
        }
    }
    SparseMatrix root(rows, P.cols());
    root.setFromTriplets(entries.begin(), entries.end());
    return root;
}

}  // namespace

LinearObjective::LinearObjective(const ConicProgram& original)
    : columns_(original.columns()), rows_(original.rows()), root_(square_root(original.P)), program_(original) {
    if (!changed()) return;
    const Index n = columns_ + 1, m = rows_ + 2 + root_.rows();
    std::vector<Eigen::Triplet<double, int>> entries;
    for (int j = 0; j < original.A.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(original.A, j); it; ++it)
            entries.emplace_back(static_cast<int>(it.row()), j, it.value());
    entries.emplace_back(static_cast<int>(rows_), static_cast<int>(columns_), -1.0);
    for (int j = 0; j < root_.outerSize(); ++j)
        for (SparseMatrix::InnerIterator it(root_, j); it; ++it)
            entries.emplace_back(static_cast<int>(rows_ + 2 + it.row()), j, -it.value());
    program_.A = SparseMatrix(m, n);
    program_.A.setFromTriplets(entries.begin(), entries.end());
    program_.P = SparseMatrix(n, n);
    program_.b = extend_b(original.b);
    program_.c = extend_c(original.c);
    program_.blocks.push_back({"objective.cone", Cone::RotatedSecondOrder, rows_, 2 + root_.rows()});
    program_.variables.push_back({"objective", columns_, 1});
}

Vector LinearObjective::extend_x(const Vector& x) const {
    if (!changed()) return x;
    Vector result(columns_ + 1);
    result << x, 0.5 * (root_ * x).squaredNorm();
    return result;
}

Vector LinearObjective::extend_s(const Vector& x, const Vector& s) const {
    if (!changed()) return s;
    const Vector Rx = root_ * x;
    Vector result(program_.rows());
    result << s, 0.5 * Rx.squaredNorm(), 1.0, Rx;
    return result;
}

Vector LinearObjective::extend_y(const Vector& x, const Vector& y) const {
    if (!changed()) return y;
    const Vector Rx = root_ * x;
    Vector result(program_.rows());
    result << y, 1.0, 0.5 * Rx.squaredNorm(), -Rx;
    return result;
}

Vector LinearObjective::extend_b(const Vector& b) const {
    if (!changed()) return b;
    Vector result = Vector::Zero(rows_ + 2 + root_.rows());
    result.head(rows_) = b;
    result(rows_ + 1) = 1.0;
    return result;
}

Vector LinearObjective::extend_c(const Vector& c) const {
    if (!changed()) return c;
    Vector result(columns_ + 1);
    result << c, 1.0;
    return result;
}

}  // namespace certicone::conic
