// The summary table on the terminal.
#pragma once

#include <ostream>

#include "verify/finding.hpp"

namespace certicone::verify {

/// One line a network, check and solver: how many points passed, and the point that came closest to its bound. Failed
/// checks follow with their place and reason (the first few of each kind), the total last.
void write_table(std::ostream& out, const std::vector<NetworkReport>& reports);

}  // namespace certicone::verify
