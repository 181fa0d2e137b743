// SCS's binary problem file, as SCS 3.2.11 writes and reads it (machine-endian, 32-bit integers, doubles). Rows are ordered
// zero, nonnegative, second-order, and rotated cones are mapped to second-order cones (conic/rotated_rows.hpp); P, c and the
// multipliers' signs are as in the program. The constant c0 has no place in it. The settings are SCS's defaults but for the
// tolerances, which are 1e-9.
//
//   u32 sizeof(int), u32 sizeof(double), u32 length and text of the version
//   cone     z, l, bsize, qsize, q[…], ssize, ep, ed, psize
//   data     m, n, b[m], c[n], A (m, n, p[n+1], x[…], i[…]), has P, P
//   settings normalize, scale, rho_x, max_iters, eps_abs, eps_rel, eps_infeas, alpha, verbose, warm_start,
//            acceleration_lookback, acceleration_interval, adaptive_scale
#pragma once

#include "conic/program.hpp"

namespace certicone::formats {

/// The version of SCS whose layout this is; it stands in the file.
inline constexpr std::string_view scs_binary_version = "3.2.11";

std::string to_scs_binary(const conic::ConicProgram& program);

}  // namespace certicone::formats
