// Points and directions from JSON, CSV and .npy files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "network/network.hpp"

namespace certicone {

enum class PointKind { points, directions };

/// One column a point: dim × N with N ≥ 1, all entries finite. The format is told by content:
///   JSON  {"points": [[…]…]} (or "queries") and {"directions": [[…]…]}; other keys are not looked at
///   .npy  N × dim floats or integers; one-dimensional if N or dim is 1
///   CSV   a point a line, separated by commas, semicolons or blanks; '#' comments; column names may come first
/// InputError names the point and entry, counted from 0, or the line and field, counted from 1.
Matrix read_points(const std::filesystem::path& path, Index dim, PointKind kind = PointKind::points);

/// The bytes of such a file. What cannot be one is refused by its beginning, whatever its size.
std::string read_points_bytes(const std::filesystem::path& path);

/// The same from the bytes of a file already read.
Matrix parse_points(std::string_view bytes, const std::string& source, Index dim, PointKind kind = PointKind::points);

}  // namespace certicone
