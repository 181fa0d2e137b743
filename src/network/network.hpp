// An SOC-ICNN network (paper, §3):
//
//   f(x) = cᵀz_L + vᵀx + b0 + Σ_h α_h/2 ‖B_h x + e_h‖² + Σ_g λ_g ‖A_g x + d_g‖,
//   z_ℓ = max(W_ℓ x + U_ℓ z_{ℓ−1} + b_ℓ, 0),  z_0 = 0,
//
// convex because U_ℓ ≥ 0, c ≥ 0, α_h > 0 and λ_g ≥ 0. Indices are 0-based: layers[0] is the paper's ℓ = 1.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace certicone {

using Eigen::Index;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct Layer {
    Matrix W;  ///< d_ℓ × d_0
    Matrix U;  ///< d_ℓ × d_{ℓ−1}, entrywise ≥ 0; 0 × 0 in the first layer
    Vector b;

    Index units() const { return W.rows(); }
};

/// α/2 ‖Bx + e‖², with q(x) = Bx + e.
struct Quadratic {
    double alpha = 1.0;
    Matrix B;
    Vector e;
};

/// λ ‖Ax + d‖, with u(x) = Ax + d.
struct Conic {
    double lambda = 1.0;
    Matrix A;
    Vector d;
};

struct Network {
    std::string name;
    Index input_dim = 0;
    std::vector<Layer> layers;
    Vector c;
    Vector v;
    double b0 = 0.0;
    std::vector<Quadratic> quadratic;
    std::vector<Conic> conic;
};

/// Everything that keeps `network` from being an SOC-ICNN, one line each, naming the layer or module, the entry and
/// its value: "layers[1].U[3][5] = -0.25, must be >= 0". Stops after `limit` lines.
std::vector<std::string> violations(const Network& network, std::size_t limit = 100);

/// Throws InputError with the first violation (and how many more there are); `source` (a file name) stands before it.
void validate(const Network& network, const std::string& source = {});

Index total_units(const Network& network);
Index parameter_count(const Network& network);

}  // namespace certicone
