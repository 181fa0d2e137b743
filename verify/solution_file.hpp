// NAME.solution.json beside an exported instance: its optimal pair in the instance's own rows and signs (docs/export.md,
// certicone-solution/1).
#pragma once

#include "formats/instance.hpp"
#include "verify/known_solution.hpp"
#include "verify/report_json.hpp"

namespace certicone::verify {

/// What is exported: a program, in the form it was built and in the form with a linear objective that CBF, PTF and MOF have.
struct SolutionContext {
    std::string instance;  ///< its name, without folder and extension
    std::string program;   ///< value, dual, …
    Json origin;           ///< the network and the point
    std::vector<std::string> formats;
};

/// `linear` and its pair are in the rows of CBF, PTF and MOF. For Clarabel and SCS, which get the program in its units, order
/// rows and rotate cones (conic/rotated_rows.hpp) and take P as it is, the pair is repeated in theirs.
Json solution_json(const SolutionContext& context, const KnownProgram& known, const formats::Instance& linear);

/// What `certicone solve --solution` needs of such a file.
struct StoredSolution {
    std::string source;
    double objective = 0.0;
    Vector x, y;
    std::optional<bool> dual_unique;
    Index dual_dimension = 0;
};

/// InputError names the file and the key that is wrong.
StoredSolution read_solution(const std::string& path);

}  // namespace certicone::verify
