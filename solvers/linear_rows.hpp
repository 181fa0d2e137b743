// For solvers of linear and quadratic programs, which return no s: the point of K nearest to b − Ax.
#pragma once

#include "conic/program.hpp"

namespace certicone::solvers {

/// max(b − Ax, 0) in Nonnegative rows, 0 in Zero rows. What is cut off shows as ‖Ax + s − b‖.
inline Vector linear_slack(const conic::ConicProgram& program, const Vector& x) {
    Vector s = (program.b - program.A * x).cwiseMax(0.0);
    for (const conic::Block& block : program.blocks)
        if (block.cone == conic::Cone::Zero) s.segment(block.begin, block.size).setZero();
    return s;
}

}  // namespace certicone::solvers
