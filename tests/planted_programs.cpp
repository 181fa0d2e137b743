#include "planted_programs.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <cmath>
#include <string>

namespace certicone::test {

namespace {

/// The least singular value over as many directions as there are columns; 0 where rows are too few.
double smallest(const Matrix& matrix) {
    if (matrix.cols() == 0) return 1.0;
    return matrix.rows() < matrix.cols() ? 0.0 : matrix.jacobiSvd().singularValues().tail(1)(0);
}

double uniform(double low, double high, Random& random) {
    return std::uniform_real_distribution<double>(low, high)(random);
}

Vector unit(Index size, Random& random) { return random_vector(size, random).normalized(); }

/// A complementary pair (s, y) for one block.
void draw(const conic::Block& block, Random& random, Eigen::Ref<Vector> s, Eigen::Ref<Vector> y) {
    const Index n = block.size;
    s.setZero();
    y.setZero();
    if (block.cone == conic::Cone::Zero) {
        y = random_vector(n, random);
        return;
    }
    if (block.cone == conic::Cone::Nonnegative) {
        for (Index i = 0; i < n; ++i)
            (random_index(0, 1, random) == 0 ? s : y)(i) = uniform(0.3, 2.0, random);
        return;
    }
    switch (random_index(0, n > 1 ? 2 : 1, random)) {
        case 0: y = planted::inside(n, random); break;
        case 1: s = planted::inside(n, random); break;
        default: {  // both on the boundary
            const Vector u = unit(n - 1, random);
            s << 1.0, u;
            y << 1.0, -u;
            s *= uniform(0.5, 2.0, random);
            y *= uniform(0.5, 2.0, random);
        }
    }
    if (block.cone == conic::Cone::RotatedSecondOrder) {
        rotate_head(s);
        rotate_head(y);
    }
}

/// The derivative of the projection onto K* at y − s, for one block. On the boundary of a second-order cone, with
/// z = (z₀, z̄), w = z̄/‖z̄‖, τ = z₀/‖z̄‖:  ½ [1, wᵀ; w, (1 + τ)I − τwwᵀ].
Matrix projection_derivative(const conic::Block& block, Vector s, Vector y) {
    const Index n = block.size;
    if (block.cone == conic::Cone::Nonnegative) return (y.array() > 0.0).cast<double>().matrix().asDiagonal();
    if (block.cone == conic::Cone::Zero || s.isZero(0.0)) return Matrix::Identity(n, n);
    if (y.isZero(0.0)) return Matrix::Zero(n, n);
    const bool rotated = block.cone == conic::Cone::RotatedSecondOrder;
    if (rotated) {
        rotate_head(s);
        rotate_head(y);
    }
    const Vector z = y - s;
    const double length = z.tail(n - 1).norm(), tau = z(0) / length;
    const Vector w = z.tail(n - 1) / length;
    Matrix derivative(n, n);
    derivative << 1.0, w.transpose(), w, (1.0 + tau) * Matrix::Identity(n - 1, n - 1) - tau * w * w.transpose();
    derivative *= 0.5;
    if (rotated)
        for (Index k = 0; k < n; ++k)
            rotate_head(derivative.col(k));
    if (rotated)
        for (Index k = 0; k < n; ++k) {
            Vector row = derivative.row(k).transpose();
            rotate_head(row);
            derivative.row(k) = row.transpose();
        }
    return derivative;
}

Matrix columns(const std::vector<Vector>& from, Index rows) {
    Matrix matrix(rows, static_cast<Index>(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
        matrix.col(static_cast<Index>(i)) = from[i];
    return matrix;
}

/// How far `point` ∈ K can be from the face of K that is orthogonal to `normal` ∈ K*, when point·normal ≤ δ.
double off_face(const conic::ConicProgram& program, const Vector& normal, const Vector& point, double delta) {
    double total = 0.0;
    for (const conic::Block& block : program.blocks) {
        Vector n = normal.segment(block.begin, block.size), p = point.segment(block.begin, block.size);
        if (block.cone == conic::Cone::Zero) continue;
        if (block.cone == conic::Cone::Nonnegative) {
            for (const double entry : n)
                if (entry > 0.0) total += delta / entry;
            continue;
        }
        if (block.cone == conic::Cone::RotatedSecondOrder) {
            rotate_head(n);
            rotate_head(p);
        }
        const double length = n.tail(n.size() - 1).norm();
        if (n(0) == 0.0) continue;
        if (n(0) - length > 0.1)
            total += std::sqrt(2.0) * delta / (n(0) - length);
        else
            total += delta / n(0) + std::sqrt(2.0 * std::max(p(0), 0.0) * delta / n(0));
    }
    return total;
}

}  // namespace

namespace planted {

Vector inside(Index size, Random& random) {
    Vector point(size);
    point(0) = uniform(0.5, 2.0, random);
    if (size > 1) point.tail(size - 1) = uniform(0.0, point(0) - 0.3, random) * unit(size - 1, random);
    return point;
}

conic::SparseMatrix sparse(const Matrix& dense) {
    conic::SparseMatrix matrix = dense.sparseView();
    matrix.makeCompressed();
    return matrix;
}

void find_faces(Planted& answer) {
    const Index rows = answer.s.size();
    std::vector<Vector> normals, face;
    const auto column = [&](Index begin, const Vector& part) {
        Vector whole = Vector::Zero(rows);
        whole.segment(begin, part.size()) = part;
        return whole;
    };
    for (const conic::Block& block : answer.program.blocks) {
        const bool linear = block.cone == conic::Cone::Zero || block.cone == conic::Cone::Nonnegative;
        const Index size = linear ? 1 : block.size;
        for (Index begin = block.begin; begin < block.begin + block.size; begin += size) {
            const Vector s = answer.s.segment(begin, size), y = answer.y.segment(begin, size);
            if (block.cone == conic::Cone::Zero || s.isZero(0.0)) {
                for (Index i = 0; i < size; ++i) {
                    normals.push_back(column(begin, Vector::Unit(size, i)));
                    face.push_back(normals.back());
                }
            } else if (!y.isZero(0.0)) {
                const Matrix basis = s.householderQr().householderQ();
                for (Index i = 1; i < size; ++i)
                    normals.push_back(column(begin, basis.col(i)));
                face.push_back(column(begin, y.normalized()));
            }
        }
    }
    answer.primal_normals = columns(normals, rows);
    answer.dual_face = columns(face, rows);
}

void derive(Planted& answer, Random& random) {
    conic::ConicProgram& program = answer.program;
    answer.x = random_vector(program.columns(), random);
    program.b = program.A * answer.x + answer.s;
    program.c = -(program.A.transpose() * answer.y) - program.P * answer.x;
    answer.objective = 0.5 * answer.x.dot(program.P * answer.x) + program.c.dot(answer.x) + program.c0;
}

}  // namespace planted

bool Planted::unique() const {
    return smallest(primal_normals.transpose() * program.A) > 0.05 &&
           smallest(program.A.transpose() * dual_face) > 0.05;
}

double Planted::condition() const {
    const Index rows = program.rows(), columns = program.columns();
    Matrix D = Matrix::Zero(rows, rows), J(columns + rows, columns + rows);
    for (const conic::Block& block : program.blocks)
        D.block(block.begin, block.begin, block.size, block.size) =
            projection_derivative(block, s.segment(block.begin, block.size), y.segment(block.begin, block.size));
    J << Matrix(program.P), program.A.transpose() * D, Matrix(program.A), D - Matrix::Identity(rows, rows);
    const Vector values = J.jacobiSvd().singularValues();
    return values(0) / values(values.size() - 1);
}

void rotate_head(Eigen::Ref<Vector> part) {
    const double t = part(0), s = part(1);
    part(0) = (t + s) / std::sqrt(2.0);
    part(1) = (t - s) / std::sqrt(2.0);
}

namespace {

/// New s and y for the blocks that stand in `answer`.
void draw_pair(Planted& answer, Random& random) {
    const conic::Block& last = answer.program.blocks.back();
    answer.s = answer.y = Vector::Zero(last.begin + last.size);
    for (const conic::Block& block : answer.program.blocks)
        draw(block, random, answer.s.segment(block.begin, block.size), answer.y.segment(block.begin, block.size));
    planted::find_faces(answer);
}

}  // namespace

Planted plant(const std::vector<PlantedBlock>& blocks, Index columns, bool quadratic, Random& random) {
    conic::Builder builder;
    builder.add_columns("x", columns);
    Index rows = 0;
    for (const PlantedBlock& block : blocks)
        rows = builder.add_rows("block" + std::to_string(rows), block.cone, block.size) + block.size;
    Planted answer;
    answer.program = builder.build();
    const double scale = 1.0 / std::sqrt(static_cast<double>(rows));
    answer.program.A = planted::sparse(random_matrix(rows, columns, random, scale));
    if (quadratic) {
        const Matrix half = random_matrix((columns + 1) / 2, columns, random, scale);
        answer.program.P = planted::sparse(half.transpose() * half);
    }
    answer.program.c0 = uniform(-1.0, 1.0, random);
    draw_pair(answer, random);
    planted::derive(answer, random);
    return answer;
}

namespace {

Planted draw_unique(const std::vector<PlantedBlock>& blocks, bool quadratic, Random& random) {
    Planted pair;
    do
        pair = plant(blocks, 1, false, random);
    while (pair.primal_normals.cols() == 0);
    const Matrix &N = pair.primal_normals, &F = pair.dual_face;
    const Index freedom = F.cols(), normals = N.cols(), columns = std::max<Index>((freedom + normals) / 2, 1);
    Planted answer = plant(blocks, columns, quadratic, random);
    answer.s = pair.s;
    answer.y = pair.y;
    planted::find_faces(answer);
    Matrix basis(N.rows(), normals);  // of the span of N, F first (y ⟂ s puts F into it)
    basis << F, (N - F * (F.transpose() * N)).jacobiSvd(Eigen::ComputeThinU).matrixU().leftCols(normals - freedom);
    Matrix images = random_matrix(normals, columns, random, 1.0 / std::sqrt(static_cast<double>(N.rows())));
    images.topRows(columns) = Matrix(random_matrix(columns, columns, random).householderQr().householderQ());
    const Matrix A = answer.program.A;
    answer.program.A = planted::sparse(A + basis * (images - basis.transpose() * A));
    planted::derive(answer, random);
    return answer;
}

}  // namespace

Planted plant_unique(const std::vector<PlantedBlock>& blocks, bool quadratic, Random& random) {
    Planted answer = draw_unique(blocks, quadratic, random);
    while (!(answer.condition() <= kWellConditioned))
        answer = draw_unique(blocks, quadratic, random);
    return answer;
}

Planted in_bad_units(const Planted& good, double decades, Random& random) {
    Planted answer = good;
    const auto factor = [&] { return std::pow(10.0, uniform(-decades, decades, random)); };
    Vector rows(good.program.rows()), columns(good.program.columns());
    for (const conic::Block& block : good.program.blocks) {
        const bool linear = block.cone == conic::Cone::Zero || block.cone == conic::Cone::Nonnegative;
        rows.segment(block.begin, block.size).setConstant(factor());
        for (Index i = block.begin; linear && i < block.begin + block.size; ++i)
            rows(i) = factor();
    }
    for (double& column : columns)
        column = factor();
    conic::ConicProgram& program = answer.program;  // Ãx̃ + s̃ = b̃ with s̃ = Rs, x̃ = C⁻¹x, ỹ = R⁻¹y
    program.A = planted::sparse(rows.asDiagonal() * Matrix(good.program.A) * columns.asDiagonal());
    program.P = planted::sparse(columns.asDiagonal() * Matrix(good.program.P) * columns.asDiagonal());
    program.b = rows.cwiseProduct(good.program.b);
    program.c = columns.cwiseProduct(good.program.c);
    answer.x = good.x.cwiseQuotient(columns);
    answer.s = rows.cwiseProduct(good.s);
    answer.y = good.y.cwiseQuotient(rows);
    planted::find_faces(answer);
    return answer;
}

void replant(Planted& answer, Random& random) {
    do
        draw_pair(answer, random);
    while (!answer.unique());
    planted::derive(answer, random);
}

ErrorBounds::ErrorBounds(const Planted& truth, const solvers::Solution& answer) {
    const conic::ConicProgram& program = truth.program;
    const solvers::Measured& found = answer.measured;
    const auto blocks = static_cast<double>(program.blocks.size());
    const double rows = std::sqrt(static_cast<double>(program.rows()));
    const double columns = std::sqrt(static_cast<double>(program.columns()));
    const double primal_slip =
        truth.y.lpNorm<1>() * found.primal_residual + blocks * truth.y.norm() * found.primal_cone;
    const double dual_slip = truth.x.lpNorm<1>() * found.dual_residual + blocks * truth.s.norm() * found.dual_cone;
    const double size = 1.0 + std::abs(truth.objective) + truth.program.b.lpNorm<1>() + truth.program.c.lpNorm<1>() +
                        answer.x.lpNorm<1>() + answer.y.lpNorm<1>();
    const double rounding = 1e-15 * rows * columns * size * size;
    objective = std::max(primal_slip, found.gap + dual_slip) + rounding;

    const double delta = objective + found.gap + primal_slip + dual_slip;
    const double off_primal = off_face(program, truth.y, answer.s, delta) + blocks * found.primal_cone;
    // ½(x − x*)ᵀP(x − x*) is at most f(x) − f* + y*ᵀr_p as well: x may also be held by √P.
    const Matrix held = truth.primal_normals.transpose() * program.A, P = program.P;
    Matrix held_by_both(held.rows() + P.rows(), P.cols());
    const Eigen::SelfAdjointEigenSolver<Matrix> spectrum(P);
    held_by_both << held,
        spectrum.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal() * spectrum.eigenvectors().transpose();
    const double off_normals = off_primal + rows * found.primal_residual + rounding;
    x = std::min(off_normals / smallest(held), (off_normals + std::sqrt(2.0 * delta)) / smallest(held_by_both));
    const double off_dual = off_face(program, truth.s, answer.y, delta) + blocks * found.dual_cone;
    y = off_dual + (columns * found.dual_residual + P.norm() * x + Matrix(program.A).norm() * off_dual + rounding) /
                       smallest(program.A.transpose() * truth.dual_face);
}

}  // namespace certicone::test
