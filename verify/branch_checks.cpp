#include "verify/branch_checks.hpp"

#include <fmt/format.h>

#include <Eigen/QR>

#include "geometry/autodiff.hpp"
#include "support/error.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

const std::string kClosedForm = "closed form";

/// ‖x‖ in units of the last place: what a step must exceed to be seen.
double coarseness(const Vector& x) {
    return std::numeric_limits<double>::epsilon() * (x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0.0) *
           std::sqrt(static_cast<double>(x.size()));
}

/// How far a computed ‖A‖₂ = √λ_max(AᵀA) may be off, relatively: AᵀA by γ_k‖A‖_F² ≤ γ_k·min(k, d0)·‖A‖₂², and the eigenvalues as in
/// check_psd.
double rounding_of_spectral_norm(const Matrix& A) {
    return relative_rounding(A.rows() * std::min(A.rows(), A.cols()) + 4 * A.cols());
}

/// An upper bound of ‖u_g‖/‖A_g‖₂ by a step towards u = 0; infinite where none leads near enough.
double conic_radius_above(const Conic& module, const Vector& u) {
    const Vector step = module.A.completeOrthogonalDecomposition().solve(-u);
    const double size = norm<double>(u), length = norm<double>(step);
    const double unit = relative_rounding(module.A.cols() + module.A.rows());
    const double left =
        norm<double>(module.A * step + u) + unit * (norm<double>(module.A.cwiseAbs() * step.cwiseAbs()) + size);
    if (!(left < size)) return std::numeric_limits<double>::infinity();
    return length * (size / (size - left)) * (1.0 + unit + rounding_of_spectral_norm(module.A));
}

const char* const kNothingInside = "no double lies within what rounding leaves of rho";

}  // namespace

Branch::Branch(const Point& point, Generator& random)
    : radius(point.subject.branch_radius(point.curvature, point.state)),
      certain(enclose_relu_radius(point.network, point.state)) {
    const Vector& x = point.state.x;
    std::vector<Vector> directions;
    if (radius.layer >= 0 && radius.relu > 0.0) {
        const Vector towards = radius.boundary - x;
        if (const double length = norm<double>(towards); length > 0.0 && std::isfinite(length))
            directions.emplace_back(towards / length);
    }
    directions.push_back(draw_direction(x.size(), random));
    directions.push_back(draw_direction(x.size(), random));
    double conic_share = 1.0;
    for (std::size_t g = 0; g < point.network.conic.size(); ++g)
        conic_share = std::min(conic_share, 1.0 - relative_rounding_of_residual(point.network, point.state, g) -
                                                rounding_of_spectral_norm(point.network.conic[g].A));
    const double reach = std::min(
        {certain.share() * radius.relu, std::max(conic_share, 0.0) * radius.conic, 1e3 * (1.0 + norm<double>(x))});
    for (const Vector& direction : directions)
        for (const double share : {0.99, 0.5}) {
            const Vector there = x + share * reach * direction;
            if (!(norm<double>(there - x) <= 0.995 * reach) || there == x)
                continue;  // rounded out of the ball, or to its centre
            try {
                inside.push_back(evaluate(point.network, there));
            } catch (const InputError&) {
                continue;  // the forward pass overflows there
            }
        }
}

Finding check_branch(const Point& point, const Branch& branch) {
    const std::string id = "theorem3.branch";
    Index changed = 0;
    for (const LocalState& state : branch.inside)
        if (!(state.pattern == point.state.pattern)) ++changed;
    const std::string reach = fmt::format("rho = {:.3e}", branch.radius.radius());
    if (changed > 0 || !(branch.radius.radius() > 0.0))
        return judged(id, kClosedForm, static_cast<double>(std::max<Index>(changed, 1)), 0.0, reach,
                      "points inside rho with another pattern");
    for (std::size_t g = 0; g < point.network.conic.size(); ++g) {
        const double above = conic_radius_above(point.network.conic[g], point.state.trace.u[g]);
        if (branch.radius.conic > above)
            return judged(id, kClosedForm, branch.radius.conic, above, fmt::format("conic radius, module {}", g),
                          "a step to where its residual vanishes");
    }
    // A witness is sought at up to 0.6 % past the computed radius, which is a share of the true one, and is rounded to doubles.
    if (branch.certain.share() > 0.998 && branch.certain.upper < 0x1p180 &&
        1e-3 * branch.certain.lower > coarseness(point.state.x)) {
        const auto witness = branch_witness(point.network, point.state, branch.radius);
        if (!witness || evaluate(point.network, *witness).pattern == point.state.pattern)
            return failed(id, kClosedForm,
                          fmt::format("no other pattern within 1 % past the ReLU radius {:.6e}", branch.radius.relu));
    }
    if (branch.inside.empty()) return skipped(id, kClosedForm, kNothingInside);
    return judged(id, kClosedForm, 0.0, 0.0, reach, "exact signs inside rho and at a witness past it");
}

Finding check_branch_decomposition(const Point& point, const Branch& branch) {
    if (branch.inside.empty()) return skipped("theorem3.decomposition", kClosedForm, kNothingInside);
    Worst worst;
    const Network& network = point.network;
    const AffineSupport affine = point.subject.relu_branch(network, point.canonical);
    for (std::size_t k = 0; k < branch.inside.size(); ++k) {
        const LocalState& there = branch.inside[k];
        double sum = affine(there.x);
        for (std::size_t h = 0; h < network.quadratic.size(); ++h)
            sum += 0.5 * network.quadratic[h].alpha * there.trace.q[h].squaredNorm();
        for (std::size_t g = 0; g < network.conic.size(); ++g)
            sum += network.conic[g].lambda * there.conic_norm(static_cast<Index>(g));
        const Multipliers canonical = canonical_selector(network, there);
        worst.offer(std::abs(there.value - sum),
                    2.0 * rounding_of_value(network, there.x, canonical) + rounding_of_psi(network, there.x, canonical),
                    [&] { return fmt::format("inside point {}", k); });
    }
    return worst.finding("theorem3.decomposition", kClosedForm, "rounding of f and of its decomposition");
}

Finding check_branch_gradient(const Point& point, const Branch& branch) {
    if (branch.inside.empty()) return skipped("theorem3.gradient", kClosedForm, kNothingInside);
    Worst worst;
    const Network& network = point.network;
    const Vector affine = point.subject.relu_branch(network, point.canonical).slope;
    for (std::size_t k = 0; k < branch.inside.size(); ++k) {
        const LocalState& there = branch.inside[k];
        Vector gradient = affine;
        for (std::size_t h = 0; h < network.quadratic.size(); ++h)
            gradient += network.quadratic[h].alpha * network.quadratic[h].B.transpose() * there.trace.q[h];
        for (std::size_t g = 0; g < network.conic.size(); ++g)
            if (network.conic[g].lambda > 0.0)
                gradient += network.conic[g].lambda / there.conic_norm(static_cast<Index>(g)) *
                            network.conic[g].A.transpose() * there.trace.u[g];
        const Vector readout = point.subject.readout(network, point.subject.canonical_selector(network, there));
        const Vector wrong = rounding_of_gradient(network, there);
        for (Index i = 0; i < gradient.size(); ++i)
            worst.offer(std::abs(gradient(i) - readout(i)), 2.0 * wrong(i),
                        [&] { return fmt::format("entry {} at inside point {}", i, k); });
    }
    return worst.finding("theorem3.gradient", kClosedForm, "rounding of both gradients");
}

Finding check_hessian_by_autodiff(const Point& point, const Matrix& hessian) {
    const auto rounding = rounding_of_summed_hessian(point.network, point.state);
    if (!rounding)
        return skipped("theorem3.hessian", "autodiff", "a conic residual is lost in the rounding of its own sum");
    const Matrix difference = (hessian - autodiff_hessian(point.network, point.state.x)).cwiseAbs(), &wrong = *rounding;
    Worst worst;
    for (Index j = 0; j < hessian.cols(); ++j)
        for (Index i = 0; i < hessian.rows(); ++i)
            worst.offer(difference(i, j), 2.0 * wrong(i, j), [&] { return fmt::format("entry {},{}", i, j); });
    Finding finding = worst.finding("theorem3.hessian", "autodiff", "rounding of both Hessians");
    finding.accuracy.offer(Quantity::Hessian, 2.0 * wrong.maxCoeff(), scale_of_hessian(point.network, point.state));
    return finding;
}

Finding check_hessian_by_differences(const Point& point, const Matrix& hessian) {
    const std::string id = "theorem3.hessian";
    Worst worst;
    const Network& network = point.network;
    const Vector here = point.subject.readout(network, point.canonical);
    const double rounding_here = norm<double>(rounding_of_gradient(network, point.state));
    const double rounding_of_h = rounding_of_hessian(network, point.state).stableNorm();
    bool stepped = false;
    for (std::size_t k = 0; k < point.directions.size(); ++k)
        for (const double length : {1e-2, 1e-5}) {
            const auto step = short_step(point, point.directions[k], length * (1.0 + norm<double>(point.state.x)));
            if (!step) continue;
            stepped = true;
            const Vector there = point.subject.readout(network, point.subject.canonical_selector(network, step->state));
            double rest = 0.0;
            for (std::size_t g = 0; g < network.conic.size(); ++g) {
                const Conic& module = network.conic[g];
                if (module.lambda == 0.0) continue;
                const double share =
                    norm<double>(module.A * step->difference) / point.state.conic_norm(static_cast<Index>(g));
                rest += 6.0 * module.lambda * module.A.stableNorm() * share * share;
            }
            const double bound = rest + rounding_here + norm<double>(rounding_of_gradient(network, step->state)) +
                                 rounding_of_h * step->length;
            worst.offer(norm<double>(there - here - hessian * step->difference), bound,
                        [&] { return fmt::format("direction {}, step {:.1e}", k, step->length); });
        }
    if (!stepped) return skipped(id, "differences", "doubles are too coarse for a step that crosses no kink");
    return worst.finding(id, "differences", "second-order rest of the step, and rounding");
}

Finding check_psd(const Point& point, const Matrix& hessian) {
    const double rounding =
        rounding_of_hessian(point.network, point.state).stableNorm() +
        8.0 * static_cast<double>(hessian.rows()) * std::numeric_limits<double>::epsilon() * hessian.stableNorm();
    const double smallest = smallest_eigenvalue(hessian);
    return judged("theorem3.psd", kClosedForm, std::max(0.0, -smallest), rounding, "smallest eigenvalue",
                  "rounding of the Hessian and of its eigenvalues");
}

}  // namespace certicone::verify
