#include "inference/problem.hpp"

#include "geometry/rounding.hpp"

namespace certicone {

InferenceProblem proximity(const Network& network, double beta, const Vector& y) {
    const Index d0 = network.input_dim;
    return {&network, beta * Matrix::Identity(d0, d0), y, Vector::Zero(d0), Matrix(0, d0), Vector(0)};
}

double inference_value(const InferenceProblem& problem, const LocalState& state) {
    const Vector step = state.x - problem.y;
    return state.value + 0.5 * step.dot(problem.Q * step) + problem.q.dot(state.x);
}

double inference_size(const InferenceProblem& problem, const Vector& x) {
    const Network& network = *problem.network;
    Vector z;
    for (const Layer& layer : network.layers) {
        Vector a = size_of_affine(layer.W, x, layer.b);
        if (layer.U.size() > 0) a.noalias() += layer.U * z;
        z = std::move(a);
    }
    const Vector step = (x - problem.y).cwiseAbs();
    double size = std::abs(network.b0) + (network.v + problem.q).cwiseAbs().dot(x.cwiseAbs()) + network.c.dot(z) +
                  0.5 * step.dot(problem.Q.cwiseAbs() * step);
    for (const Quadratic& module : network.quadratic)
        size += 0.5 * module.alpha * size_of_affine(module.B, x, module.e).squaredNorm();
    for (const Conic& module : network.conic)
        size += module.lambda * size_of_affine(module.A, x, module.d).norm();
    return size;
}

double constraint_violation(const InferenceProblem& problem, const Vector& x) {
    return problem.C.rows() > 0 ? std::max(0.0, (problem.C * x - problem.h).maxCoeff()) : 0.0;
}

}  // namespace certicone
