#include "inference/lbfgs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

namespace certicone {

namespace {

/// A point on the line x + t d.
struct Trial {
    double t = 0.0, value = 0.0, slope = 0.0;
    Vector gradient;
};

/// The minimiser of the cubic through both ends' values and slopes, within [low, high]; the middle where there is none.
double cubic_minimiser(const Trial& one, const Trial& two, double low, double high) {
    const Trial& left = one.t <= two.t ? one : two;
    const Trial& right = one.t <= two.t ? two : one;
    const double mean = one.slope + two.slope - 3.0 * (one.value - two.value) / (one.t - two.t);
    const double square = mean * mean - one.slope * two.slope;
    if (!(square >= 0.0)) return 0.5 * (low + high);
    const double root = std::sqrt(square);
    const double at =
        right.t - (right.t - left.t) * ((right.slope + root - mean) / (right.slope - left.slope + 2.0 * root));
    return std::min(std::max(at, low), high);
}

class LineSearch {
  public:
    LineSearch(const ValueAndGradient& function, const LbfgsOptions& options, const Vector& x, const Vector& d,
               Trial origin)
        : function_(function), options_(options), x_(x), d_(d), origin_(std::move(origin)) {}

    Trial run(double first_step);
    int evaluations() const { return evaluations_; }

  private:
    Trial at(double t) {
        Trial trial{t, 0.0, 0.0, Vector(x_.size())};
        trial.value = function_(x_ + t * d_, trial.gradient);
        trial.slope = trial.gradient.dot(d_);
        ++evaluations_;
        return trial;
    }
    bool too_high(const Trial& trial) const {
        return trial.value > origin_.value + options_.armijo * trial.t * origin_.slope;
    }
    bool flat(const Trial& trial) const { return std::abs(trial.slope) <= -options_.wolfe * origin_.slope; }
    Trial zoom(std::array<Trial, 2> bracket, int steps);

    const ValueAndGradient& function_;
    const LbfgsOptions& options_;
    const Vector& x_;
    const Vector& d_;
    const Trial origin_;
    int evaluations_ = 0;
};

/// Lengthens the step until it satisfies both conditions or a minimiser is bracketed.
Trial LineSearch::run(double first_step) {
    Trial previous = origin_, current = at(first_step);
    for (int steps = 0; steps < options_.line_search_steps; ++steps) {
        if (too_high(current) || (steps > 1 && current.value >= previous.value))
            return zoom({previous, current}, steps);
        if (flat(current)) return current;
        if (current.slope >= 0.0) return zoom({previous, current}, steps);
        const double next =
            cubic_minimiser(previous, current, current.t + 0.01 * (current.t - previous.t), 10.0 * current.t);
        previous = std::move(current);
        current = at(next);
    }
    return origin_.value <= current.value ? origin_ : current;
}

/// Shrinks a bracket to a step that satisfies both conditions; else the lower end is what there is.
Trial LineSearch::zoom(std::array<Trial, 2> bracket, int steps) {
    const double size = d_.lpNorm<Eigen::Infinity>();
    std::size_t low = bracket[0].value <= bracket[1].value ? 0 : 1;
    bool near_end = false;
    for (; steps < options_.line_search_steps; ++steps) {
        const double least = std::min(bracket[0].t, bracket[1].t), most = std::max(bracket[0].t, bracket[1].t);
        if ((most - least) * size < options_.bracket) break;
        double t = cubic_minimiser(bracket[0], bracket[1], least, most);
        const double margin = 0.1 * (most - least);  // the second step in a row this close to an end is moved inwards
        const bool close = std::min(most - t, t - least) < margin;
        const bool move = close && (near_end || t >= most || t <= least);
        if (move) t = std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
        near_end = close && !move;

        Trial trial = at(t);
        const std::size_t high = 1 - low;
        if (too_high(trial) || trial.value >= bracket[low].value) {
            bracket[high] = std::move(trial);
            low = bracket[0].value <= bracket[1].value ? 0 : 1;
            continue;
        }
        if (flat(trial)) return trial;
        if (trial.slope * (bracket[high].t - bracket[low].t) >= 0.0) bracket[high] = bracket[low];
        bracket[low] = std::move(trial);
    }
    return bracket[low];
}

/// −H g by the two-loop recursion over the pairs (s, y) of the last steps.
class InverseHessian {
  public:
    explicit InverseHessian(int history) : history_(static_cast<std::size_t>(history)) {}

    void update(const Vector& s, const Vector& y) {
        const double product = y.dot(s);
        if (!(product > 1e-10)) return;  // torch's test
        if (pairs_.size() == history_) pairs_.pop_front();
        pairs_.push_back({s, y, 1.0 / product});
        scale_ = product / y.squaredNorm();
    }
    Vector descent(const Vector& gradient) const {
        Vector d = -gradient, weights(static_cast<Index>(pairs_.size()));
        for (Index i = weights.size(); i-- > 0;) {
            const Pair& pair = pairs_[static_cast<std::size_t>(i)];
            weights(i) = pair.s.dot(d) * pair.inverse;
            d -= weights(i) * pair.y;
        }
        d *= scale_;
        for (Index i = 0; i < weights.size(); ++i) {
            const Pair& pair = pairs_[static_cast<std::size_t>(i)];
            d += pair.s * (weights(i) - pair.y.dot(d) * pair.inverse);
        }
        return d;
    }

  private:
    struct Pair {
        Vector s, y;
        double inverse;  ///< 1/yᵀs
    };
    std::size_t history_;
    std::deque<Pair> pairs_;
    double scale_ = 1.0;
};

}  // namespace

LbfgsResult lbfgs(const ValueAndGradient& function, const Vector& start, const LbfgsOptions& options) {
    LbfgsResult result{start, 0.0, 0, 1};
    Vector gradient(start.size());
    result.value = function(result.x, gradient);
    InverseHessian inverse(options.history);
    while (gradient.lpNorm<Eigen::Infinity>() > options.gradient && result.iterations < options.iterations &&
           result.evaluations < options.evaluations) {
        ++result.iterations;
        const Vector d = inverse.descent(gradient);
        const double slope = gradient.dot(d);
        if (slope > -options.change) break;
        LineSearch search(function, options, result.x, d, {0.0, result.value, slope, gradient});
        Trial end = search.run(result.iterations == 1 ? std::min(1.0, 1.0 / gradient.lpNorm<1>()) : 1.0);
        result.evaluations += search.evaluations();
        const double decrease = std::abs(end.value - result.value);
        const Vector step = end.t * d;
        inverse.update(step, end.gradient - gradient);
        result.x += step;
        result.value = end.value;
        gradient = std::move(end.gradient);
        if (step.lpNorm<Eigen::Infinity>() <= options.change || decrease < options.change) break;
    }
    return result;
}

}  // namespace certicone
