// Writes certificates (docs/certificate.md): claims about a network at points, which verify/check verifies on its own.
#pragma once

#include <span>

#include "geometry/exact_multipliers.hpp"

namespace certicone::verify {

/// One claim each, as JSON.
std::string value_claim(const ExactPoint& point, slong bits);
std::string canonical_claim(const ExactPoint& point);
/// `xi` must be exactly feasible (repair_exactly).
std::string multiplier_claim(const ExactPoint& point, const Multipliers& xi, slong bits);
std::string subgradient_claim(const ExactPoint& point, slong bits);
std::string directional_claim(const ExactPoint& point, const Vector& direction, slong bits);
std::string uniqueness_claim(const ExactPoint& point);
/// For nondegenerate points.
std::string branch_claim(const ExactPoint& point, slong bits);
std::string hessian_claim(const ExactPoint& point, const ExactCurvature& curvature, slong bits);
/// min f + β/2‖·−y‖² is within the claimed gap of its value at the point; `xi` must be exactly feasible.
std::string inference_claim(const ExactPoint& point, const Vector& y, double beta, const Multipliers& xi, slong bits);

/// {"x":…,"claims":[…]}
std::string certificate_point(const Vector& x, std::span<const std::string> claims);
/// Every claim that the closed forms make at the point, and one for each of `xi`.
std::string certificate_point(const ExactPoint& point, const Vector& x, const ExactCurvature& curvature,
                              std::span<const Vector> directions, std::span<const Multipliers> xi, slong bits);

/// What every certificate of that network begins with.
std::string certificate_head(const std::string& network_sha256);
/// What stands before the points of a file, which are separated by ",\n", and after them.
std::string certificate_begin(const std::string& network_sha256, slong bits);
inline constexpr std::string_view certificate_end = "]}\n";
/// A whole file.
std::string certificate(const std::string& network_sha256, slong bits, std::span<const std::string> points);

}  // namespace certicone::verify
