#include "conic/inference_program.hpp"

namespace certicone::conic {

InferenceProgram::InferenceProgram(const Network& network, double beta)
    : beta_(beta), value_function_(network), program_(value_function_.program()), x_(program_.columns()) {
    const ValueFunction::Layout& layout = value_function_.layout();
    const Index d0 = network.input_dim;
    std::vector<Eigen::Triplet<double, int>> entries;
    for (Index column = 0; column < program_.A.outerSize(); ++column)
        for (SparseMatrix::InnerIterator it(program_.A, column); it; ++it)
            entries.emplace_back(static_cast<int>(it.row()), static_cast<int>(it.col()), it.value());
    const auto put = [&](Index row, const Matrix& M, double sign) {
        for (Index j = 0; j < d0; ++j)
            for (Index i = 0; i < M.rows(); ++i)
                if (M(i, j) != 0.0)
                    entries.emplace_back(static_cast<int>(row + i), static_cast<int>(x_ + j), sign * M(i, j));
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        put(layout.relu[l], network.layers[l].W, 1.0);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        put(layout.quadratic_link[h], network.quadratic[h].B, -1.0);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (layout.t[g] >= 0) put(layout.conic_link[g], network.conic[g].A, -1.0);

    program_.A.resize(program_.A.rows(), x_ + d0);
    program_.A.setFromTriplets(entries.begin(), entries.end());
    program_.A.makeCompressed();
    program_.P.resize(x_ + d0, x_ + d0);
    for (Index j = 0; j < d0; ++j)
        program_.P.insert(x_ + j, x_ + j) = beta;
    program_.P.makeCompressed();
    program_.c.conservativeResizeLike(Vector::Zero(x_ + d0));
    program_.variables.push_back({"x", x_, d0});
    set_query(Vector::Zero(d0));
}

void InferenceProgram::set_query(const Vector& y) {
    program_.c.tail(y.size()) = network().v - beta_ * y;
    program_.c0 = network().b0 + 0.5 * beta_ * y.squaredNorm();
}

Vector InferenceProgram::primal(const LocalState& state) const {
    Vector columns(program_.columns());
    columns << value_function_.primal(state), state.x;
    return columns;
}

Scaling InferenceProgram::scaling(const Vector& reference) const {
    ValueFunction at_reference(network());
    at_reference.set_point(reference);
    DualBoxScaling dual_box(at_reference);
    Scaling scaling = dual_box.at_current_point();
    scaling.column.conservativeResize(program_.columns());
    scaling.column.tail(network().input_dim).setOnes();
    const SparseMatrix rows = scaling.row.asDiagonal() * program_.A;
    for (Index j = x_; j < program_.columns(); ++j) {
        double largest = 0.0;
        for (SparseMatrix::InnerIterator it(rows, j); it; ++it)
            largest = std::max(largest, std::abs(it.value()));
        if (largest > 0.0) scaling.column(j) = 1.0 / largest;
    }
    return scaling;
}

}  // namespace certicone::conic
