#include "inference/branch_point.hpp"

#include <cmath>

#include "conic/scaling.hpp"
#include "geometry/rounding.hpp"

namespace certicone {

template <class Scalar>
BranchPoint<Scalar>::BranchPoint(const InferenceProblem& the_problem, const Vector& start)
    : problem(the_problem),
      network(*the_problem.network),
      box(conic::dual_box(network)),
      curvature(the_problem.Q.cast<Scalar>()),
      x(start.cast<Scalar>()),
      largest(start.cwiseAbs()),
      held(network.conic.size(), false),
      leaving(network.conic.size(), false) {
    for (const Quadratic& module : network.quadratic)
        curvature += Scalar(module.alpha) * gram<Scalar>(module.B);
    const LocalState state = evaluate(network, start);
    sign = state.pattern.sign;
    // A unit that no multiplier can reach has no kink in F.
    for (std::size_t l = 0; l < sign.size(); ++l)
        sign[l] = (box[l].array() == 0.0 && sign[l].array() == 0).select(std::int8_t{-1}, sign[l]);
    from = sign;
    for (std::size_t g = 0; g < held.size(); ++g)
        held[g] = state.pattern.conic_zero[g] && network.conic[g].lambda > 0.0;
    trace.a.resize(sign.size());
    trace.z.resize(sign.size());
}

template <class Scalar>
void BranchPoint<Scalar>::pass_forward() {
    largest = largest.cwiseMax(nearest(x).cwiseAbs());
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        VectorOf<Scalar>& a = trace.a[l];
        a = layer.b.cast<Scalar>();
        add_product(layer.W, x, a);
        if (l > 0) add_product(layer.U, trace.z[l - 1], a);
        trace.z[l] = (sign[l].array() > 0).select(a, Scalar(0.0));
    }
    trace.q.clear();
    trace.u.clear();
    for (const Quadratic& module : network.quadratic)
        trace.q.push_back(affine(module.B, x, module.e));
    for (const Conic& module : network.conic)
        trace.u.push_back(affine(module.A, x, module.d));
}

template <class Scalar>
VectorOf<Scalar> BranchPoint<Scalar>::objective_gradient() const {
    VectorOf<Scalar> gradient = problem.q.cast<Scalar>();
    add_product(problem.Q, VectorOf<Scalar>(x - problem.y.cast<Scalar>()), gradient);
    return gradient;
}

template <class Scalar>
bool BranchPoint<Scalar>::smooth(std::size_t g) const {
    return !held[g] && network.conic[g].lambda > 0.0 && trace.u[g].squaredNorm() > Scalar(0.0);
}

template <class Scalar>
bool BranchPoint<Scalar>::gather_kinks(double vanished) {
    bool found = false;
    Vector z;
    for (std::size_t l = 0; l < sign.size(); ++l) {
        const Layer& layer = network.layers[l];
        Vector size = size_of_affine(layer.W, largest, layer.b);
        if (l > 0) size.noalias() += layer.U * z;
        for (Index i = 0; i < size.size(); ++i) {
            if (sign[l](i) == 0 || box[l](i) == 0.0 || std::abs(to_double(trace.a[l](i))) > vanished * size(i))
                continue;
            from[l](i) = sign[l](i);
            sign[l](i) = 0;
            found = true;
        }
        z = std::move(size);
    }
    for (std::size_t g = 0; g < held.size(); ++g) {
        const Conic& module = network.conic[g];
        if (held[g] || module.lambda == 0.0) continue;
        if (nearest(trace.u[g]).norm() > vanished * size_of_affine(module.A, largest, module.d).norm()) continue;
        held[g] = true;
        found = true;
    }
    return found;
}

template <class Scalar>
void BranchPoint<Scalar>::hold_vanished(const VectorOf<Scalar>& before) {
    const Vector size = nearest(x).cwiseAbs().cwiseMax(nearest(before).cwiseAbs());
    for (std::size_t g = 0; g < held.size(); ++g) {
        const Conic& module = network.conic[g];
        if (held[g] || module.lambda == 0.0) continue;
        const double unit = static_cast<double>(4 * (network.input_dim + 1)) * kRounding<Scalar>;
        if (nearest(trace.u[g]).norm() <= unit * (module.A.cwiseAbs() * size + module.d.cwiseAbs()).norm())
            held[g] = true;
    }
}

template struct BranchPoint<double>;
template struct BranchPoint<DoubleDouble>;

}  // namespace certicone
