// A solver's multipliers beside the closed form, block by block: how far apart, how far its own gap allows, who owns the
// gap, and, where D*(x) is a set, which element the solver chose.
#pragma once

#include "solvers/mosek_runtime.hpp"
#include "verify/examiner.hpp"
#include "verify/relu_block.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

/// One block ν_ℓ, p_h or r_g of the solver's ξ, repaired to be feasible.
struct BlockComparison {
    std::string block;  ///< "nu[0]", "p[1]", "r[0]"
    Index entries = 0;
    Index set_valued = 0;   ///< entries that Lemma 1 leaves a choice: compared by membership
    double size = 0.0;      ///< norm of the closed form
    double distance = 0.0;  ///< to the nearest element of D*(x) found by clipping (repair_to_optimal)
    double bound = 0.0;     ///< what the block's terms of the gap identity allow, and rounding
    double gap = 0.0;       ///< the block's terms of the gap identity

    bool within() const { return distance <= bound; }
};

/// A unit or module with its part of the gap.
struct GapOwner {
    std::string name;
    double gap = 0.0;
};

struct SolverComparison {
    std::string solver;  ///< "highs (ReLU block)" where the rest of the network is not in its program
    solvers::Claim claimed;
    std::string broken;        ///< where the answer does not keep the tolerances asked for; empty where it does
    double value_error = 0.0;  ///< |primal objective − f|
    double gap = 0.0;          ///< f − Ψ of the repaired ξ, by the gap identity
    std::vector<BlockComparison> blocks;
    std::vector<GapOwner> owners;  ///< the largest parts of the gap, at most three
    std::string element;           ///< "unique", "minimum norm", "vertex", "analytic centre", "interior", "face …"
    double referee = -1.0;         ///< MOSEK's largest relative figure for the solver's pair; negative: not asked
    std::string referee_where;

    bool consistent() const;
};

struct PointComparison {
    Index index = 0;
    Vector x;
    double value = 0.0;
    std::vector<std::pair<Index, Index>> degenerate_units;
    std::vector<Index> degenerate_modules;
    std::vector<SolverComparison> solvers;
};

/// One object serves one thread.
class Comparer {
  public:
    Comparer(const Network& network, const CertifyOptions& options);
    /// Throws PointError where the forward pass overflows.
    PointComparison compare(Index index, const Vector& x);

  private:
    /// A solver with the network's program or, where it has no cones for the modules, with that of the ReLU block.
    struct Session {
        std::string name;
        std::unique_ptr<const ReluBlock> block;
        std::unique_ptr<ValueFunctionSession> value_function;
    };
    const Network& network_;
    const CertifyOptions& options_;
    std::vector<Session> sessions_;
    std::unique_ptr<solvers::mosek::Task> referee_;
};

/// Which element of D*(x) a feasible ξ is nearest to, in words. Shares ν/ub(ν) and ‖r‖/λ within 1e-4 count as equal.
std::string describe_element(const Network& network, const LocalState& state, const Multipliers& feasible);

}  // namespace certicone::verify
