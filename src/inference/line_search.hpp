// Exact line search: along x + t d every preactivation is affine up to the next kink, and F is minimised kink by kink.
#pragma once

#include <optional>

#include "inference/branch_point.hpp"

namespace certicone {

template <class Scalar>
class LineSearch {
  public:
    explicit LineSearch(BranchPoint<Scalar>& at) : at_(at), rate_(at.sign.size()) {}

    /// Minimises F along d, kink by kink; with `target` no further than to x + d, where that module's u vanishes. False
    /// where F does not fall. `classical`: it stays on every kink that it meets (docs/inference.md).
    bool advance(const VectorOf<Scalar>& d, std::optional<std::size_t> target, bool classical);

    /// The whole step, where it crosses no kink: what is left to gain is below the rounding of F, so its slope cannot be
    /// asked, but the residual, and with it the gap, still falls. Units that the step brings to zero, up to kVanished of what
    /// they were, as where it goes back to a point in which all kinks meet, are held there.
    bool refine(const VectorOf<Scalar>& d);

  private:
    struct ConicRate {
        Scalar lambda, ww;  ///< ‖w‖², w = A d
        Scalar nearest;     ///< the t at which ‖u + t w‖ is least,
        Scalar least;       ///< and its square there
        bool from_zero;
    };

    bool walk(const VectorOf<Scalar>& d, std::optional<std::size_t> target, bool classical);
    /// Rates of change along d on the branch.
    void make_rates(const VectorOf<Scalar>& d);
    /// dF/dt at x + t d, on the branch.
    Scalar slope(const Scalar& t) const;
    /// The zero of the slope in (0, last], where it is not negative.
    Scalar minimiser(const Scalar& last) const;
    /// Below what size a rate along d is but rounding.
    void measure_rates(const VectorOf<Scalar>& d);
    /// Whether a held unit would leave its zero along d: the masks below it have changed.
    bool held_moves() const;

    BranchPoint<Scalar>& at_;
    std::vector<VectorOf<Scalar>> rate_;
    std::vector<Vector> still_;  ///< sizes of rates that are but rounding
    Scalar affine_rate_ = 0.0, curvature_rate_ = 0.0;
    std::vector<ConicRate> conic_rate_;
};

}  // namespace certicone
