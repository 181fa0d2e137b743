#include "inference/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace certicone {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class Scalar>
void LineSearch<Scalar>::make_rates(const VectorOf<Scalar>& d) {
    const Network& network = at_.network;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        rate_[l] = times(network.layers[l].W, d);
        if (l > 0)
            add_product(network.layers[l].U,
                        VectorOf<Scalar>((at_.sign[l - 1].array() > 0).select(rate_[l - 1], Scalar(0.0))), rate_[l]);
    }
    affine_rate_ = network.v.cast<Scalar>().dot(d) + at_.objective_gradient().dot(d);
    for (Index i = 0; i < network.c.size(); ++i)
        if (at_.sign.back()(i) > 0) affine_rate_ += network.c(i) * rate_.back()(i);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        affine_rate_ += network.quadratic[h].alpha * at_.trace.q[h].dot(times(network.quadratic[h].B, d));
    curvature_rate_ = d.dot(at_.curvature * d);
    conic_rate_.clear();
    for (std::size_t g = 0; g < at_.held.size(); ++g) {
        if (at_.held[g] || network.conic[g].lambda == 0.0) continue;
        const VectorOf<Scalar> w = times(network.conic[g].A, d);
        const Scalar ww = w.squaredNorm();
        if (ww == Scalar(0.0)) continue;
        const Scalar nearest = -at_.trace.u[g].dot(w) / ww;  // without cancellation where the line meets u = 0
        conic_rate_.push_back(
            {network.conic[g].lambda, ww, nearest, (at_.trace.u[g] + nearest * w).squaredNorm(), at_.leaving[g]});
    }
}

template <class Scalar>
Scalar LineSearch<Scalar>::slope(const Scalar& t) const {
    using std::sqrt;
    Scalar sum = affine_rate_ + t * curvature_rate_;
    for (const auto& [lambda, ww, nearest, least, from_zero] : conic_rate_) {
        const Scalar past = t - nearest, squared = least + past * past * ww;
        if (from_zero || !(squared > Scalar(0.0)))
            sum += lambda * sqrt(ww);
        else
            sum += lambda * past * ww / sqrt(squared);
    }
    return sum;
}

template <class Scalar>
Scalar LineSearch<Scalar>::minimiser(const Scalar& last) const {
    if (conic_rate_.empty()) return std::min(last, Scalar(-affine_rate_ / curvature_rate_));
    Scalar low = 0.0, high = last;
    if (!std::isfinite(to_double(high))) {
        high = 1.0;
        while (slope(high) < Scalar(0.0) && high < Scalar(1e12))
            high *= Scalar(2.0);
    }
    for (int k = 0; k < 600 && high - low > Scalar(0.5 * kRounding<Scalar>) * high; ++k) {
        // Regula falsi with bisection: the slope is monotone.
        const Scalar at_low = slope(low), at_high = slope(high);
        Scalar middle = Scalar(0.5) * (low + high);
        if (k % 3 != 2 && at_high > at_low) middle = low - at_low * (high - low) / (at_high - at_low);
        if (!(middle > low && middle < high)) middle = Scalar(0.5) * (low + high);
        if (middle <= low || middle >= high) break;
        (slope(middle) < Scalar(0.0) ? low : high) = middle;
    }
    return high;
}

template <class Scalar>
bool LineSearch<Scalar>::refine(const VectorOf<Scalar>& d) {
    if (!(d.squaredNorm() > Scalar(0.0))) return false;
    make_rates(d);
    std::vector<std::pair<std::size_t, Index>> vanish;
    for (std::size_t l = 0; l < at_.sign.size(); ++l)
        for (Index i = 0; i < at_.sign[l].size(); ++i) {
            if (at_.sign[l](i) == 0 || at_.box[l](i) == 0.0) continue;
            const Scalar before = at_.trace.a[l](i), after = before + rate_[l](i);
            if (magnitude(after) <= kVanished<Scalar> * magnitude(before))
                vanish.emplace_back(l, i);
            else if (to_double(after) * at_.sign[l](i) < 0.0)
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

template <class Scalar>
bool LineSearch<Scalar>::advance(const VectorOf<Scalar>& d, std::optional<std::size_t> target, bool classical) {
    const VectorOf<Scalar> before = at_.x;
    const bool moved = finite(d) && d.squaredNorm() > Scalar(0.0) && walk(d, target, classical);
    if (moved || !target) {
        std::fill(at_.leaving.begin(), at_.leaving.end(), false);
        at_.hold_vanished(before);
    }
    return moved;
}

template <class Scalar>
bool LineSearch<Scalar>::walk(const VectorOf<Scalar>& d, std::optional<std::size_t> target, bool classical) {
    bool moved = false;
    Scalar done = 0.0;  // share of d behind us
    measure_rates(d);
    for (Index crossed = 0; crossed <= 4 * total_units(at_.network); ++crossed) {
        make_rates(d);
        if (!(slope(0.0) < Scalar(0.0))) break;
        Scalar end = kInfinity;
        std::size_t layer = 0;
        Index unit = -1;
        for (std::size_t l = 0; l < at_.sign.size(); ++l)
            for (Index i = 0; i < at_.sign[l].size(); ++i) {
                const Scalar rate = rate_[l](i), a = at_.trace.a[l](i);
                if (at_.sign[l](i) == 0 || to_double(rate) * at_.sign[l](i) >= 0.0 || at_.box[l](i) == 0.0) continue;
                if (magnitude(rate) <= still_[l](i)) continue;  // moves by rounding alone, as a twin of what stays
                const Scalar t = to_double(a) * at_.sign[l](i) <= 0.0 ? Scalar(0.0) : Scalar(-a / rate);
                if (t < end) {
                    end = t;
                    layer = l;
                    unit = i;
                }
            }
        // Without norms the slope is at least the model's, so the minimum is at t ≤ 1; beyond that there is only rounding.
        const Scalar last =
            target || conic_rate_.empty() ? std::max(Scalar(0.0), Scalar(Scalar(1.0) - done)) : Scalar(kInfinity);
        const Scalar stop = std::min(end, last);
        if (!(std::isfinite(to_double(stop)) && slope(stop) < Scalar(0.0))) {
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
        if (stop > Scalar(0.0)) std::fill(at_.leaving.begin(), at_.leaving.end(), false);
        at_.from[layer](unit) = at_.sign[layer](unit);
        at_.sign[layer](unit) = static_cast<std::int8_t>(-at_.sign[layer](unit));
        at_.pass_forward();
        make_rates(d);
        // Past the kink F would rise: stay on it. So too where a held unit would move: then all their multipliers must
        // be asked which side to take. The classical mode stays on every kink, for it ends for certain (docs/inference.md).
        if (classical || !(slope(0.0) < Scalar(0.0)) || held_moves()) {
            at_.sign[layer](unit) = 0;
            at_.pass_forward();
            break;
        }
    }
    return moved;
}

template <class Scalar>
void LineSearch<Scalar>::measure_rates(const VectorOf<Scalar>& d) {
    // An entry of d is off by the rounding of all: what is held may pin it to 0.
    const Vector step = Vector::Constant(d.size(), nearest(d).norm());
    still_.resize(at_.sign.size());
    for (std::size_t l = 0; l < at_.sign.size(); ++l) {
        const Layer& layer = at_.network.layers[l];
        still_[l] = layer.W.cwiseAbs() * step;
        if (l > 0) still_[l].noalias() += layer.U * (at_.sign[l - 1].array() > 0).select(still_[l - 1], 0.0).matrix();
    }
    for (Vector& sizes : still_)
        sizes *= kVanished<Scalar>;
}

template <class Scalar>
bool LineSearch<Scalar>::held_moves() const {
    for (std::size_t l = 0; l < at_.sign.size(); ++l)
        for (Index i = 0; i < at_.sign[l].size(); ++i)
            if (at_.sign[l](i) == 0 && magnitude(rate_[l](i)) > still_[l](i) + magnitude(at_.trace.a[l](i)))
                return true;
    return false;
}

template class LineSearch<double>;
template class LineSearch<DoubleDouble>;

}  // namespace certicone
