#include "network/reference.hpp"

#include <fmt/format.h>

#include "network/forward.hpp"
#include "support/file.hpp"

namespace certicone {

void check_reference(const Network& network, const Matrix& points, const Vector& values, const std::string& source) {
    if (points.rows() != values.size() || (points.rows() > 0 && points.cols() != network.input_dim))
        fail_input(source, fmt::format("reference has {} values for {} points of {} entries, expected points of {}",
                                       values.size(), points.rows(), points.cols(), network.input_dim));
    for (Index k = 0; k < values.size(); ++k) {
        const Vector x = points.row(k);
        const Trace<double> trace = forward(network, x);
        const double found = value(network, x, trace);
        double size =
            std::abs(network.b0) + network.v.cwiseAbs().dot(x.cwiseAbs()) + network.c.dot(trace.z.back().cwiseAbs());
        for (std::size_t h = 0; h < network.quadratic.size(); ++h)
            size += 0.5 * network.quadratic[h].alpha * trace.q[h].squaredNorm();
        for (std::size_t g = 0; g < network.conic.size(); ++g)
            size += network.conic[g].lambda * trace.u[g].norm();
        if (!(std::abs(found - values(k)) <= 1e-9 * size))
            fail_input(source, fmt::format("reference value {} is {:.17g}, but f there is {:.17g}: the weights are not "
                                           "those of the network that the values were computed with",
                                           k, values(k), found));
    }
}

}  // namespace certicone
