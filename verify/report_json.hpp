// JSON of the readout and of the certification report (docs/formats.md: certicone-readout/1, certicone-report/1).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "geometry/multipliers.hpp"
#include "verify/finding.hpp"

namespace certicone::verify {

using Json = nlohmann::ordered_json;

Json to_json(const Vector& vector);
Json to_json(const Matrix& matrix);  ///< a list of rows
Json to_json(const std::vector<Vector>& blocks);

struct PointReadout {
    LocalState state;
    Multipliers xi;
    Vector gradient;
    std::optional<Matrix> hessian;
    std::optional<double> branch_radius;
    std::vector<double> directional;
};

/// One entry of "points" in certicone-readout/1.
Json to_json(const PointReadout& readout);

/// All of certicone-report/1.
void write_json(std::ostream& out, const NetworkReport& report);

}  // namespace certicone::verify
