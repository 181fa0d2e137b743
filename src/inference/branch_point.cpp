#include "inference/branch_point.hpp"

#include <cmath>

#include "conic/scaling.hpp"
#include "geometry/rounding.hpp"

namespace certicone {

BranchPoint::BranchPoint(const InferenceProblem& the_problem, const Vector& start)
    : problem(the_problem),
      network(*the_problem.network),
      box(conic::dual_box(network)),
      curvature(the_problem.Q),
      x(start),
      largest(start.cwiseAbs()),
      held(network.conic.size(), false),
      leaving(network.conic.size(), false) {
    for (const Quadratic& module : network.quadratic)
        curvature.noalias() += module.alpha * module.B.transpose() * module.B;
    const LocalState state = evaluate(network, x);
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

void BranchPoint::pass_forward() {
    largest = largest.cwiseMax(x.cwiseAbs());
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        Vector& a = trace.a[l];
        a = layer.b;
        a.noalias() += layer.W * x;
        if (l > 0) a.noalias() += layer.U * trace.z[l - 1];
        trace.z[l] = (sign[l].array() > 0).select(a, 0.0);
    }
    trace.q.clear();
    trace.u.clear();
    for (const Quadratic& module : network.quadratic)
        trace.q.emplace_back(module.B * x + module.e);
    for (const Conic& module : network.conic)
        trace.u.emplace_back(module.A * x + module.d);
}

bool BranchPoint::smooth(std::size_t g) const {
    return !held[g] && network.conic[g].lambda > 0.0 && trace.u[g].squaredNorm() > 0.0;
}

bool BranchPoint::gather_kinks() {
    bool found = false;
    Vector z;
    for (std::size_t l = 0; l < sign.size(); ++l) {
        const Layer& layer = network.layers[l];
        Vector size = size_of_affine(layer.W, largest, layer.b);
        if (l > 0) size.noalias() += layer.U * z;
        for (Index i = 0; i < size.size(); ++i) {
            if (sign[l](i) == 0 || box[l](i) == 0.0 || std::abs(trace.a[l](i)) > kVanished * size(i)) continue;
            from[l](i) = sign[l](i);
            sign[l](i) = 0;
            found = true;
        }
        z = std::move(size);
    }
    for (std::size_t g = 0; g < held.size(); ++g) {
        const Conic& module = network.conic[g];
        if (held[g] || module.lambda == 0.0) continue;
        if (trace.u[g].norm() > kVanished * size_of_affine(module.A, largest, module.d).norm()) continue;
        held[g] = true;
        found = true;
    }
    return found;
}

void BranchPoint::hold_vanished(const Vector& before) {
    const Vector size = x.cwiseAbs().cwiseMax(before.cwiseAbs());
    for (std::size_t g = 0; g < held.size(); ++g) {
        const Conic& module = network.conic[g];
        if (held[g] || module.lambda == 0.0) continue;
        const double unit = RoundingBound(4 * network.input_dim).relative;
        if (trace.u[g].norm() <= unit * (module.A.cwiseAbs() * size + module.d.cwiseAbs()).norm()) held[g] = true;
    }
}

}  // namespace certicone
