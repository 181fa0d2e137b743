#include "inference/problem.hpp"

namespace certicone {

InferenceProblem proximity(const Network& network, double beta, const Vector& y) {
    const Index d0 = network.input_dim;
    return {&network, beta * Matrix::Identity(d0, d0), y, Vector::Zero(d0), Matrix(0, d0), Vector(0)};
}

double inference_value(const InferenceProblem& problem, const LocalState& state) {
    const Vector step = state.x - problem.y;
    return state.value + 0.5 * step.dot(problem.Q * step) + problem.q.dot(state.x);
}

double constraint_violation(const InferenceProblem& problem, const Vector& x) {
    return problem.C.rows() > 0 ? std::max(0.0, (problem.C * x - problem.h).maxCoeff()) : 0.0;
}

}  // namespace certicone
