// JSON of the readout and of the certification report (docs/formats.md: certicone-readout/1, certicone-report/1).
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "geometry/multipliers.hpp"
#include "verify/report.hpp"

namespace certicone::verify {

using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN: they are written as null.
Json number(double value);
/// {"relu": [[layer, unit]…], "conic": [g…]}
Json degenerate(const std::vector<std::pair<Index, Index>>& units, const std::vector<Index>& modules);
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

/// certicone-report/1, of one network; the summary follows the points.
class JsonReport : public Report {
  public:
    explicit JsonReport(std::ostream& out) : out_(out) {}
    void begin_network(const NetworkHeader& header) override;
    void point(const PointReport& point) override;
    void end_network(const Summary& summary, double seconds) override;
    void finish(Index = 0) override {}

  private:
    std::ostream& out_;
    bool first_ = true;
};

}  // namespace certicone::verify
