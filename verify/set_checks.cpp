#include "verify/set_checks.hpp"

#include <fmt/format.h>

#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "verify/answer.hpp"
#include "verify/sessions.hpp"
#include "verify/worst.hpp"

namespace certicone::verify {

namespace {

double inner(const Multipliers& a, const Multipliers& b) {
    double sum = 0.0;
    for (std::size_t l = 0; l < a.nu.size(); ++l)
        sum += a.nu[l].dot(b.nu[l]);
    for (std::size_t h = 0; h < a.p.size(); ++h)
        sum += a.p[h].dot(b.p[h]);
    for (std::size_t g = 0; g < a.r.size(); ++g)
        sum += a.r[g].dot(b.r[g]);
    return sum;
}

Multipliers minus(Multipliers a, const Multipliers& b) {
    for (std::size_t l = 0; l < a.nu.size(); ++l)
        a.nu[l] -= b.nu[l];
    for (std::size_t h = 0; h < a.p.size(); ++h)
        a.p[h] -= b.p[h];
    for (std::size_t g = 0; g < a.r.size(); ++g)
        a.r[g] -= b.r[g];
    return a;
}

}  // namespace

SetChecks::SetChecks(const Point& point, const solvers::Backend& backend, const solvers::Settings& settings,
                     std::string solver)
    : point_(point),
      backend_(backend),
      settings_(for_scaled_program(backend, settings)),
      solver_(std::move(solver)),
      program_(point.network, point.state, conic::Goal::MaxReadout) {
    prefer(settings_, backend, "presolve", "on");  // HiGHS: most of ν is fixed, one unit after the other
}

SetChecks::Interval SetChecks::solve(conic::OptimalSetProgram& program,
                                     const std::function<double(const Multipliers&)>& value) {
    conic::ConicProgram adjusted = program.program();
    if (point_.subject.optimal_set_program) point_.subject.optimal_set_program(adjusted);
    const conic::Scaling scaling = program.scaling();
    solvers::Solution solution;
    std::unique_ptr<solvers::Workspace> other;
    solvers::Workspace* workspace = nullptr;
    if (&program == &program_) {  // the next weights change c alone
        if (workspace_)
            workspace_->update_c(scaling.scaled_c(adjusted.c));
        else
            workspace_ = backend_.open(conic::scaled(adjusted, scaling), settings_);
        workspace = workspace_.get();
    } else {
        other = backend_.open(conic::scaled(adjusted, scaling), settings_);
        workspace = other.get();
    }
    solution = workspace->solve();
    const conic::ConicProgram& scaled = workspace->program();
    Interval result;
    if (const auto broken = broken_promise(scaled, solution, settings_)) {
        result.broken = *broken;
        return result;
    }
    // In dual-box units |ν| ≤ 1, ‖r‖ ≤ 1, rows of the box are at most 1 and of a ball (1, r) at most √2.
    const Vector box = Vector::Ones(scaled.columns());
    Vector size(static_cast<Index>(scaled.blocks.size()));
    for (std::size_t k = 0; k < scaled.blocks.size(); ++k)
        size(static_cast<Index>(k)) = scaled.blocks[k].cone == conic::Cone::Zero ? 0.0
                                      : scaled.blocks[k].cone == conic::Cone::Nonnegative
                                          ? std::sqrt(static_cast<double>(scaled.blocks[k].size))
                                          : std::sqrt(2.0);
    result.upper = -(scaling.unscale_objective(proved_lower_bound(scaled, solution, box, size)) + adjusted.c0);
    result.attained =
        repair_to_optimal(point_.network, point_.state, program.multipliers(scaling.unscale_x(solution.x)));
    result.lower = value(result.attained);
    // Gap, stationarity and residuals at their limits; sizes in these units are at most 1, multipliers' sum is measured.
    const double eps = settings_.eps_abs + settings_.eps_rel * std::max(1.0, solution.y.lpNorm<Eigen::Infinity>());
    const auto columns = static_cast<double>(scaled.columns()), blocks = static_cast<double>(scaled.blocks.size());
    result.allowed = scaling.unscale_objective(eps * (2.0 + columns + 2.0 * blocks + solution.y.lpNorm<1>()));
    return result;
}

Finding SetChecks::without_solver(const char* id, std::string_view program, std::string_view why) const {
    return skipped(id, solver_, fmt::format("{}: {} {}", program, solver_, why));
}

Finding SetChecks::check_directional() {
    if (const auto why = solvers::obstacle(backend_, program_.program()))
        return without_solver("theorem2.directional", "max-readout", *why);
    Worst worst;
    Finding open;  // of its accuracy alone
    const Network& network = point_.network;
    const Vector wrong = rounding_of_gradient(network, point_.state);
    for (std::size_t k = 0; k < point_.directions.size(); ++k) {
        const Vector& direction = point_.directions[k];
        program_.set_direction(direction);
        const Interval interval =
            solve(program_, [&](const Multipliers& xi) { return readout(network, xi).dot(direction); });
        if (!interval.broken.empty())
            return failed("theorem2.directional", solver_, fmt::format("max-readout: {}", interval.broken));
        const double derivative = point_.subject.directional_derivative(network, point_.state, direction);
        worst.offer(std::abs(derivative - interval.lower),
                    std::max(0.0, interval.upper - interval.lower) + 2.0 * wrong.dot(direction.cwiseAbs()),
                    [&] { return fmt::format("direction {}", k); });
        worst.offer(std::abs(interval.upper - interval.lower), interval.allowed + 2.0 * wrong.dot(direction.cwiseAbs()),
                    [&] { return fmt::format("width of the interval, direction {}", k); });
        const double width = std::max(0.0, interval.upper - interval.lower);
        const double scale = point_.slope_scale.dot(direction.cwiseAbs());
        open.accuracy.offer(Quantity::Directional, width + 2.0 * wrong.dot(direction.cwiseAbs()), scale);
        open.leave_open(width, scale);
    }
    Finding finding = worst.finding("theorem2.directional", solver_, "the proved interval of the solver's max-readout");
    finding.accuracy = open.accuracy;
    finding.open = open.open;
    return finding;
}

Finding SetChecks::check_uniqueness(Generator& random) {
    if (const auto why = solvers::obstacle(backend_, program_.program()))
        return without_solver("proposition2.uniqueness", "linear function", *why);
    Multipliers weight = zero_multipliers(point_.network);
    for (Vector& nu : weight.nu)
        nu = draw_normals(nu.size(), random);
    for (Vector& r : weight.r)
        r = draw_normals(r.size(), random);
    Worst worst;
    double width = 0.0, allowed = 0.0, size = 0.0;
    for (const double sign : {1.0, -1.0}) {
        Multipliers signed_weight = weight;
        for (Vector& nu : signed_weight.nu)
            nu *= sign;
        for (Vector& r : signed_weight.r)
            r *= sign;
        program_.set_weights(signed_weight);
        const Interval interval = solve(program_, [&](const Multipliers& xi) { return inner(signed_weight, xi); });
        if (!interval.broken.empty())
            return failed("proposition2.uniqueness", solver_, fmt::format("linear function: {}", interval.broken));
        worst.offer(std::abs(interval.upper - interval.lower),
                    interval.allowed + RoundingBound(total_units(point_.network)).relative *
                                           (std::abs(interval.upper) + std::abs(interval.lower)),
                    [] { return "the proved value and that of the only element"; });
        width += interval.upper;
        allowed += interval.allowed;
        size += std::abs(interval.upper);
    }
    worst.offer(std::abs(width), allowed + RoundingBound(total_units(point_.network)).relative * size,
                [] { return "a random linear function"; });
    return worst.finding("proposition2.uniqueness", solver_, "what the asked tolerances leave of the proved range");
}

Finding SetChecks::check_min_norm() {
    conic::OptimalSetProgram program(point_.network, point_.state, conic::Goal::MinNorm);
    // The norm separates too, and r = 0 is least in its ball: a solver without cones takes ν alone.
    if (solvers::obstacle(backend_, program.program()))
        program = conic::OptimalSetProgram(point_.network, point_.state, conic::Goal::MinNorm, false);
    if (const auto why = solvers::obstacle(backend_, program.program()))
        return without_solver("corollary1.min_norm", "minimum norm", *why);
    const Interval interval = solve(program, [&](const Multipliers& xi) { return -0.5 * squared_norm(xi); });
    if (!interval.broken.empty())
        return failed("corollary1.min_norm", solver_, fmt::format("minimum norm: {}", interval.broken));
    const double size = squared_norm(interval.attained) + squared_norm(point_.canonical);
    const double rounding = RoundingBound(2 * total_units(point_.network) + point_.network.input_dim).relative * size;
    const double width = std::max(0.0, interval.upper - interval.lower) + rounding;
    // ξ̂ may not be longer than the solver's element by more than the width either.
    const double excess = 0.5 * (squared_norm(point_.canonical) - squared_norm(interval.attained));
    Worst worst;
    worst.offer(std::sqrt(squared_norm(minus(interval.attained, point_.canonical))), 2.0 * std::sqrt(2.0 * width),
                [] { return "distance to the canonical selector"; });
    worst.offer(std::abs(interval.upper - interval.lower), interval.allowed + rounding,
                [] { return "width of the interval"; });
    worst.offer(excess, width, [] { return "norm of the canonical selector"; });
    return worst.finding("corollary1.min_norm", solver_, "strong convexity with the proved interval of the norm");
}

}  // namespace certicone::verify
