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
    Index threads = 0;       ///< 0: all cores
    std::string dump;        ///< every solve is written to "<dump>.<program>.point<j>.<solver>.json"; empty: none
};

/// One report a column of `points`, in order, the same digit for digit for any number of threads: points are dealt out in
/// runs of 16, each with solvers of its own that start afresh. `progress` is called with the number of finished points, by
/// one thread at a time. After an interrupt (verify/interrupt.hpp) the points not begun have skipped checks.
/// Throws SolverUnavailable or InputError before any work when a solver cannot be used.
std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const std::function<void(Index)>& progress = {});

/// `count` points with independent standard normal entries.
Matrix sample_points(Index dim, Index count, std::uint64_t seed);

/// What a result depends on beside the input: versions, compiler, seed.
std::vector<std::pair<std::string, std::string>> environment();

}  // namespace certicone::verify
