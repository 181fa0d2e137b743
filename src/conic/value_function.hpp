// The value-function program (ps_soc_socp): f(x) as the optimal value of an SOCP whose multipliers are ξ = (ν, p, r).
//
//   minimise cᵀz_L + Σ α_h s_h + Σ λ_g t_g + (vᵀx + b0)
//
//   block                cone                     s of the block                   y of the block
//   relu[ℓ]              Nonnegative              z_ℓ − U_ℓ z_{ℓ−1} − (W_ℓ x + b_ℓ)   ν_ℓ
//   bound[ℓ]             Nonnegative              z_ℓ                              μ_ℓ = ub_ℓ(ν) − ν_ℓ
//   quadratic[h].link    Zero                     B_h x + e_h − η_h                −p_h
//   quadratic[h].cone    RotatedSecondOrder       (s_h, 1, η_h)                    (α_h, ‖p_h‖²/2α_h, −p_h)
//   conic[g].link        Zero                     A_g x + d_g − ω_g                −r_g
//   conic[g].cone        SecondOrder              (t_g, ω_g)                       (λ_g, −r_g)
//
// A, c and the cones depend on the network alone; x enters b and the constant. Modules with λ = 0 add nothing to f,
// and their r is 0: they are left out.
#pragma once

#include "conic/program.hpp"
#include "geometry/multipliers.hpp"

namespace certicone::conic {

/// Which blocks of f a program holds. By Proposition 1 the program separates, so each block can be solved on its own.
struct Parts {
    bool relu = true;
    std::vector<std::size_t> quadratic;
    std::vector<std::size_t> conic;

    static Parts all(const Network& network);
    static Parts relu_backbone() { return {true, {}, {}}; }  ///< the LP (ps_relu_lp)
    static Parts one_quadratic(std::size_t h) { return {false, {h}, {}}; }
    static Parts one_conic(std::size_t g) { return {false, {}, {g}}; }
};

class ValueFunction {
  public:
    explicit ValueFunction(const Network& network) : ValueFunction(network, Parts::all(network)) {}
    /// The value of the program is that of the chosen blocks; vᵀx + b0 belongs to the ReLU block.
    ValueFunction(const Network& network, const Parts& parts);

    /// Puts x into b and c0; everything else stays.
    void set_point(const Vector& x);

    const Network& network() const { return *network_; }
    const ConicProgram& program() const { return program_; }

    /// ν = y, p = −y, r = −y of the rows named above; zero for blocks that are not in the program.
    Multipliers multipliers(const Vector& y) const;

    /// What the cones have in place of ‖p_h‖²/2α_h.
    Vector squares(const Vector& y) const;

    /// The closed-form optimal pair at `state` for the multipliers ξ ∈ D*(x): columns z, s, η, t, ω, and all of y.
    Vector primal(const LocalState& state) const;
    Vector dual(const Multipliers& xi) const;

    /// First row (or column) of each block; −1 for a block left out.
    struct Layout {
        std::vector<Index> relu, bound, z;
        std::vector<Index> quadratic_link, quadratic_cone, s, eta;
        std::vector<Index> conic_link, conic_cone, t, omega;
    };
    const Layout& layout() const { return layout_; }

  private:
    const Network* network_;
    Layout layout_;
    ConicProgram program_;
};

}  // namespace certicone::conic
