// A reproduction as text and as JSON (certicone-reproduction/1).
#pragma once

#include <ostream>
#include <span>

#include "verify/report_json.hpp"
#include "verify/reproduce.hpp"

namespace certicone::verify {

void print(std::ostream& out, const Experiment& experiment);
void print_total(std::ostream& out, const FigureCounts& counts);
Json to_json(std::span<const Experiment> experiments);

}  // namespace certicone::verify
