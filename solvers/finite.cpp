#include "solvers/finite.hpp"

#include <fmt/format.h>

#include <cmath>

namespace certicone::solvers {

namespace {

/// `parts` are named runs of the vector's entries: Block or Columns.
template <class Parts>
std::string first_of(std::string_view vector_name, const Vector& vector, const Parts& parts) {
    for (const auto& part : parts)
        for (Index i = 0; i < part.size; ++i)
            if (const double value = vector(part.begin + i); !std::isfinite(value))
                return fmt::format("{}[{}], entry {} of '{}', is {}", vector_name, part.begin + i, i, part.name, value);
    return {};
}

}  // namespace

std::string not_finite(const conic::ConicProgram& program, const Solution& solution) {
    std::string found = first_of("x", solution.x, program.variables);
    if (found.empty()) found = first_of("s", solution.s, program.blocks);
    if (found.empty()) found = first_of("y", solution.y, program.blocks);
    if (!found.empty()) return found;
    const Measured& measured = solution.measured;
    const std::pair<std::string_view, double> figures[] = {
        {"objective", measured.primal_objective},
        {"dual objective", measured.dual_objective},
        {"gap", measured.gap},
        {"primal residual", measured.primal_residual},
        {"dual residual", measured.dual_residual},
        {"distance from the cones", measured.primal_cone},
        {"distance from the dual cones", measured.dual_cone},
    };
    for (const auto& [name, value] : figures)
        if (!std::isfinite(value)) return fmt::format("its {} is {}", name, value);
    return {};
}

void refuse_not_finite(const conic::ConicProgram& program, Solution& solution) {
    Claim& claimed = solution.claimed;
    if (claimed.status != Status::Solved && claimed.status != Status::Inaccurate) return;
    const std::string found = not_finite(program, solution);
    if (found.empty()) return;
    claimed.status = Status::Failed;
    claimed.text += ", but " + found;
}

}  // namespace certicone::solvers
