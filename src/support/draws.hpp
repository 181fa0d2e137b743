// Random draws that are the same on every platform: from the generator's own bits, not from std:: distributions.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <random>

namespace certicone {

using Generator = std::mt19937_64;

/// Uniform in (0, 1).
inline double draw_uniform(Generator& random) { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; }

/// Standard normal (Box–Muller).
inline double draw_normal(Generator& random) {
    const double radius = std::sqrt(-2.0 * std::log(draw_uniform(random)));
    return radius * std::cos(2.0 * std::numbers::pi * draw_uniform(random));
}

inline Eigen::VectorXd draw_normals(Eigen::Index size, Generator& random) {
    return Eigen::VectorXd::NullaryExpr(size, [&](Eigen::Index) { return draw_normal(random); });
}

/// Uniform on the unit sphere.
inline Eigen::VectorXd draw_direction(Eigen::Index size, Generator& random) {
    for (;;) {
        const Eigen::VectorXd direction = draw_normals(size, random);
        if (const double length = direction.norm(); length > 1e-3) return direction / length;
    }
}

}  // namespace certicone
