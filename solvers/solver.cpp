#include "solvers/solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "solvers/finite.hpp"
#include "solvers/separable.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

std::string_view to_string(Status status) {
    switch (status) {
        case Status::Solved: return "solved";
        case Status::Inaccurate: return "inaccurate";
        case Status::Infeasible: return "infeasible";
        case Status::Unbounded: return "unbounded";
        case Status::IterationLimit: return "iteration limit";
        case Status::TimeLimit: return "time limit";
        case Status::Interrupted: return "interrupted";
        case Status::Failed: return "failed";
    }
    return "unknown";
}

void validate(const Settings& settings) {
    const auto require = [](bool holds, std::string_view what) {
        if (!holds) throw InputError(fmt::format("solver settings: {}", what));
    };
    require(std::isfinite(settings.eps_abs) && settings.eps_abs >= 0.0, "eps_abs must be a finite number >= 0");
    require(std::isfinite(settings.eps_rel) && settings.eps_rel >= 0.0, "eps_rel must be a finite number >= 0");
    require(settings.eps_abs + settings.eps_rel > 0.0, "eps_abs and eps_rel must not both be 0");
    require(settings.max_iterations >= 0, "max_iterations must be >= 0");
    require(std::isfinite(settings.time_limit) && settings.time_limit >= 0.0, "the time limit must be >= 0 seconds");
}

namespace {

/// std::max loses a NaN that comes second.
double larger(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

double largest_entry(const Vector& vector) {
    double largest = 0.0;
    for (const double entry : vector)
        largest = larger(largest, std::abs(entry));
    return largest;
}

}  // namespace

Measured measure(const conic::ConicProgram& program, const Vector& x, const Vector& s, const Vector& y) {
    Measured result;
    const Vector Px = program.P * x;
    const double half_square = 0.5 * x.dot(Px);
    result.primal_residual = largest_entry(program.A * x + s - program.b);
    result.dual_residual = largest_entry(Px + program.A.transpose() * y + program.c);
    for (const conic::Block& block : program.blocks) {
        const auto distance = [&](const Vector& vector, bool dual) {
            return conic::cone_distance(block.cone, vector.segment(block.begin, block.size), dual);
        };
        result.primal_cone = larger(result.primal_cone, distance(s, false));
        result.dual_cone = larger(result.dual_cone, distance(y, true));
    }
    result.primal_objective = half_square + program.c.dot(x) + program.c0;
    result.dual_objective = -half_square - program.b.dot(y) + program.c0;
    result.gap = std::abs(result.primal_objective - result.dual_objective);
    return result;
}

void Workspace::update_b(const Vector& b) {
    if (b.size() != program_.b.size()) throw InputError("update of b: wrong size");
    program_.b = b;
    b_changed_ = true;
}

void Workspace::update_c(const Vector& c) {
    if (c.size() != program_.c.size()) throw InputError("update of c: wrong size");
    program_.c = c;
    c_changed_ = true;
}

Solution Workspace::solve(bool warm) {
    Solution solution = run(warm, b_changed_, c_changed_);
    b_changed_ = c_changed_ = false;
    solution.claimed.primal_objective += program_.c0;
    solution.claimed.dual_objective += program_.c0;
    solution.measured = measure(program_, solution.x, solution.s, solution.y);
    refuse_not_finite(program_, solution);
    return solution;
}

std::unique_ptr<Workspace> Backend::open(conic::ConicProgram program, const Settings& settings) const {
    require_usable(*this);
    conic::validate(program);
    validate(settings);
    for (const auto& [option, text] : settings.options) {
        const auto known = options();
        if (std::none_of(known.begin(), known.end(),
                         [&wanted = option](const Option& o) { return o.name == wanted; })) {
            std::vector<std::string_view> names;
            for (const Option& o : known)
                names.push_back(o.name);
            throw InputError(
                fmt::format("solver '{}' has no option '{}'; it has: {}", name(), option, fmt::join(names, ", ")));
        }
    }
    require_support(*this, program);
    return setup(std::move(program), settings);
}

std::optional<std::string> obstacle(const Backend& backend, const conic::ConicProgram& program) {
    const Capabilities can = backend.capabilities();
    for (const conic::Block& block : program.blocks)
        if (std::find(can.cones.begin(), can.cones.end(), block.cone) == can.cones.end())
            return fmt::format("does not support the {} cone of block '{}'", to_string(block.cone), block.name);
    if (program.P.nonZeros() > 0 && !can.quadratic_objective) return "does not support a quadratic objective";
    return std::nullopt;
}

void require_support(const Backend& backend, const conic::ConicProgram& program) {
    const auto why = obstacle(backend, program);
    if (!why) return;
    const bool cone = why->find(" cone of block ") != std::string::npos;
    throw InputError(fmt::format("solver '{0}' {1}{2}", backend.name(), *why,
                                 cone ? fmt::format("; with one that does, as in '{}+clarabel', it takes what no cone "
                                                    "touches and the other the rest",
                                                    backend.name())
                                      : ""));
}

void require_usable(const Backend& backend) {
    for (const Readiness& readiness : {backend.available(), backend.enabled()})
        if (!readiness.ready) throw SolverUnavailable(fmt::format("solver '{}': {}", backend.name(), readiness.reason));
}

const Backend& backend(std::string_view name) {
    if (const std::size_t plus = name.find('+'); plus != std::string_view::npos)
        return separable_backend(backend(name.substr(0, plus)), backend(name.substr(plus + 1)));
    std::vector<std::string_view> names;
    for (const Backend* candidate : backends()) {
        if (candidate->name() == name) return *candidate;
        names.push_back(candidate->name());
    }
    throw InputError(fmt::format("no solver is called '{}'; there are: {}", name, fmt::join(names, ", ")));
}

double number_option(const Settings& settings, std::string_view name, double fallback) {
    const auto found = settings.options.find(std::string(name));
    if (found == settings.options.end()) return fallback;
    const std::string& text = found->second;
    double number = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
        throw InputError(fmt::format("solver option {}='{}' is not a number", name, text));
    return number;
}

}  // namespace certicone::solvers
