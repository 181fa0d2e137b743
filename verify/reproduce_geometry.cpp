// Experiments 1 to 3: readout, Hessian and quadratic approximation at nondegenerate points, the set at a degenerate one.
#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <numbers>

#include "geometry/autodiff.hpp"
#include "geometry/branch.hpp"
#include "geometry/max_readout.hpp"
#include "geometry/rounding.hpp"
#include "network/json_tree.hpp"
#include "network/network_io.hpp"
#include "network/points.hpp"
#include "support/file.hpp"
#include "verify/reproduce.hpp"

namespace certicone::verify {

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// A parsed file; its places refer to it.
struct Draws {
    explicit Draws(const std::filesystem::path& path)
        : source(path.string()), tree(parse_json(read_file(path), source)) {}
    JsonPlace root() const { return {tree, source}; }

    std::string source;
    JsonValue tree;
};

Vector vector_of(std::span<const double> numbers, Index size, const JsonPlace& place) {
    if (static_cast<Index>(numbers.size()) != size)
        place.fail(fmt::format("{}: {} numbers, expected {}", place.path(), numbers.size(), size));
    return Eigen::Map<const Vector>(numbers.data(), size);
}

std::vector<Vector> vectors_of(const JsonPlace& place, Index size) {
    std::vector<Vector> vectors;
    for (const std::span<const double> row : place.rows())
        vectors.push_back(vector_of(row, size, place));
    if (vectors.empty()) place.fail(place.path() + " is empty");
    return vectors;
}

/// Means over points of what Experiments 1 and 2 print of the gradient.
struct GradientErrors {
    double points = 0.0, retained = 0.0, absolute = 0.0, relative = 0.0, cosine = 0.0;
    double absolute_bound = 0.0, relative_bound = 0.0;  ///< rounding of the readout and of automatic differentiation
    double mean_norm = 0.0, smallest_norm = std::numeric_limits<double>::infinity(), largest_norm = 0.0;
    double milliseconds = 0.0;  ///< a readout

    void add(const Network& network, const Vector& x) {
        const auto begin = std::chrono::steady_clock::now();
        const LocalState state = evaluate(network, x);
        const Vector gradient = readout(network, canonical_selector(network, state));
        milliseconds += milliseconds_since(begin);
        const Vector oracle = autodiff_gradient(network, x);
        const double norm = oracle.norm(), bound = 2.0 * rounding_of_summed_gradient(network, state).norm();
        points += 1.0;
        retained += state.pattern.nondegenerate() ? 1.0 : 0.0;
        absolute += (gradient - oracle).norm();
        relative += (gradient - oracle).norm() / norm;
        cosine += gradient.dot(oracle) / (gradient.norm() * norm);
        absolute_bound += bound;
        relative_bound += bound / norm;
        mean_norm += norm;
        smallest_norm = std::min(smallest_norm, norm);
        largest_norm = std::max(largest_norm, norm);
    }
    void finish() {
        for (double* sum :
             {&retained, &absolute, &relative, &cosine, &absolute_bound, &relative_bound, &mean_norm, &milliseconds})
            *sum /= points;
    }

    /// The quotient of the two mean errors is a mean of ‖∇f‖, weighted by the relative errors: it lies between the
    /// smallest and the largest ‖∇f‖ of the points whatever the rounding was.
    void compare(FigureTable& table, const Printed& printed_absolute, const Printed& printed_relative) const {
        const double implied = printed_absolute.value() / printed_relative.value();
        const bool possible = implied >= smallest_norm && implied <= largest_norm;
        const std::string norms =
            fmt::format("the two errors imply a mean of |grad f| of {:.3g}, these points have {:.4g} to {:.4g}",
                        implied, smallest_norm, largest_norm);
        table.figures.push_back(explained(rule::rounding("Grad L2 Err", printed_absolute, absolute, absolute_bound),
                                          !possible, "another network's: " + norms));
        table.figures.push_back(rule::rounding("Grad Rel. Err", printed_relative, relative, relative_bound));
        table.figures.push_back(rule::shown("mean of |grad f|", mean_norm, norms));
    }
};

}  // namespace

Experiment reproduce_experiment1(const std::filesystem::path& folder) {
    const Network network = read_network(folder / "exp1.network.json");
    const Matrix points = read_points(folder / "exp1.points.json", network.input_dim);
    GradientErrors errors;
    for (Index j = 0; j < points.cols(); ++j)
        errors.add(network, points.col(j));
    errors.finish();
    FigureTable table{"exact first-order readout on nondegenerate inputs (Table app_exp1_exact_readout)", {}};
    table.figures.push_back(rule::printed("Trials", paper::exp1.trials, errors.points));
    table.figures.push_back(rule::printed("Retained Rate", paper::exp1.retained, errors.retained));
    errors.compare(table, paper::exp1.gradient_error, paper::exp1.relative_gradient_error);
    table.figures.push_back(rule::printed("Cosine Sim.", paper::exp1.cosine, errors.cosine));
    table.figures.push_back(rule::time("Runtime (ms)", paper::exp1.milliseconds, errors.milliseconds,
                                       "ours a point; the paper does not say whether its figure is"));
    return {"exp1", "Experiment 1: exact first-order readout", {std::move(table)}, std::nullopt, {}};
}

Experiment reproduce_experiment2(const std::filesystem::path& folder) {
    const Network network = read_network(folder / "exp2.network.json");
    const Matrix points = read_points(folder / "exp2.points.json", network.input_dim);
    const Draws draws(folder / "exp2.perturbations.json");
    const Curvature curvature(network);
    const auto count = static_cast<double>(points.cols());

    GradientErrors errors;
    double absolute = 0.0, relative = 0.0, absolute_bound = 0.0, relative_bound = 0.0, formula = 0.0, autodiff = 0.0;
    double smallest = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < points.cols(); ++j) {
        errors.add(network, points.col(j));
        const LocalState state = evaluate(network, points.col(j));
        const Matrix hessian = curvature.hessian(state), oracle = autodiff_hessian(network, state.x);
        const double bound = 2.0 * rounding_of_summed_hessian(network, state).value().norm();
        absolute += (hessian - oracle).norm() / count;
        relative += (hessian - oracle).norm() / oracle.norm() / count;
        absolute_bound += bound / count;
        relative_bound += bound / oracle.norm() / count;
        const double eigenvalue = smallest_eigenvalue(hessian);
        smallest = std::min(smallest, eigenvalue);
        formula += eigenvalue / count;
        autodiff += smallest_eigenvalue(oracle) / count;
    }
    errors.finish();
    FigureTable formulas{"local gradient and Hessian formulas (Table app_exp2_local_formula)", {}};
    formulas.figures.push_back(rule::printed("Trials", paper::exp2.trials, errors.points));
    errors.compare(formulas, paper::exp2.gradient_error, paper::exp2.relative_gradient_error);
    formulas.figures.push_back(rule::rounding("Hess Fro. Err", paper::exp2.hessian_error, absolute, absolute_bound));
    formulas.figures.push_back(
        rule::rounding("Hess Rel. Err", paper::exp2.relative_hessian_error, relative, relative_bound));
    formulas.figures.push_back(rule::printed("MinEig (Formula)", paper::exp2.smallest_eigenvalue_formula, formula,
                                             "the mean over the points of the smallest eigenvalue"));
    formulas.figures.push_back(rule::printed("MinEig (Autodiff)", paper::exp2.smallest_eigenvalue_autodiff, autodiff,
                                             "the mean over the points of the smallest eigenvalue"));
    formulas.figures.push_back(rule::shown("smallest MinEig", smallest, "over the points"));

    const JsonPlace root = draws.root();
    const JsonPlace index = root.at("anchor_index");
    if (index.count() >= points.cols())
        root.fail(fmt::format("anchor_index is {}, expected less than {}", index.count(), points.cols()));
    const std::vector<JsonPlace> sets = root.at("sets").items();
    if (sets.size() != paper::exp2.radii.size()) root.fail(fmt::format("sets has {} entries, expected 3", sets.size()));
    const LocalState anchor = evaluate(network, points.col(index.count()));
    const Vector gradient = readout(network, canonical_selector(network, anchor));
    const Matrix hessian = curvature.hessian(anchor);
    // The residual is below an ulp of f at the smallest radius: it is computed in extended precision.
    using Extended = long double;
    const VectorOf<Extended> x = anchor.x.cast<Extended>(), slope = gradient.cast<Extended>();
    const Extended value_at_anchor = value<Extended>(network, x);
    const double ulp = std::nextafter(anchor.value, std::numeric_limits<double>::infinity()) - anchor.value;
    FigureTable approximation{"local quadratic approximation around the anchor point (Table app_exp2_local_quad)", {}};
    for (std::size_t k = 0; k < sets.size(); ++k) {
        const auto& row = paper::exp2.radii[k];
        const std::vector<Vector> deltas = vectors_of(sets[k].at("deltas"), network.input_dim);
        double retained = 0.0, error = 0.0, in_doubles = 0.0;
        for (const Vector& delta : deltas) {
            const LocalState near = evaluate(network, anchor.x + delta);
            retained += near.pattern == anchor.pattern ? 1.0 : 0.0;
            const double curved = 0.5 * delta.dot(hessian * delta);
            in_doubles += std::abs(near.value - (anchor.value + gradient.dot(delta) + curved));
            const VectorOf<Extended> step = delta.cast<Extended>();
            const Extended change = value<Extended>(network, x + step) - value_at_anchor;
            error += std::abs(static_cast<double>(change - slope.dot(step) - curved));
        }
        const auto number = static_cast<double>(deltas.size());
        const std::string radius = fmt::format(", radius {}", row.radius.text);
        approximation.figures.push_back(rule::printed("Retained Rate" + radius, row.retained, retained / number));
        approximation.figures.push_back(
            rule::noise("Approx. Error" + radius, row.error, error / number, 0.5 * ulp,
                        fmt::format("ours in extended precision ({:.3e} in doubles)", in_doubles / number)));
    }
    return {"exp2",
            "Experiment 2: local affine-curvature branch",
            {std::move(formulas), std::move(approximation)},
            std::nullopt,
            {}};
}

namespace {

/// G(ξ) of the sampled elements of D*(x₀): ν of the degenerate unit and r as drawn, the rest canonical.
std::vector<Vector> sampled_slopes(const Network& network, const LocalState& state, const JsonPlace& root) {
    const auto units = state.pattern.degenerate_units();
    const auto modules = state.pattern.degenerate_modules();
    if (network.layers.size() != 1 || network.input_dim != 2 || units.size() != 1 || network.conic.size() != 1 ||
        modules.size() != 1 || !network.conic[0].A.isIdentity(0.0))
        root.fail("beside it is not the network of Experiment 3: one layer, two inputs, one zero preactivation, A = I");
    Multipliers xi = canonical_selector(network, state);
    std::vector<Vector> slopes;
    for (const JsonPlace& branch : root.at("dual_branches").items()) {
        xi.nu[0](units[0].second) = branch.at("nu0").number();
        xi.r[0] = vector_of(branch.at("r").numbers(), 2, branch);
        slopes.push_back(readout(network, xi));
    }
    return slopes;
}

/// ∂f(x₀) from the network's numbers: with one degenerate unit (of the last layer, the only one) and one vanishing
/// residual, a point, a segment c_i W_i and the ellipse AᵀB(λ), which is a disc of radius λ since A = I.
SubdifferentialPicture picture_of(const Network& network, const LocalState& state, const std::vector<Vector>& slopes) {
    const Layer& layer = network.layers[0];
    const Index unit = state.pattern.degenerate_units()[0].second;
    SubdifferentialPicture picture;
    picture.point = network.v;
    for (Index i = 0; i < layer.units(); ++i)
        if (state.trace.a[0](i) > 0.0) picture.point += network.c(i) * layer.W.row(i).transpose();
    for (const Quadratic& module : network.quadratic)
        picture.point += module.alpha * (module.B.transpose() * (module.B * state.x + module.e));
    picture.segment = network.c(unit) * layer.W.row(unit).transpose();
    picture.radius = network.conic[0].lambda;
    picture.rounding = 2.0 * rounding_of_gradient(network, state).lpNorm<1>();

    for (const Vector& slope : slopes) {
        const Vector from_point = slope - picture.point;
        const double share = std::clamp(from_point.dot(picture.segment) / picture.segment.squaredNorm(), 0.0, 1.0);
        const double distance = (from_point - share * picture.segment).norm();
        picture.farthest = std::max(picture.farthest, distance);
        if (distance > picture.radius + picture.rounding) ++picture.outside;
        ++picture.branches;
    }
    constexpr int directions = 24;
    for (int k = 0; k < directions; ++k) {
        SupportRow row;
        row.degrees = 360.0 * k / directions;
        const double angle = row.degrees * std::numbers::pi / 180.0;
        const Vector d{{std::cos(angle), std::sin(angle)}};
        row.closed_form = picture.point.dot(d) + std::max(picture.segment.dot(d), 0.0) + picture.radius * d.norm();
        row.max_readout = directional_derivative(network, state, d);
        row.sampled = -std::numeric_limits<double>::infinity();
        for (const Vector& slope : slopes)
            row.sampled = std::max(row.sampled, slope.dot(d));
        picture.support.push_back(row);
    }
    return picture;
}

}  // namespace

Experiment reproduce_experiment3(const std::filesystem::path& folder) {
    const Network network = read_network(folder / "exp3.network.json");
    const Matrix points = read_points(folder / "exp3.points.json", network.input_dim);
    const Draws draws(folder / "exp3.draws.json");
    const JsonPlace root = draws.root();
    const LocalState state = evaluate(network, points.col(0));
    const std::vector<Vector> slopes = sampled_slopes(network, state, root);
    const AffineSupport canonical = affine_support(network, canonical_selector(network, state));
    const double step = root.at("fd_step").number();

    // Rounding in a difference quotient: an ulp of f over the step, a few times.
    const double ulp = (std::nextafter(state.value, std::numeric_limits<double>::infinity()) - state.value) / step;
    const std::vector<Vector> directions = vectors_of(root.at("directions"), network.input_dim);
    const auto count = static_cast<double>(directions.size());
    std::vector<double> best;
    double mean = 0.0, largest = 0.0, below = 0.0;
    for (const Vector& d : directions) {
        best.push_back(directional_derivative(network, state, d));
        const double ahead = value<double>(network, state.x + step * d);
        const double error = std::abs((ahead - state.value) / step - best.back());
        mean += error / count;
        largest = std::max(largest, error);
        below += canonical.slope.dot(d) < best.back() ? 1.0 : 0.0;
    }
    double violation = 0.0;
    for (const Vector& slope : slopes)
        for (std::size_t k = 0; k < directions.size(); ++k)
            violation = std::max(violation, slope.dot(directions[k]) - best[k]);
    double margin = std::numeric_limits<double>::infinity();
    for (const Vector& y : vectors_of(root.at("support_points"), network.input_dim))
        margin = std::min(margin, value<double>(network, y) - canonical(y));

    FigureTable table{"first-order geometry at the degenerate point (Table app_exp3_degeneracy)", {}};
    table.figures = {
        rule::printed("Directions", paper::exp3.directions, count),
        rule::noise("FD Mean Err", paper::exp3.mean_error, mean, 5.0 * std::sqrt(2.0 / count) * ulp,
                    "the quotient's curvature, 1.2e-8, and a mean of roundings"),
        rule::noise("FD Max Err", paper::exp3.largest_error, largest, 2.0 * ulp, "two ulps of f over the step"),
        rule::printed("Canonical Gap Frac.", paper::exp3.canonical_gap, below / count),
        rule::printed("Max Violation", paper::exp3.violation, violation),
        rule::printed("Min Support Margin", paper::exp3.margin, margin),
    };
    return {"exp3",
            "Experiment 3: degenerate first-order geometry",
            {std::move(table)},
            picture_of(network, state, slopes),
            {}};
}

}  // namespace certicone::verify
