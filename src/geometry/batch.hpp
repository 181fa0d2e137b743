// Value, canonical selector and gradient of many points at once: matrix products instead of matrix–vector products,
// with all memory allocated before the first point.
#pragma once

#include "geometry/multipliers.hpp"

namespace certicone {

struct BatchResult {
    Vector value;              ///< N
    Matrix gradient;           ///< d0 × N: the canonical readout G(ξ̂(x)) of each column
    std::vector<Matrix> nu;    ///< d_ℓ × N, when asked for
    std::vector<Matrix> p;     ///< m_h × N, when asked for
    std::vector<Matrix> r;     ///< k_g × N, when asked for
    std::vector<Index> exact;  ///< points where a sign was too close to call and which went through `evaluate`
};

/// Keeps the stacked weights [W_ℓ U_ℓ] and the work space of one network. One object serves one thread.
class BatchEvaluator {
  public:
    explicit BatchEvaluator(const Network& network);

    /// Columns of `points` are inputs. Signs are those of `evaluate` with tolerance 0: where a cheap error bound cannot
    /// vouch for a sign, the point is evaluated again on its own. With `selector` the multipliers are stored too.
    /// `result` is resized only when its shape changes.
    void evaluate(const Eigen::Ref<const Matrix>& points, BatchResult& result, bool selector = false);

  private:
    void evaluate_block(const Eigen::Ref<const Matrix>& points, Index begin, Index count, BatchResult& result,
                        bool selector);
    void evaluate_alone(const Eigen::Ref<const Matrix>& points, Index column, BatchResult& result, bool selector) const;

    const Network* network_;
    std::vector<Matrix> stacked_;      ///< [U_ℓ W_ℓ] (W_0 alone in the first layer)
    std::vector<Vector> relu_error_;   ///< |error of a_{ℓ,i}| ≤ this · max(1, ‖x‖_∞); −1 where a ≡ 0
    std::vector<Vector> conic_error_;  ///< |error of u_{g,i}| ≤ this · max(1, ‖x‖_∞)
    std::vector<Matrix> activations_;  ///< [z_ℓ ; x] of a block of points
    Matrix upper_, lower_;             ///< ν_ℓ, and [ub_{ℓ−1} ; W_ℓᵀν_ℓ], of a block of points
    std::vector<Matrix> q_, u_;        ///< residuals of a block of points
    std::vector<bool> undecided_;
};

}  // namespace certicone
