// The paper's programs at one point of a network, each with its optimal pair: the closed forms of src/conic, and for
// inference, which has none, white-box inference.
#pragma once

#include <optional>

#include "conic/inference_program.hpp"
#include "conic/optimal_set_program.hpp"
#include "conic/value_function.hpp"
#include "geometry/local_state.hpp"

namespace certicone::verify {

/// One degree of freedom, or several, of a set of optimal multipliers y.
struct Freedom {
    std::string kind;         ///< interval, ball or ray
    std::string where;        ///< "unit 3 of layer 0", "conic module 1"
    std::vector<Index> rows;  ///< what moves: interval and ray the two rows of a unit, ball those of the module's r
    /// interval: y of the first row in [0, bound] and the second the rest to bound (the bound as it is at the stored y; it
    /// follows the multipliers of the layers above); ball: ‖y‖ ≤ bound; ray: both may grow, without bound.
    std::optional<double> bound;
    Index dimension = 1;
};

struct KnownSolution {
    std::string source = "closed form";  ///< or "white-box"
    double objective = 0.0;              ///< of the program, constant included
    double gap = 0.0;                    ///< proved: 0 for closed forms
    Vector x, y;
    std::optional<bool> dual_unique;  ///< none: not decided
    Index dual_dimension = 0;
    std::vector<Freedom> free;  ///< empty where the dual is unique
};

struct KnownProgram {
    conic::ConicProgram program;
    /// Its own scaling, by powers of two: units in which a solver meets numbers of size one.
    conic::Scaling units;
    KnownSolution known;
};

/// f(x) by the value-function program; with `relu_only` the ReLU backbone alone. The multipliers are D*(x).
KnownProgram known_value(const Network& network, const LocalState& state, bool relu_only = false);
/// −f(x) by the dual program; its multipliers are z, q and u, where units that do not matter may have any larger z.
KnownProgram known_dual(const Network& network, const LocalState& state);
/// −f'(x; d).
KnownProgram known_max_readout(const Network& network, const LocalState& state, const Vector& direction);
/// ½‖ξ̂‖² (Corollary 1).
KnownProgram known_min_norm(const Network& network, const LocalState& state);
/// min F by white-box inference, with the closed forms of all other unknowns; `gap` is what is left between F(x) and the bound
/// of ξ and μ (inference/certificate.hpp). InputError where the constraints cannot be met.
KnownProgram known_inference(const InferenceProblem& problem);
/// Of Φ(x) = β/2 ‖x − query‖².
KnownProgram known_inference(const Network& network, double beta, const Vector& query);

}  // namespace certicone::verify
