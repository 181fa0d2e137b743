// Queries of inference from a file: what is asked, of which Φ, under which constraints.
#pragma once

#include <filesystem>
#include <optional>

#include "inference/problem.hpp"

namespace certicone {

/// JSON: {"queries": [[…]…]} with
///   "beta": β or "Q": [[…]…]   Φ(x) = β/2 ‖x − y‖² or ½ (x − y)ᵀQ(x − y), Q symmetric and positive semidefinite
///   "q": […]                   + qᵀx
///   "lower", "upper": […]      a box; null where there is no bound
///   "C": [[…]…], "h": […]      C x ≤ h
/// all but the queries optional, no others allowed. Files of points need `beta`, which goes before the file's.
struct InferenceQueries {
    Matrix queries;            ///< one column each
    InferenceProblem problem;  ///< with y = 0

    InferenceProblem at(Index query) const {
        InferenceProblem result = problem;
        result.y = queries.col(query);
        return result;
    }
};

/// Throws InputError naming file and place, also for β ≤ 0, a Q that is not symmetric or has a negative eigenvalue, and wrong
/// lengths. The network must outlive the result.
InferenceQueries read_queries(const std::filesystem::path& path, const Network& network,
                              std::optional<double> beta = std::nullopt);

/// The same from the bytes of a file already read.
InferenceQueries parse_queries(std::string_view bytes, const std::string& source, const Network& network,
                               std::optional<double> beta = std::nullopt);

}  // namespace certicone
