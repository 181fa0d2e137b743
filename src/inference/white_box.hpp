// Inference that finishes at kinks, and proves it (docs/inference.md). No solver in the loop.
#pragma once

#include <optional>

#include "inference/certificate.hpp"

namespace certicone {

struct WhiteBoxOptions {
    double relative_gap = 1e-14;  ///< stop when gap ≤ this · |F|
    double enough = 1e-10;        ///< what doubles leave above this · |F| is searched again in double-double numbers
    Index max_iterations = 0;     ///< 0: 100 + 4 · units
    Index long_steps = -1;        ///< iterations before the classical mode (docs/inference.md); −1: half of them
    Vector start{};               ///< empty: y
};

/// No x with C x ≤ h lies within `radius` of y: there μ ≥ 0 makes μᵀ(Cx − h) > 0 (Farkas).
struct Infeasibility {
    Vector mu;
    double radius = 0.0;
};

struct WhiteBoxResult {
    InferenceCertificate certificate;            ///< of the best x and ξ found
    std::vector<std::pair<Index, Index>> kinks;  ///< (layer, unit) held at a = 0
    std::vector<Index> zero_modules;             ///< conic modules held at u = 0
    std::vector<Index> active;                   ///< constraints with μ > 0
    Index iterations = 0;
    std::optional<Infeasibility> infeasible;  ///< then there is no certificate
};

/// Constraints enter as units of the last layer, M·max(C_i x − h_i, 0), with M raised until the minimiser keeps to them:
/// their multipliers are then the ν of those units, below M. Where Q + Σ αBᵀB is singular, the search is repeated with
/// δ/2 ‖x − last x‖² added until the proof closes.
WhiteBoxResult white_box_inference(const InferenceProblem& problem, const WhiteBoxOptions& options = {});

}  // namespace certicone
