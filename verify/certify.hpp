// Runs the checks over the points of a network.
#pragma once

#include <cstdint>
#include <functional>

#include "solvers/solver.hpp"
#include "verify/finding.hpp"

namespace certicone::verify {

struct CertifyOptions {
    std::vector<std::string> solvers{"scs"};
    solvers::Settings settings;
    double tolerance = 0.0;  ///< for degeneracy; 0: exact
};

/// One report a column of `points`, in order. `progress` is called with the number of finished points.
/// Throws SolverUnavailable or InputError before any work when a solver cannot be used.
std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const std::function<void(Index)>& progress = {});

/// `count` points with independent standard normal entries.
Matrix sample_points(Index dim, Index count, std::uint64_t seed);

/// What a result depends on beside the input: versions, compiler, seed.
std::vector<std::pair<std::string, std::string>> environment();

}  // namespace certicone::verify
