#include "inference/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace certicone {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void LineSearch::make_rates(const Vector& d) {
    for (std::size_t l = 0; l < at_.network.layers.size(); ++l) {
        rate_[l].noalias() = at_.network.layers[l].W * d;
        if (l > 0)
            rate_[l].noalias() +=
                at_.network.layers[l].U * (at_.sign[l - 1].array() > 0).select(rate_[l - 1], 0.0).matrix();
    }
    affine_rate_ = at_.network.v.dot(d) + at_.problem.gradient(at_.x).dot(d) +
                   at_.network.c.dot((at_.sign.back().array() > 0).select(rate_.back(), 0.0).matrix());
    for (std::size_t h = 0; h < at_.network.quadratic.size(); ++h)
        affine_rate_ += at_.network.quadratic[h].alpha * at_.trace.q[h].dot(at_.network.quadratic[h].B * d);
    curvature_rate_ = d.dot(at_.curvature * d);
    conic_rate_.clear();
    for (std::size_t g = 0; g < at_.held.size(); ++g) {
        if (at_.held[g] || at_.network.conic[g].lambda == 0.0) continue;
        const Vector w = at_.network.conic[g].A * d;
        const double ww = w.squaredNorm();
        if (ww == 0.0) continue;
        const double nearest = -at_.trace.u[g].dot(w) / ww;  // without cancellation where the line meets u = 0
        conic_rate_.push_back(
            {at_.network.conic[g].lambda, ww, nearest, (at_.trace.u[g] + nearest * w).squaredNorm(), at_.leaving[g]});
    }
}

double LineSearch::slope(double t) const {
    double sum = affine_rate_ + t * curvature_rate_;
    for (const auto& [lambda, ww, nearest, least, from_zero] : conic_rate_) {
        const double past = t - nearest, squared = least + past * past * ww;
        sum += from_zero || squared <= 0.0 ? lambda * std::sqrt(ww) : lambda * past * ww / std::sqrt(squared);
    }
    return sum;
}

double LineSearch::minimiser(double last) const {
    if (conic_rate_.empty()) return std::min(last, -affine_rate_ / curvature_rate_);
    double low = 0.0, high = last;
    if (!std::isfinite(high)) {
        high = 1.0;
        while (slope(high) < 0.0 && high < 1e12)
            high *= 2.0;
    }
    for (int k = 0; k < 200 && high - low > 1e-16 * high; ++k) {
        // Regula falsi with bisection: the slope is monotone.
        const double at_low = slope(low), at_high = slope(high);
        double middle =
            k % 3 == 2 || !(at_high > at_low) ? 0.5 * (low + high) : low - at_low * (high - low) / (at_high - at_low);
        if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        (slope(middle) < 0.0 ? low : high) = middle;
    }
    return high;
}

bool LineSearch::refine(const Vector& d) {
    if (!(d.squaredNorm() > 0.0)) return false;
    make_rates(d);
    std::vector<std::pair<std::size_t, Index>> vanish;
    for (std::size_t l = 0; l < at_.sign.size(); ++l)
        for (Index i = 0; i < at_.sign[l].size(); ++i) {
            if (at_.sign[l](i) == 0 || at_.box[l](i) == 0.0) continue;
            const double before = at_.trace.a[l](i), after = before + rate_[l](i);
            if (std::abs(after) <= kVanished * std::abs(before))
                vanish.emplace_back(l, i);
            else if (after * at_.sign[l](i) < 0.0)
                return false;
        }
    at_.x += d;
    for (const auto& [l, i] : vanish) {
        at_.from[l](i) = at_.sign[l](i);
        at_.sign[l](i) = 0;
    }
    at_.pass_forward();
    std::fill(at_.leaving.begin(), at_.leaving.end(), false);
    return true;
}

bool LineSearch::advance(const Vector& d, std::optional<std::size_t> target, bool classical) {
    const Vector before = at_.x;
    const bool moved = d.allFinite() && d.squaredNorm() > 0.0 && walk(d, target, classical);
    if (moved || !target) {
        std::fill(at_.leaving.begin(), at_.leaving.end(), false);
        at_.hold_vanished(before);
    }
    return moved;
}

bool LineSearch::walk(const Vector& d, std::optional<std::size_t> target, bool classical) {
    bool moved = false;
    double done = 0.0;  // share of d behind us
    for (Index crossed = 0; crossed <= 4 * total_units(at_.network); ++crossed) {
        make_rates(d);
        if (!(slope(0.0) < 0.0)) break;
        double end = kInfinity;
        std::size_t layer = 0;
        Index unit = -1;
        for (std::size_t l = 0; l < at_.sign.size(); ++l)
            for (Index i = 0; i < at_.sign[l].size(); ++i) {
                const double rate = rate_[l](i), a = at_.trace.a[l](i);
                if (at_.sign[l](i) == 0 || rate * at_.sign[l](i) >= 0.0 || at_.box[l](i) == 0.0) continue;
                const double t = a * at_.sign[l](i) <= 0.0 ? 0.0 : -a / rate;
                if (t < end) {
                    end = t;
                    layer = l;
                    unit = i;
                }
            }
        // Without norms the slope is at least the model's, so the minimum is at t ≤ 1; beyond that there is only rounding.
        const double last = target || conic_rate_.empty() ? std::max(0.0, 1.0 - done) : kInfinity;
        const double stop = std::min(end, last);
        if (!(std::isfinite(stop) && slope(stop) < 0.0)) {
            at_.x += minimiser(stop) * d;
            at_.pass_forward();
            return true;
        }
        at_.x += stop * d;
        done += stop;
        moved = true;
        if (stop < end) {
            if (target) at_.held[*target] = true;  // arrived
            at_.pass_forward();
            break;
        }
        if (stop > 0.0) std::fill(at_.leaving.begin(), at_.leaving.end(), false);
        at_.from[layer](unit) = at_.sign[layer](unit);
        at_.sign[layer](unit) = static_cast<std::int8_t>(-at_.sign[layer](unit));
        at_.pass_forward();
        make_rates(d);
        // Past the kink F would rise: stay on it. So too where a held unit would move: then all their multipliers must
        // be asked which side to take. The classical mode stays on every kink, for it ends for certain (docs/inference.md).
        if (classical || !(slope(0.0) < 0.0) || held_moves(d)) {
            at_.sign[layer](unit) = 0;
            at_.pass_forward();
            break;
        }
    }
    return moved;
}

bool LineSearch::held_moves(const Vector& d) const {
    for (std::size_t l = 0; l < at_.sign.size(); ++l)
        for (Index i = 0; i < at_.sign[l].size(); ++i)
            if (at_.sign[l](i) == 0 && std::abs(rate_[l](i)) > 1e-12 * d.norm()) return true;
    return false;
}

}  // namespace certicone
