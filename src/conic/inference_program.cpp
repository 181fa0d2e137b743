#include "conic/inference_program.hpp"

namespace certicone::conic {

InferenceProgram::InferenceProgram(InferenceProblem problem)
    : problem_(std::move(problem)),
      value_function_(*problem_.network),
      program_(value_function_.program()),
      step_(program_.columns()) {
    const Network& network = *problem_.network;
    const ValueFunction::Layout& layout = value_function_.layout();
    const Index d0 = network.input_dim, rows = program_.rows(), constraints = problem_.C.rows();
    std::vector<Eigen::Triplet<double, int>> entries;
    for (Index column = 0; column < program_.A.outerSize(); ++column)
        for (SparseMatrix::InnerIterator it(program_.A, column); it; ++it)
            entries.emplace_back(static_cast<int>(it.row()), static_cast<int>(it.col()), it.value());
    const auto put = [&](Index row, const Matrix& M, double sign) {
        for (Index j = 0; j < d0; ++j)
            for (Index i = 0; i < M.rows(); ++i)
                if (M(i, j) != 0.0)
                    entries.emplace_back(static_cast<int>(row + i), static_cast<int>(step_ + j), sign * M(i, j));
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        put(layout.relu[l], network.layers[l].W, 1.0);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        put(layout.quadratic_link[h], network.quadratic[h].B, -1.0);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (layout.t[g] >= 0) put(layout.conic_link[g], network.conic[g].A, -1.0);

    put(rows, problem_.C, 1.0);
    if (constraints > 0) {
        program_.blocks.push_back({"constraints", Cone::Nonnegative, rows, constraints});
        program_.b.conservativeResize(rows + constraints);
    }

    program_.A.resize(rows + constraints, step_ + d0);
    program_.A.setFromTriplets(entries.begin(), entries.end());
    program_.A.makeCompressed();
    program_.P.resize(step_ + d0, step_ + d0);
    for (Index j = 0; j < d0; ++j)
        for (Index i = 0; i < d0; ++i)
            if (problem_.Q(i, j) != 0.0) program_.P.insert(step_ + i, step_ + j) = problem_.Q(i, j);
    program_.P.makeCompressed();
    program_.c.conservativeResizeLike(Vector::Zero(step_ + d0));
    program_.c.tail(d0) = network.v + problem_.q;
    program_.variables.push_back({"step", step_, d0});
    set_query(Vector(problem_.y));
}

void InferenceProgram::set_query(const Vector& y) {
    problem_.y = y;
    value_function_.set_point(y);
    const ConicProgram& at_query = value_function_.program();
    program_.b.head(at_query.rows()) = at_query.b;
    if (problem_.C.rows() > 0) program_.b.tail(problem_.C.rows()) = problem_.h - problem_.C * y;
    program_.c0 = at_query.c0 + problem_.q.dot(y);
}

Vector InferenceProgram::primal(const LocalState& state) const {
    Vector columns(program_.columns());
    columns << value_function_.primal(state), state.x - problem_.y;
    return columns;
}

Scaling InferenceProgram::scaling() const {
    DualBoxScaling dual_box(value_function_);
    Scaling scaling = dual_box.at_current_point();
    scaling.column.conservativeResize(program_.columns());
    scaling.column.tail(network().input_dim).setOnes();
    scaling.row.conservativeResize(program_.rows());
    for (Index i = 0; i < problem_.C.rows(); ++i) {
        const double largest = problem_.C.row(i).cwiseAbs().maxCoeff();
        scaling.row(program_.rows() - problem_.C.rows() + i) = largest > 0.0 ? 1.0 / largest : 1.0;
    }
    const SparseMatrix rows = scaling.row.asDiagonal() * program_.A;
    for (Index j = step_; j < program_.columns(); ++j) {
        double largest = 0.0;
        for (SparseMatrix::InnerIterator it(rows, j); it; ++it)
            largest = std::max(largest, std::abs(it.value()));
        if (largest > 0.0) scaling.column(j) = 1.0 / largest;
    }
    return scaling;
}

}  // namespace certicone::conic
