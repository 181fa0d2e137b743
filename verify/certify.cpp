#include "verify/certify.hpp"

#include <algorithm>
#include <numeric>

#include "geometry/degenerate_points.hpp"
#include "support/draws.hpp"
#include "verify/parallel.hpp"

namespace certicone::verify {

namespace {

constexpr Index kRun = 16;  // points that share a set-up and warm starts

}  // namespace

void certify(const std::shared_ptr<const Certification>& work, const PointSink& sink) {
    require_usable(work->options);
    in_order<PointReport>(
        work->points.cols(), kRun, work->options.threads,
        [work](Index begin, Index end, const auto& give) {
            Examiner examiner(work->network, work->options, work->subject);
            for (Index j = begin; j < end; ++j)
                give(examiner.examine(j, work->points.col(j)));
        },
        sink, [&](Index j) { return not_examined(j, work->points.col(j), work->options, "interrupted"); });
}

void certify(const Network& network, const Matrix& points, const CertifyOptions& options, const PointSink& sink,
             const Subject& subject) {
    certify(std::make_shared<const Certification>(Certification{network, points, options, subject}), sink);
}

std::vector<PointReport> certify(const Network& network, const Matrix& points, const CertifyOptions& options,
                                 const Subject& subject) {
    std::vector<PointReport> reports;
    certify(
        network, points, options, [&](PointReport report) { reports.push_back(std::move(report)); }, subject);
    return reports;
}

Matrix sample_points(Index dim, Index count, std::uint64_t seed) {
    Generator random(seed);
    return Matrix::NullaryExpr(dim, count, [&](Index, Index) { return draw_normal(random); });
}

Matrix degenerate_points(const Network& network, Index count, std::uint64_t seed) {
    const Layer& layer = network.layers.front();
    const Matrix starts = sample_points(network.input_dim, 2 * count, seed + 1);
    Matrix points(network.input_dim, count);
    Index found = 0;
    for (Index j = 0; j < starts.cols() && found < count; ++j) {
        const Vector x = starts.col(j);
        const Vector length = layer.W.rowwise().norm();
        const Vector distance =
            (length.array() > 0.0)
                .select((layer.W * x + layer.b).cwiseAbs().cwiseQuotient(length), std::numeric_limits<double>::max());
        std::vector<Index> units(static_cast<std::size_t>(layer.units()));
        std::iota(units.begin(), units.end(), Index{0});
        std::sort(units.begin(), units.end(), [&](Index a, Index b) { return distance(a) < distance(b); });
        const std::size_t together = j % 2 == 1 && network.input_dim >= 8 && units.size() > 1 ? 2 : 1;
        if (const auto point = degenerate_point(network, x, {units.data(), together}, 10.0 * (1.0 + x.norm())))
            points.col(found++) = *point;
    }
    return points.leftCols(found);
}

}  // namespace certicone::verify
