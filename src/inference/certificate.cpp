#include "inference/certificate.hpp"

#include <Eigen/Cholesky>
#include <limits>

#include "geometry/rounding.hpp"
#include "inference/scalar_products.hpp"

namespace certicone {

namespace {

using Long = DoubleDouble;
using Longs = PreciseVector;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnit = std::numeric_limits<double>::epsilon();

/// An upper bound in doubles of what was computed in doubles from nonnegative numbers in a few steps.
double up(double x) { return x > 0.0 ? x * (1.0 + 64.0 * kUnit) + std::numeric_limits<double>::denorm_min() : 0.0; }
/// The same after sums of `terms` nonnegative terms each.
double up(double x, Index terms) { return up(x) * (1.0 + 4.0 * static_cast<double>(terms) * kUnit); }

Long sum_of_squares(const Longs& x) { return dot(x, x); }

/// Roundings on the longest chain of operations that leads to one number, generously: what they are multiplied by is 2⁻⁹⁸.
double longest_chain(const InferenceProblem& problem) {
    const Network& network = *problem.network;
    Index count = 16 + 2 * network.input_dim + problem.C.rows();
    for (const Layer& layer : network.layers)
        count += network.input_dim + 2 * layer.units();
    for (const Quadratic& module : network.quadratic)
        count += 2 * module.B.rows();
    for (const Conic& module : network.conic)
        count += 2 * module.A.rows();
    return 4.0 * static_cast<double>(count);
}

/// The largest double that is at most `number`, which may be off by `error` of its own size, is ≥ 0.
double round_down(const Long& number, double error) {
    if (!(number.high > 0.0)) return 0.0;
    const Long safe = number - number * Long(error) - Long(std::numeric_limits<double>::denorm_min());
    return safe.low < 0.0 ? std::nextafter(safe.high, 0.0) : std::max(safe.high, 0.0);
}

struct Repaired {
    Multipliers xi;
    std::vector<Longs> ub;  ///< of xi.nu
};

/// ν clipped into [0, ub(ν)] from the last layer down, r scaled into its ball, for the real numbers behind the doubles.
Repaired repair(const Network& network, const Multipliers& xi, double chain) {
    const double error = chain * kDoubleDouble;
    Repaired result{xi, std::vector<Longs>(network.layers.size())};
    for (std::size_t l = network.layers.size(); l-- > 0;) {
        Longs& ub = result.ub[l];
        if (l + 1 == network.layers.size()) {
            ub = network.c.cast<Long>();
        } else {
            ub = Longs::Constant(network.layers[l].units(), Long());
            add_transposed_product(network.layers[l + 1].U, Longs(result.xi.nu[l + 1].cast<Long>()), ub);
        }
        for (Index i = 0; i < ub.size(); ++i) {
            double& nu = result.xi.nu[l](i);
            const double most = l + 1 == network.layers.size() ? network.c(i) : round_down(ub(i), error);
            nu = nu > 0.0 ? std::min(nu, most) : 0.0;  // NaN proves nothing either
        }
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        Vector& r = result.xi.r[g];
        const double lambda = network.conic[g].lambda;
        if (!r.allFinite()) r.setZero();
        const auto inside = [&] {
            const double length = norm<Long>(r.cast<Long>()).to_double();
            return length == 0.0 || length * (1.0 + 4.0 * kUnit) <= lambda ||
                   (lambda > 0x1p-400 && lambda < 0x1p400 &&  // squares neither underflow nor overflow
                    !(sum_of_squares(r.cast<Long>()) > Long(lambda) * Long(lambda) * (Long(1.0) - Long(error))));
        };
        for (double shrink = kUnit; !inside(); shrink *= 2.0)
            r *= std::min(1.0, lambda / norm<double>(r)) * std::max(0.0, 1.0 - shrink);
    }
    for (Vector& p : result.xi.p)
        if (!p.allFinite()) p.setZero();
    return result;
}

/// A double that is at most the least eigenvalue of a symmetric H, whose entries are off by at most `error`'s; 0 where none
/// above 0 could be proved. If the Cholesky factorisation of H − sI runs through in floating point, H − sI ⪰ −γ_{n+1} tr(H)
/// (Rump, "Verification of positive definiteness").
double proved_curvature(const Matrix& H, const Matrix& error) {
    const Index n = H.rows();
    const Vector rows = error.cwiseAbs().rowwise().sum();
    const double lost =
        up(rows.maxCoeff() + 4.0 * static_cast<double>(n + 4) * kUnit * H.diagonal().cwiseAbs().sum(), n);
    if (!std::isfinite(lost)) return 0.0;
    if (H.isDiagonal(0.0)) return std::max(0.0, H.diagonal().minCoeff() * (1.0 - 4.0 * kUnit) - up(rows.maxCoeff(), n));
    const Eigen::LLT<Matrix> whole(H);
    if (whole.info() != Eigen::Success) return 0.0;
    double shift = 0.5 * whole.rcond() * H.cwiseAbs().colwise().sum().maxCoeff();
    for (int attempt = 0; attempt < 8 && shift > 2.0 * lost; ++attempt, shift *= 0.25)
        if (Eigen::LLT<Matrix>(H - shift * Matrix::Identity(n, n)).info() == Eigen::Success) return shift - lost;
    return 0.0;
}

/// The box within which the constraints with one entry a row hold x; every end rounded outwards.
std::pair<Vector, Vector> box(const InferenceProblem& problem) {
    const Index d0 = problem.y.size();
    Vector lower = Vector::Constant(d0, -kInfinity), upper = Vector::Constant(d0, kInfinity);
    for (Index i = 0; i < problem.C.rows(); ++i) {
        Index column = 0;
        const double entry = problem.C.row(i).cwiseAbs().maxCoeff(&column);
        if (entry == 0.0 || (problem.C.row(i).array() != 0.0).count() != 1) continue;
        const double end = problem.h(i) / problem.C(i, column);
        if (problem.C(i, column) > 0.0)
            upper(column) = std::min(upper(column), std::nextafter(end, kInfinity));
        else
            lower(column) = std::max(lower(column), std::nextafter(end, -kInfinity));
    }
    return {lower, upper};
}

/// ρ in doubles and how far each entry is from the true one.
struct Residual {
    Vector rho, error;
};

/// An upper bound of max over x' of −ρᵀ(x' − x) − ½ (x' − x)ᵀH(x' − x): with any w ≈ H⁻¹ρ and s = ρ − Hw that is
/// ½wᵀHw + wᵀs + ½ sᵀH⁻¹s ≤ ½ wᵀ(ρ + s) + ½ ‖s‖²/λ_min(H).
double quadratic_gap(const Matrix& H, const Matrix& error, const Residual& residual) {
    const double least = proved_curvature(H, error);
    if (!(least > 0.0)) return kInfinity;
    const Index n = H.rows();
    if (H.isDiagonal(0.0) && error.isZero(0.0)) {
        const Vector size = residual.rho.cwiseAbs() + residual.error;
        return up(0.5 * (size.array().square() / H.diagonal().array()).sum(), n);
    }
    const Vector w = Eigen::LLT<Matrix>(H).solve(residual.rho);
    Longs product = Longs::Constant(n, Long());
    add_product<Long>(H, w.cast<Long>(), product);
    const Vector s = nearest(residual.rho.cast<Long>() - product);
    const Vector size_of_w = w.cwiseAbs();
    const Vector off =
        up(1.0) * (s.cwiseAbs() + residual.error + error * size_of_w +
                   kDoubleDouble * static_cast<double>(8 * n) * (H.cwiseAbs() * size_of_w + residual.rho.cwiseAbs()));
    const double main = 0.5 * (w.dot(residual.rho) + w.dot(s));
    const double rounding = static_cast<double>(4 * n) * kUnit * size_of_w.dot(residual.rho.cwiseAbs() + s.cwiseAbs());
    return up(std::max(main, 0.0) + rounding + size_of_w.dot(off - s.cwiseAbs()) + 0.5 * off.squaredNorm() / least, n);
}

/// The same over the box, where H ⪰ 0 is not needed: −½ dᵀHd ≤ ½ ε‖d‖² with H + εI proved to be definite.
double box_gap(const InferenceProblem& problem, const Vector& x, const Residual& residual) {
    if (problem.C.rows() == 0) return kInfinity;
    const auto [lower, upper] = box(problem);
    const Index n = x.size();
    double sum = 0.0, diameter = 0.0;
    for (Index j = 0; j < n; ++j) {
        const double rho = residual.rho(j), error = residual.error(j);
        const double below = up(std::max(0.0, x(j) - lower(j))), above = up(std::max(0.0, upper(j) - x(j)));
        if (rho > 0.0 || error > 0.0) sum += up((std::max(rho, 0.0) + error) * below);
        if (rho < 0.0 || error > 0.0) sum += up((std::max(-rho, 0.0) + error) * above);
        diameter += std::max(below, above) * std::max(below, above);
    }
    if (problem.Q.isDiagonal(0.0) && (problem.Q.diagonal().array() >= 0.0).all()) return up(sum, n);
    const Matrix none = Matrix::Zero(n, n);
    double epsilon = 16.0 * static_cast<double>(n + 4) * kUnit * problem.Q.diagonal().cwiseAbs().sum();
    for (int attempt = 0; attempt < 8; ++attempt, epsilon *= 4.0)
        if (proved_curvature(problem.Q + epsilon * Matrix::Identity(n, n),
                             kUnit * (problem.Q.cwiseAbs() + epsilon * Matrix::Identity(n, n))) > 0.0)
            return up(sum + 0.5 * epsilon * diameter, n);
    return kInfinity;
}

Matrix absolute(const Matrix& M) { return M.cwiseAbs(); }

}  // namespace

PreciseVector InferenceCertificate::point() const {
    PreciseVector sum = x.cast<Long>();
    if (rest.size() > 0) sum += rest.cast<Long>();
    return sum;
}

InferenceCertificate certify_inference(const InferenceProblem& problem, const Vector& x, const Multipliers& xi,
                                       const Vector& mu) {
    return certify_inference(problem, PreciseVector(x.cast<Long>()), xi, mu);
}

InferenceCertificate certify_inference(const InferenceProblem& problem, const PreciseVector& point,
                                       const Multipliers& xi, const Vector& mu) {
    const RoundToNearest mode;
    const Vector x = nearest(point);
    const Network& network = *problem.network;
    const double chain = longest_chain(problem);
    Repaired repaired = repair(network, xi, chain);
    InferenceCertificate result;
    result.x = x;
    result.rest = Vector(x.size());
    for (Index j = 0; j < x.size(); ++j)
        result.rest(j) = point(j).low;
    if (result.rest.isZero(0.0)) result.rest.resize(0);
    result.mu = mu.size() > 0 ? Vector(mu.cwiseMax(0.0)) : Vector(Vector::Zero(problem.C.rows()));
    result.violation = constraint_violation(problem, x);

    const Trace<Long> trace = forward<Long>(network, point);
    const Longs step = point - problem.y.cast<Long>();
    Longs slope = problem.q.cast<Long>();  // of Φ at x
    add_product<Long>(problem.Q, step, slope);
    const Vector size_of_step = nearest(step).cwiseAbs();
    Vector size_of_slope = problem.q.cwiseAbs() + problem.Q.cwiseAbs() * size_of_step;
    // Φ(x) = ½ (q + ∇Φ(x))ᵀ(x − y) + qᵀy.
    const Long F = value<Long>(network, point, trace) + Long(0.5) * dot(Longs(problem.q.cast<Long>() + slope), step) +
                   dot(problem.q, Longs(problem.y.cast<Long>()));
    result.value = F.to_double();

    // The gap identity: terms that are ≥ 0, and what rounding is relative to.
    Long gap;
    double size = 0.0;
    Vector size_of_z, multipliers = Vector::Zero(1);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        const Vector& nu = repaired.xi.nu[l];
        Vector size_of_a = size_of_affine(layer.W, x, layer.b);
        if (l > 0) size_of_a.noalias() += layer.U * size_of_z;
        for (Index i = 0; i < nu.size(); ++i) {
            const Long &a = trace.a[l](i), &z = trace.z[l](i);
            if (a > 0.0)
                gap += (repaired.ub[l](i) - Long(nu(i))) * z;
            else
                gap -= Long(nu(i)) * a;
            size += repaired.ub[l](i).high * size_of_a(i);
            multipliers(0) += repaired.ub[l](i).high;
        }
        size_of_z = std::move(size_of_a);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Conic& module = network.conic[g];
        gap += Long(module.lambda) * norm<Long>(trace.u[g]) - dot(repaired.xi.r[g], trace.u[g]);
        size += 2.0 * module.lambda * size_of_affine(module.A, x, module.d).norm();
        multipliers(0) += 2.0 * module.lambda;
    }
    for (Index i = 0; i < result.mu.size(); ++i) {
        gap += Long(result.mu(i)) * (Long(problem.h(i)) - dot(Vector(problem.C.row(i)), point));
        size += result.mu(i) * (std::abs(problem.h(i)) + problem.C.row(i).cwiseAbs().dot(x.cwiseAbs()));
        multipliers(0) += result.mu(i);
    }

    // ρ without the quadratic modules.
    Longs rho = network.v.cast<Long>() + slope;
    size_of_slope += network.v.cwiseAbs();
    const auto add = [&](const Matrix& M, const Vector& multiplier) {
        add_transposed_product(M, Longs(multiplier.cast<Long>()), rho);
        size_of_slope.noalias() += absolute(M).transpose() * multiplier.cwiseAbs();
    };
    for (std::size_t l = 0; l < network.layers.size(); ++l)
        add(network.layers[l].W, repaired.xi.nu[l]);
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        add(network.conic[g].A, repaired.xi.r[g]);
    if (problem.C.rows() > 0) add(problem.C, result.mu);

    const auto proof = [&](const Long& terms, double size_of_terms, const Longs& residual,
                           const Vector& size_of_residual, auto&& last) {
        const double error = chain * kDoubleDouble;
        const double rounding = up(error * size_of_terms, network.input_dim + total_units(network)) +
                                chain * kDoubleDoubleUnderflow * (1.0 + multipliers(0));
        const Vector known = nearest(residual);
        const Residual with_error{
            known, kUnit * known.cwiseAbs() + up(error, network.input_dim + total_units(network)) * size_of_residual};
        const double rest = last(with_error);
        const double total = terms.to_double() + rest;
        return total + 4.0 * kUnit * (std::abs(terms.to_double()) + rest) + up(rounding);
    };

    // Quadratic modules as affine minorants, by their p, where Q alone is definite.
    const Index d0 = network.input_dim;
    const Matrix exact = Matrix::Zero(d0, d0);
    double best = kInfinity;
    {
        Long terms = gap;
        double size_of_terms = size;
        Longs residual = rho;
        Vector size_of_residual = size_of_slope;
        for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
            const Quadratic& module = network.quadratic[h];
            const Vector& p = repaired.xi.p[h];
            const Longs off = p.cast<Long>() - trace.q[h] * Long(module.alpha);
            terms += sum_of_squares(off) / Long(2.0 * module.alpha);
            const double length = p.norm() + module.alpha * size_of_affine(module.B, x, module.e).norm();
            size_of_terms += length * length / (2.0 * module.alpha);
            add_transposed_product(module.B, Longs(p.cast<Long>()), residual);
            size_of_residual.noalias() += absolute(module.B).transpose() * p.cwiseAbs();
        }
        best = proof(terms, size_of_terms, residual, size_of_residual,
                     [&](const Residual& known) { return quadratic_gap(problem.Q, exact, known); });
    }
    // Where it is not, the modules kept as they are: p = αq(x).
    if (!std::isfinite(best)) {
        Longs residual = rho;
        Vector size_of_residual = size_of_slope;
        Matrix curvature = problem.Q, error = kUnit * problem.Q.cwiseAbs();
        for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
            const Quadratic& module = network.quadratic[h];
            const Longs p = trace.q[h] * Long(module.alpha);
            add_transposed_product(module.B, p, residual);
            size_of_residual.noalias() +=
                module.alpha * (absolute(module.B).transpose() * size_of_affine(module.B, x, module.e));
            curvature.noalias() += module.alpha * (module.B.transpose() * module.B);
            error.noalias() += 4.0 * static_cast<double>(module.B.rows() + 4) * kUnit * module.alpha *
                               (absolute(module.B).transpose() * absolute(module.B));
            repaired.xi.p[h] = nearest(p);
        }
        error += static_cast<double>(network.quadratic.size() + 1) * kUnit * curvature.cwiseAbs();
        best = proof(gap, size, residual, size_of_residual, [&](const Residual& known) {
            const double quadratic = quadratic_gap(curvature, error, known);
            return std::isfinite(quadratic) ? quadratic : box_gap(problem, x, known);
        });
    }
    result.xi = std::move(repaired.xi);
    result.gap = std::isfinite(best) ? best : kInfinity;
    const Long below = F - Long(best) - Long(up(4.0 * chain * kDoubleDouble * inference_size(problem, x)));
    result.lower_bound = std::isfinite(best) ? std::nextafter(below.to_double(), -kInfinity) : -kInfinity;
    return result;
}

Closed closed(const InferenceProblem& problem, const InferenceCertificate& certificate, double asked) {
    if (certificate.gap <= asked * std::abs(certificate.value)) return Closed::proved;
    const double curvature = problem.Q.diagonal().minCoeff();
    double rounding = std::numeric_limits<double>::min() + asked * 0.5 * kUnit * inference_size(problem, certificate.x);
    if (curvature > 0.0 && problem.Q.isDiagonal(0.0))
        rounding += 0.5 * rounding_of_readout(*problem.network, certificate.xi).squaredNorm() / curvature;
    return certificate.gap <= rounding ? Closed::to_rounding : Closed::open;
}

double infeasibility_radius(const InferenceProblem& problem, const Vector& mu) {
    const RoundToNearest mode;
    const Index rows = problem.C.rows(), d0 = problem.C.cols();
    const double error = 8.0 * static_cast<double>(rows + d0 + 4) * kDoubleDouble;
    Long reach;
    Longs slope = Longs::Constant(d0, Long());
    double size = 0.0;
    Vector size_of_slope = Vector::Zero(d0);
    const Longs y = problem.y.cast<Long>();
    for (Index i = 0; i < rows; ++i) {
        const double weight = std::max(mu(i), 0.0);
        const Vector row = problem.C.row(i);
        reach += Long(weight) * (dot(row, y) - Long(problem.h(i)));
        size += weight * (row.cwiseAbs().dot(problem.y.cwiseAbs()) + std::abs(problem.h(i)));
        for (Index j = 0; j < d0; ++j)
            slope(j).add_product(weight, row(j));
        size_of_slope += weight * row.cwiseAbs();
    }
    const double sure =
        reach.to_double() * (1.0 - 4.0 * kUnit) - up(error * size, rows + d0) - std::numeric_limits<double>::min();
    if (!(sure > 0.0)) return 0.0;
    Vector most = nearest(slope).cwiseAbs();
    for (Index j = 0; j < d0; ++j)
        most(j) = most(j) == 0.0 && slope(j).low == 0.0 && size_of_slope(j) == 0.0
                      ? 0.0
                      : up(most(j) + error * size_of_slope(j), rows);
    const double length = up(most.norm(), d0);
    return most.isZero(0.0) ? kInfinity : sure / length * (1.0 - 4.0 * kUnit);
}

}  // namespace certicone
