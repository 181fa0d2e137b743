// Among many figures beside their bounds, the one nearest to its bound (or furthest past it).
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "verify/finding.hpp"

namespace certicone::verify {

struct Worst {
    double figure = 0.0, bound = 0.0, quotient = -1.0;
    std::string where = "-";

    /// `name()` is called only for the one that is kept. A figure or bound that is not finite is worse than any other.
    void offer(double new_figure, double new_bound, auto&& name) {
        double share = new_figure <= 0.0 ? 0.0 : new_figure / new_bound;
        if (new_bound < 0.0 || !std::isfinite(new_figure) || !std::isfinite(new_bound))
            share = std::numeric_limits<double>::quiet_NaN();
        const bool larger = share > quotient || (share == quotient && new_figure > figure);
        if (std::isnan(quotient) || (!std::isnan(share) && !larger)) return;
        figure = new_figure;
        bound = new_bound;
        quotient = share;
        where = name();
    }

    Finding finding(std::string id, std::string solver, std::string reason) const {
        return judged(std::move(id), std::move(solver), figure, bound, where, std::move(reason));
    }
};

}  // namespace certicone::verify
