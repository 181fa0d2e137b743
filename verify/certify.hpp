// Runs the checks over the points of a network.
#pragma once

#include <cstdint>
#include <functional>

#include "verify/examiner.hpp"

namespace certicone::verify {

using PointSink = std::function<void(PointReport)>;

/// All that a certification needs. Its threads share it: after an interrupt they may go on when everybody else has left
/// (verify/parallel.hpp).
struct Certification {
    Network network;
    Matrix points;
    CertifyOptions options;
    Subject subject;
};

/// One report a column of `points`, handed to `sink` in order as they are finished, in the calling thread; few wait
/// (verify/parallel.hpp). They are the same digit for digit for any number of threads: points are dealt out in runs of
/// 16, each with solvers of its own that start afresh. After an interrupt (verify/interrupt.hpp) the points not finished
/// have skipped checks. Throws SolverUnavailable or InputError before any work when a solver cannot be used.
void certify(const std::shared_ptr<const Certification>& work, const PointSink& sink);

/// The same of copies, all reports at once or one by one.
void certify(const Network& network, const Matrix& points, const CertifyOptions& options, const PointSink& sink,
             const Subject& subject = {});
std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const Subject& subject = {});

/// `count` points with independent standard normal entries.
Matrix sample_points(Index dim, Index count, std::uint64_t seed);

/// Up to `count` points where one or two units of the first layer vanish exactly (geometry/degenerate_points.hpp), each
/// next to a standard normal point and for the hyperplanes nearest to it. Fewer where the lattice offers fewer.
Matrix degenerate_points(const Network& network, Index count, std::uint64_t seed);

}  // namespace certicone::verify
