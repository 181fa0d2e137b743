#include "mutants.hpp"

#include <fmt/format.h>

#include "conic/scaling.hpp"

namespace certicone::test {

namespace {

using conic::Cone;
using conic::ConicProgram;
using Ids = std::vector<std::string>;

// ---- one kind of mutant a function: each fault is applied to the right result ----------------------------------------

Mutant selector(std::string name, Ids ids, std::function<void(const Network&, const LocalState&, Multipliers&)> fault) {
    return {"selector: " + name, std::move(ids), [fault](const Network&, verify::Subject& subject) {
                subject.canonical_selector = [fault](const Network& network, const LocalState& state) {
                    Multipliers xi = canonical_selector(network, state);
                    fault(network, state, xi);
                    return xi;
                };
            }};
}

Mutant slope(std::string name, Ids ids, std::function<void(const Network&, const Multipliers&, Vector&)> fault) {
    return {"readout: " + name, std::move(ids), [fault](const Network&, verify::Subject& subject) {
                subject.readout = [fault](const Network& network, const Multipliers& xi) {
                    Vector result = readout(network, xi);
                    fault(network, xi, result);
                    return result;
                };
            }};
}

Mutant dual_value(std::string name, Ids ids, std::function<double(const Network&, const Multipliers&)> excess) {
    return {"psi: " + name, std::move(ids), [excess](const Network&, verify::Subject& subject) {
                subject.psi = [excess](const Network& network, const Vector& x, const Multipliers& xi) {
                    return psi(network, x, xi) + excess(network, xi);
                };
            }};
}

using Derivative = std::function<double(const Network&, const LocalState&, const Vector&)>;
/// Wrong in both places where the sweep is used.
Mutant derivative(std::string name, Ids ids, Derivative wrong) {
    return {"directional: " + name, std::move(ids), [wrong](const Network&, verify::Subject& subject) {
                subject.directional_derivative = wrong;
                subject.max_readout = [wrong](const Network& network, const LocalState& state, const Vector& d) {
                    MaxReadout result = max_readout(network, state, d);
                    result.value = wrong(network, state, d);
                    return result;
                };
            }};
}

Mutant maximiser(std::string name, Ids ids,
                 std::function<void(const Network&, const LocalState&, const Vector&, Multipliers&)> fault) {
    return {"max-readout: " + name, std::move(ids), [fault](const Network&, verify::Subject& subject) {
                subject.max_readout = [fault](const Network& network, const LocalState& state, const Vector& d) {
                    MaxReadout result = max_readout(network, state, d);
                    fault(network, state, d, result.xi);
                    return result;
                };
            }};
}

Mutant curvature(std::string name, Ids ids, std::function<void(const Network&, const LocalState&, Matrix&)> fault) {
    return {"hessian: " + name, std::move(ids), [fault](const Network& network, verify::Subject& subject) {
                subject.hessian = [fault, &network](const Curvature& right, const LocalState& state) {
                    Matrix result = right.hessian(state);
                    fault(network, state, result);
                    return result;
                };
            }};
}

Mutant radius(std::string name, Ids ids, std::function<void(const Network&, const LocalState&, BranchRadius&)> fault) {
    return {"branch radius: " + name, std::move(ids), [fault](const Network& network, verify::Subject& subject) {
                subject.branch_radius = [fault, &network](const Curvature& right, const LocalState& state) {
                    BranchRadius result = right.branch_radius(state);
                    fault(network, state, result);
                    return result;
                };
            }};
}

Mutant branch(std::string name, Ids ids,
              std::function<void(const Network&, const Multipliers&, AffineSupport&)> fault) {
    return {"relu branch: " + name, std::move(ids), [fault](const Network&, verify::Subject& subject) {
                subject.relu_branch = [fault](const Network& network, const Multipliers& xi) {
                    AffineSupport result = relu_branch(network, xi);
                    fault(network, xi, result);
                    return result;
                };
            }};
}

Mutant forward_pass(std::string name, Ids ids, std::function<LocalState(const Network&, const Vector&)> wrong) {
    return {"evaluate: " + name, std::move(ids), [wrong](const Network&, verify::Subject& subject) {
                subject.evaluate = [wrong](const Network& network, const Vector& x, double) {
                    return wrong(network, x);
                };
            }};
}

using ProgramFault = std::function<void(const Network&, ConicProgram&)>;
Mutant program(std::string_view kind, std::function<void(ConicProgram&)> verify::Subject::*member, std::string name,
               Ids ids, ProgramFault fault) {
    return {fmt::format("{}: {}", kind, name), std::move(ids),
            [fault, member](const Network& network, verify::Subject& subject) {
                subject.*member = [fault, &network](ConicProgram& changed) { fault(network, changed); };
            }};
}
Mutant value_program(std::string name, Ids ids, ProgramFault fault) {
    return program("value function", &verify::Subject::value_function_program, std::move(name), std::move(ids), fault);
}
Mutant dual_program(std::string name, Ids ids, ProgramFault fault) {
    return program("dual program", &verify::Subject::dual_program, std::move(name), std::move(ids), fault);
}
Mutant set_program(std::string name, Ids ids, ProgramFault fault) {
    return program("optimal set", &verify::Subject::optimal_set_program, std::move(name), std::move(ids), fault);
}

// ---- wrong solvers ---------------------------------------------------------------------------------------------------

using solvers::Solution;
/// What a wrong solver does to its right answer; `earlier` has the right answers of the same workspace before.
using Tamper = std::function<void(const ConicProgram&, const std::vector<Solution>& earlier, Solution&)>;

class WrongWorkspace : public solvers::Workspace {
  public:
    WrongWorkspace(ConicProgram program, std::unique_ptr<Workspace> right, Tamper tamper)
        : Workspace(std::move(program)), right_(std::move(right)), tamper_(std::move(tamper)) {}

  private:
    Solution run(bool warm, bool b_changed, bool c_changed) override {
        if (b_changed) right_->update_b(program().b);
        if (c_changed) right_->update_c(program().c);
        Solution answer = right_->solve(warm);
        answer.claimed.status = solvers::Status::Solved;
        const Solution right = answer;
        tamper_(program(), earlier_, answer);
        earlier_.push_back(right);
        return answer;
    }

    std::unique_ptr<Workspace> right_;
    Tamper tamper_;
    std::vector<Solution> earlier_;
};

class WrongSolver : public solvers::Backend {
  public:
    explicit WrongSolver(Tamper tamper, double eps) : tamper_(std::move(tamper)), eps_(eps) {}
    std::string_view name() const override { return kSolver; }
    std::string version() const override { return right_.version(); }
    solvers::Capabilities capabilities() const override { return right_.capabilities(); }
    std::span<const solvers::Option> options() const override { return right_.options(); }
    solvers::Readiness available() const override { return right_.available(); }

  private:
    std::unique_ptr<solvers::Workspace> setup(ConicProgram program, const solvers::Settings& settings) const override {
        solvers::Settings own = settings;
        if (eps_ > 0.0) own.eps_abs = own.eps_rel = eps_;
        auto right = right_.open(program, own);
        return std::make_unique<WrongWorkspace>(std::move(program), std::move(right), tamper_);
    }

    const solvers::Backend& right_ = solvers::backend(kSolver);
    Tamper tamper_;
    double eps_;
};

/// `eps` > 0: what the solver is secretly asked for.
Mutant solver(std::string name, Ids ids, Tamper tamper, double eps = 0.0) {
    return {"solver: " + name, std::move(ids), {}, std::make_shared<WrongSolver>(std::move(tamper), eps)};
}

// ---- what several faults share ---------------------------------------------------------------------------------------

/// The canonical recursion with another mask.
std::vector<Vector> masked(const Network& network, const LocalState& state, std::function<bool(int)> mask) {
    return select_backward(
        network, [&](std::size_t l, Index i, double ub) { return mask(state.pattern.sign[l](i)) ? ub : 0.0; });
}

Vector positive(const LocalState& state, std::size_t l) { return (state.pattern.sign[l].array() > 0).cast<double>(); }

/// The sweep of Theorem 2 with another rule at a = 0, the quadratic terms times `factor(α)`, and λ‖Ad‖ times `at_zero`.
double sweep(
    const Network& network, const LocalState& state, const Vector& d, double (*kink)(double),
    double (*factor)(double) = [](double) { return 1.0; }, double at_zero = 1.0) {
    Vector z;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        Vector a = network.layers[l].W * d;
        if (l > 0) a += network.layers[l].U * z;
        z = a;
        for (Index i = 0; i < a.size(); ++i)
            if (const int sign = state.pattern.sign[l](i); sign <= 0) z(i) = sign < 0 ? 0.0 : kink(a(i));
    }
    double value = network.c.dot(z) + network.v.dot(d);
    for (std::size_t h = 0; h < network.quadratic.size(); ++h) {
        const Quadratic& module = network.quadratic[h];
        value += factor(module.alpha) * module.alpha * state.trace.q[h].dot(module.B * d);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const Vector u = network.conic[g].A * d;
        value += network.conic[g].lambda * (state.pattern.conic_zero[g]
                                                ? at_zero * u.norm()
                                                : state.trace.u[g].dot(u) / state.conic_norm(static_cast<Index>(g)));
    }
    return value;
}
constexpr auto ramp = [](double a) { return std::max(a, 0.0); };

/// λ/‖u‖ (AᵀA − β nnᵀ) with n = Aᵀû, summed over the conic modules; `weight(λ, ‖u‖)` stands for λ/‖u‖.
Matrix conic_curvature(const Network& network, const LocalState& state, double (*weight)(double, double), double beta) {
    Matrix sum = Matrix::Zero(network.input_dim, network.input_dim);
    for (std::size_t g = 0; g < network.conic.size(); ++g) {
        const auto& [lambda, A, d] = network.conic[g];
        if (lambda == 0.0) continue;
        const double size = state.conic_norm(static_cast<Index>(g));
        const Vector normal = A.transpose() * state.trace.u[g] / size;
        sum += weight(lambda, size) * (A.transpose() * A - beta * normal * normal.transpose());
    }
    return sum;
}
constexpr auto right_weight = [](double lambda, double size) { return lambda / size; };

/// The ReLU radius by the first `depth` layers, with or without the masks in the gradients.
void relu_radius(const Network& network, const LocalState& state, std::size_t depth, bool with_mask,
                 BranchRadius& result) {
    result.relu = std::numeric_limits<double>::infinity();
    result.layer = result.unit = -1;
    Matrix jacobian;
    for (std::size_t l = 0; l < std::min(depth, network.layers.size()); ++l) {
        Matrix next = network.layers[l].W;
        if (l > 0 && with_mask) jacobian = (positive(state, l - 1).asDiagonal() * jacobian).eval();
        if (l > 0) next += network.layers[l].U * jacobian;
        jacobian = next;
        for (Index i = 0; i < jacobian.rows(); ++i) {
            const double a = state.trace.a[l](i), length = jacobian.row(i).norm();
            if (length == 0.0 || !(std::abs(a) / length < result.relu)) continue;
            result.relu = std::abs(a) / length;
            result.layer = static_cast<Index>(l);
            result.unit = i;
            result.boundary = state.x - jacobian.row(i).transpose() * (a / length / length);
        }
    }
}

void stretch(const LocalState& state, double factor, BranchRadius& result) {
    result.relu *= factor;
    result.conic *= factor;
    if (result.layer >= 0) result.boundary = state.x + factor * (result.boundary - state.x);
}

/// The right state of a changed network.
LocalState state_of(Network changed, const Vector& x) { return evaluate(changed, x); }

LocalState with_signs(LocalState state, std::int8_t instead_of_zero) {
    for (Pattern::Signs& signs : state.pattern.sign)
        signs = (signs.array() == 0).select(instead_of_zero, signs);
    return state;
}

// Parts of a program by name. Where a program has no such part the fault leaves it as it is: another network will show.

using BlockFault = std::function<void(ConicProgram&, conic::Block&)>;
ProgramFault on_block(std::string name, BlockFault fault) {
    return [=](const Network&, ConicProgram& program) {
        for (conic::Block& block : program.blocks)
            if (block.name == name) fault(program, block);
    };
}
/// "bound[2]" of a network with three layers, for ("bound", "").
ProgramFault on_last_block(std::string_view name, std::string_view part, BlockFault fault) {
    return [=](const Network& network, ConicProgram& program) {
        on_block(fmt::format("{}[{}]{}", name, network.layers.size() - 1, part), fault)(network, program);
    };
}
/// Every block of one kind of D*(x): ".fixed", ".free" or "conic[".
ProgramFault on_blocks_like(std::string_view part, BlockFault fault) {
    return [=](const Network&, ConicProgram& program) {
        for (conic::Block& block : program.blocks)
            if (block.name.find(part) != std::string::npos) fault(program, block);
    };
}
ProgramFault on_columns(std::string_view name, std::function<void(ConicProgram&, const conic::Columns&)> fault) {
    return [=](const Network&, ConicProgram& program) {
        for (const conic::Columns& columns : program.variables)
            if (columns.name == name) fault(program, columns);
    };
}
/// sign · Mᵀ for the square matrix that stands in these rows and columns.
void put_transpose(ConicProgram& program, const std::string& rows, const std::string& columns, double sign,
                   const Matrix& M) {
    if (M.rows() != M.cols()) return;
    on_columns(columns, [&](ConicProgram& changed, const conic::Columns& c) {
        for (Index j = 0; j < M.cols(); ++j)
            for (Index i = 0; i < M.rows(); ++i)
                changed.A.coeffRef(changed.block(rows).begin + i, c.begin + j) = sign * M(j, i);
    })({}, program);
}
/// change(row, column, entry) for every entry of A.
void in_entries(ConicProgram& program, auto&& change) {
    for (Index j = 0; j < program.A.outerSize(); ++j)
        for (conic::SparseMatrix::InnerIterator entry(program.A, j); entry; ++entry)
            change(Index{entry.row()}, j, entry.valueRef());
}
void scale_rows(ConicProgram& program, Index begin, Index count, double factor) {
    in_entries(program, [&](Index row, Index, double& entry) {
        if (row >= begin && row < begin + count) entry *= factor;
    });
}
void swap_rows(ConicProgram& program, Index first, Index second) {
    Eigen::PermutationMatrix<Eigen::Dynamic> swap(program.rows());
    swap.setIdentity();
    swap.applyTranspositionOnTheLeft(first, second);
    program.A = swap * program.A;
    std::swap(program.b(first), program.b(second));
}

/// Rows of ν (value-function program) in which two units of a layer differ; the first pair found.
void with_two_units(const ConicProgram& program, const Vector& y, auto&& change) {
    for (const conic::Block& block : program.blocks) {
        if (!block.name.starts_with("relu[")) continue;
        Index low = 0, high = 0;
        const auto nu = y.segment(block.begin, block.size);
        if (nu.maxCoeff(&high) - nu.minCoeff(&low) > 0.1) return change(block, low, high);
    }
}

/// Σ term(k) over the blocks of ν, p or r.
double sum_over(const std::vector<Vector>& blocks, auto&& term) {
    double sum = 0.0;
    for (std::size_t k = 0; k < blocks.size(); ++k)
        sum += term(k);
    return sum;
}

// ---- the mutants -----------------------------------------------------------------------------------------------------

const std::string kDuality = "theorem1.strong_duality", kSupport = "theorem1.support", kSlope = "theorem1.slope",
                  kComplementarity = "lemma1.complementarity", kMembership = "proposition1.membership",
                  kFactorisation = "proposition1.factorisation", kSources = "proposition1.nonuniqueness_sources",
                  kMinNorm = "corollary1.min_norm", kSubgradient = "theorem2.subgradient",
                  kDirectional = "theorem2.directional", kSubdifferential = "theorem2.subdifferential",
                  kDecomposition = "theorem2.decomposition", kUniqueness = "proposition2.uniqueness",
                  kGradient = "proposition2.gradient", kClosedGraph = "proposition3.closed_graph",
                  kBranch = "theorem3.branch", kBranchDecomposition = "theorem3.decomposition",
                  kBranchGradient = "theorem3.gradient", kHessian = "theorem3.hessian", kPsd = "theorem3.psd";

std::vector<Mutant> wrong_selectors() {
    using N = const Network&;
    using S = const LocalState&;
    using X = Multipliers&;
    return {
        selector("mask >= for >", {kMinNorm},
                 [](N n, S s, X xi) { xi.nu = masked(n, s, [](int sign) { return sign >= 0; }); }),
        selector("mask inverted", {kDuality, kComplementarity, kGradient, kClosedGraph},
                 [](N n, S s, X xi) { xi.nu = masked(n, s, [](int sign) { return sign <= 0; }); }),
        selector("mask all ones", {kDuality, kComplementarity},
                 [](N n, S s, X xi) { xi.nu = masked(n, s, [](int) { return true; }); }),
        selector("U not transposed (square layers)", {kDuality, kComplementarity},
                 [](N n, S s, X xi) {
                     for (std::size_t l = n.layers.size() - 1; l-- > 0;)
                         if (n.layers[l + 1].U.rows() == n.layers[l + 1].U.cols())
                             xi.nu[l] = positive(s, l).cwiseProduct(n.layers[l + 1].U * xi.nu[l + 1]);
                 }),
        selector("a layer skipped (square layers)", {kDuality, kComplementarity},
                 [](N n, S s, X xi) {
                     if (n.layers.size() > 1 && n.layers[1].U.rows() == n.layers[1].U.cols())
                         xi.nu[0] = positive(s, 0).cwiseProduct(xi.nu[1]);
                 }),
        selector("c forgotten", {kDuality, kComplementarity, kSupport, kFactorisation},
                 [](N n, S s, X xi) {
                     Network changed = n;
                     changed.c.setOnes();
                     xi.nu = canonical_selector(changed, s).nu;
                 }),
        selector("Uᵀ applied to ub, not to nu", {kDuality, kComplementarity},
                 [](N n, S s, X xi) {
                     const std::vector<Vector> box = conic::dual_box(n);
                     for (std::size_t l = 0; l < box.size(); ++l)
                         xi.nu[l] = positive(s, l).cwiseProduct(box[l]);
                 }),
        selector("one unit off by 1e-6", {kDuality, kComplementarity, kGradient},
                 [](N, S, X xi) {
                     Index unit = 0;
                     if (xi.nu[0].maxCoeff(&unit) > 0.0) xi.nu[0](unit) *= 1.0 + 1e-6;
                 }),
        selector("alpha dropped", {kDuality, kSources}, [](N, S s, X xi) { xi.p = s.trace.q; }),
        selector("alpha squared", {kDuality, kSources},
                 [](N n, S, X xi) {
                     for (std::size_t h = 0; h < xi.p.size(); ++h)
                         xi.p[h] *= n.quadratic[h].alpha;
                 }),
        selector("wrong sign of p", {kDuality, kFactorisation, kSources, kSubgradient},
                 [](N, S, X xi) {
                     for (Vector& p : xi.p)
                         p = -p;
                 }),
        selector("lambda dropped", {kDuality, kSources},
                 [](N n, S, X xi) {
                     for (std::size_t g = 0; g < xi.r.size(); ++g)
                         if (n.conic[g].lambda > 0.0) xi.r[g] /= n.conic[g].lambda;
                 }),
        selector("lambda squared", {kDuality, kSources, kSupport},
                 [](N n, S, X xi) {
                     for (std::size_t g = 0; g < xi.r.size(); ++g)
                         xi.r[g] *= n.conic[g].lambda;
                 }),
        selector("wrong sign of r", {kDuality, kSources, kSubgradient},
                 [](N, S, X xi) {
                     for (Vector& r : xi.r)
                         r = -r;
                 }),
        selector("û not normalised", {kDuality, kSources},
                 [](N n, S s, X xi) {
                     for (std::size_t g = 0; g < xi.r.size(); ++g)
                         xi.r[g] = n.conic[g].lambda * s.trace.u[g];
                 }),
        selector("r on its sphere at u = 0", {kMinNorm},
                 [](N n, S s, X xi) {
                     for (const Index g : s.pattern.degenerate_modules())
                         xi.r[static_cast<std::size_t>(g)](0) = n.conic[static_cast<std::size_t>(g)].lambda;
                 }),
    };
}

std::vector<Mutant> wrong_readouts() {
    using N = const Network&;
    using X = const Multipliers&;
    const Ids all = {kSlope, kGradient, kSubgradient, kSubdifferential};
    return {
        slope("v forgotten", all, [](N n, X, Vector& g) { g -= n.v; }),
        slope("W of the first layer forgotten", all,
              [](N n, X xi, Vector& g) { g -= n.layers[0].W.transpose() * xi.nu[0]; }),
        slope("W of the last layer forgotten", all,
              [](N n, X xi, Vector& g) { g -= n.layers.back().W.transpose() * xi.nu.back(); }),
        slope("sign of Bᵀp", all,
              [](N n, X xi, Vector& g) {
                  for (std::size_t h = 0; h < xi.p.size(); ++h)
                      g -= 2.0 * n.quadratic[h].B.transpose() * xi.p[h];
              }),
        slope("conic terms forgotten", all,
              [](N n, X xi, Vector& g) {
                  for (std::size_t k = 0; k < xi.r.size(); ++k)
                      g -= n.conic[k].A.transpose() * xi.r[k];
              }),
        slope("last conic module forgotten", all,
              [](N n, X xi, Vector& g) {
                  if (!xi.r.empty()) g -= n.conic.back().A.transpose() * xi.r.back();
              }),
        slope("A for Aᵀ (square modules)", all,
              [](N n, X xi, Vector& g) {
                  for (std::size_t k = 0; k < xi.r.size(); ++k)
                      if (const Matrix& A = n.conic[k].A; A.rows() == A.cols()) g += (A - A.transpose()) * xi.r[k];
              }),
        dual_value("1/2 forgotten in |p|²/2α", {kDuality, kFactorisation},
                   [](N n, X xi) {
                       return -sum_over(
                           xi.p, [&](std::size_t h) { return 0.5 * xi.p[h].squaredNorm() / n.quadratic[h].alpha; });
                   }),
        dual_value("α dropped in |p|²/2α", {kDuality, kFactorisation, kSources},
                   [](N n, X xi) {
                       return sum_over(xi.p, [&](std::size_t h) {
                           return 0.5 * xi.p[h].squaredNorm() * (1.0 / n.quadratic[h].alpha - 1.0);
                       });
                   }),
        dual_value("|p|²/2α forgotten", {kDuality, kFactorisation, kSupport},
                   [](N n, X xi) {
                       return sum_over(
                           xi.p, [&](std::size_t h) { return 0.5 * xi.p[h].squaredNorm() / n.quadratic[h].alpha; });
                   }),
        dual_value("b0 forgotten", {kDuality, kFactorisation, kSupport}, [](N n, X) { return -n.b0; }),
        dual_value("d forgotten", {kDuality, kFactorisation},
                   [](N n, X xi) { return -sum_over(xi.r, [&](std::size_t g) { return xi.r[g].dot(n.conic[g].d); }); }),
        dual_value(
            "e forgotten", {kDuality, kFactorisation},
            [](N n, X xi) { return -sum_over(xi.p, [&](std::size_t h) { return xi.p[h].dot(n.quadratic[h].e); }); }),
        dual_value(
            "νᵀb forgotten", {kDuality, kFactorisation},
            [](N n, X xi) { return -sum_over(xi.nu, [&](std::size_t l) { return xi.nu[l].dot(n.layers[l].b); }); }),
    };
}

std::vector<Mutant> wrong_derivatives() {
    using N = const Network&;
    using S = const LocalState&;
    using D = const Vector&;
    const Ids all = {kDirectional, kSubdifferential, kDecomposition};
    const auto one = [](double) { return 1.0; };
    return {
        derivative("conic term at u = 0 dropped", all, [one](N n, S s, D d) { return sweep(n, s, d, ramp, one, 0.0); }),
        derivative("0 for max(ȧ, 0)", all, [](N n, S s, D d) { return sweep(n, s, d, [](double) { return 0.0; }); }),
        derivative("ȧ for max(ȧ, 0)", all, [](N n, S s, D d) { return sweep(n, s, d, [](double a) { return a; }); }),
        derivative("|ȧ| for max(ȧ, 0)", all,
                   [](N n, S s, D d) { return sweep(n, s, d, [](double a) { return std::abs(a); }); }),
        derivative("alpha dropped", all,
                   [](N n, S s, D d) { return sweep(n, s, d, ramp, [](double alpha) { return 1.0 / alpha; }); }),
        derivative("alpha halved", all, [](N n, S s, D d) { return sweep(n, s, d, ramp, [](double) { return 0.5; }); }),
        maximiser("canonical selector for the maximiser", {kSubdifferential},
                  [](N n, S s, D, Multipliers& xi) { xi = canonical_selector(n, s); }),
        maximiser("r not normalised", {kSubdifferential},
                  [](N n, S s, D d, Multipliers& xi) {
                      for (const Index g : s.pattern.degenerate_modules())
                          xi.r[static_cast<std::size_t>(g)] = n.conic[static_cast<std::size_t>(g)].lambda *
                                                              (n.conic[static_cast<std::size_t>(g)].A * d);
                  }),
        maximiser("mask of the opposite direction", {kSubdifferential},
                  [](N n, S s, D d, Multipliers& xi) { xi.nu = max_readout(n, s, -d).xi.nu; }),
    };
}

std::vector<Mutant> wrong_curvatures() {
    using N = const Network&;
    using S = const LocalState&;
    using H = Matrix&;
    return {
        curvature("sign of the projector", {kHessian},
                  [](N n, S s, H h) {
                      h += conic_curvature(n, s, right_weight, -1.0) - conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("projector forgotten", {kHessian},
                  [](N n, S s, H h) {
                      h += conic_curvature(n, s, right_weight, 0.0) - conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("projector twice", {kHessian, kPsd},
                  [](N n, S s, H h) {
                      h += conic_curvature(n, s, right_weight, 2.0) - conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("1/|u| forgotten", {kHessian},
                  [](N n, S s, H h) {
                      h += conic_curvature(
                               n, s, [](double lambda, double) { return lambda; }, 1.0) -
                           conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("1/|u| squared", {kHessian},
                  [](N n, S s, H h) {
                      h += conic_curvature(
                               n, s, [](double lambda, double u) { return lambda / u / u; }, 1.0) -
                           conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("lambda dropped", {kHessian},
                  [](N n, S s, H h) {
                      h += conic_curvature(
                               n, s, [](double, double u) { return 1.0 / u; }, 1.0) -
                           conic_curvature(n, s, right_weight, 1.0);
                  }),
        curvature("alpha dropped", {kHessian},
                  [](N n, S, H h) {
                      for (const Quadratic& module : n.quadratic)
                          h += (1.0 - module.alpha) * module.B.transpose() * module.B;
                  }),
        curvature("BBᵀ for BᵀB (square modules)", {kHessian},
                  [](N n, S, H h) {
                      for (const auto& [alpha, B, e] : n.quadratic)
                          if (B.rows() == B.cols()) h += alpha * (B * B.transpose() - B.transpose() * B);
                  }),
        curvature("negated", {kHessian, kPsd}, [](N, S, H h) { h = -h; }),
        curvature("not symmetric", {kHessian}, [](N, S, H h) { h = Matrix(h.triangularView<Eigen::Upper>()); }),
        radius("doubled", {kBranch}, [](N, S s, BranchRadius& r) { stretch(s, 2.0, r); }),
        radius("halved", {kBranch}, [](N, S s, BranchRadius& r) { stretch(s, 0.5, r); }),
        radius("2 % too large", {kBranch}, [](N, S s, BranchRadius& r) { stretch(s, 1.02, r); }),
        radius("first layer only", {kBranch}, [](N n, S s, BranchRadius& r) { relu_radius(n, s, 1, true, r); }),
        radius("gradients without the mask", {kBranch},
               [](N n, S s, BranchRadius& r) { relu_radius(n, s, n.layers.size(), false, r); }),
        branch("b0 forgotten", {kBranchDecomposition},
               [](N n, const Multipliers&, AffineSupport& a) { a.offset -= n.b0; }),
        branch("νᵀb forgotten", {kBranchDecomposition},
               [](N n, const Multipliers&, AffineSupport& a) { a.offset = n.b0; }),
        branch("v forgotten", {kBranchDecomposition, kBranchGradient},
               [](N n, const Multipliers&, AffineSupport& a) { a.slope -= n.v; }),
        branch("slope of the wrong mask", {kBranchDecomposition, kBranchGradient},
               [](N n, const Multipliers&, AffineSupport& a) {
                   Multipliers xi = zero_multipliers(n);
                   xi.nu = conic::dual_box(n);
                   a.slope = relu_branch(n, xi).slope;
               }),
    };
}

std::vector<Mutant> wrong_states() {
    using N = const Network&;
    using X = const Vector&;
    return {
        forward_pass("bias forgotten", {kDuality},
                     [](N n, X x) {
                         Network changed = n;
                         for (Layer& layer : changed.layers)
                             layer.b.setZero();
                         return state_of(changed, x);
                     }),
        forward_pass("last layer without ReLU", {kDuality, kComplementarity},
                     [](N n, X x) {
                         LocalState state = evaluate(n, x);
                         state.trace.z.back() = state.trace.a.back();
                         state.value = value(n, x, state.trace);
                         return state;
                     }),
        forward_pass("one unit's sign flipped", {kDuality, kMembership},
                     [](N n, X x) {
                         LocalState state = evaluate(n, x);
                         state.trace.a[0](0) = -state.trace.a[0](0);
                         state.trace.z[0](0) = std::max(state.trace.a[0](0), 0.0);
                         state.pattern.sign[0](0) = static_cast<std::int8_t>(-state.pattern.sign[0](0));
                         return state;
                     }),
        forward_pass("e forgotten in q", {kDuality, kMembership},
                     [](N n, X x) {
                         LocalState state = evaluate(n, x);
                         for (std::size_t h = 0; h < n.quadratic.size(); ++h)
                             state.trace.q[h] -= n.quadratic[h].e;
                         return state;
                     }),
        forward_pass("d forgotten in u", {kMembership},
                     [](N n, X x) {
                         Network changed = n;
                         for (Conic& module : changed.conic)
                             module.d.setZero();
                         LocalState state = state_of(changed, x);
                         state.value = evaluate(n, x).value;
                         return state;
                     }),
        forward_pass("zero counted as negative", {kBranch}, [](N n, X x) { return with_signs(evaluate(n, x), -1); }),
        forward_pass("zero counted as positive", {kBranch}, [](N n, X x) { return with_signs(evaluate(n, x), 1); }),
        forward_pass("vanishing residuals never reported", {kDuality},
                     [](N n, X x) {
                         LocalState state = evaluate(n, x);
                         state.pattern.conic_zero.assign(state.pattern.conic_zero.size(), false);
                         return state;
                     }),
        forward_pass("a silent tolerance of 1e-3", {kSources}, [](N n, X x) { return evaluate(n, x, 1e-3); }),
        forward_pass("value off by 1e-9 relative", {kDuality},
                     [](N n, X x) {
                         LocalState state = evaluate(n, x);
                         state.value *= 1.0 + 1e-9;
                         return state;
                     }),
    };
}

std::vector<Mutant> wrong_value_programs() {
    using N = const Network&;
    using P = ConicProgram&;
    using Rows = conic::Block&;
    using Cols = const conic::Columns&;
    const Ids ids = {kDuality};
    return {
        value_program("sign of a row's A", ids,
                      on_block("relu[0]", [](P p, Rows r) { scale_rows(p, r.begin, 1, -1.0); })),
        value_program("sign of a row's b", ids, on_block("relu[0]", [](P p, Rows r) { p.b(r.begin) *= -1.0; })),
        value_program("sign of U", ids,
                      [](N, P p) { in_entries(p, [](Index, Index, double& entry) { entry = -std::abs(entry); }); }),
        value_program("Uᵀ for U (square layers)", ids,
                      [](N n, P p) {
                          for (std::size_t l = 1; l < n.layers.size(); ++l)
                              put_transpose(p, fmt::format("relu[{}]", l), fmt::format("z[{}]", l - 1), 1.0,
                                            n.layers[l].U);
                      }),
        value_program("a bound relaxed", ids,
                      on_last_block("bound", "", [](P p, Rows r) { p.b.segment(r.begin, r.size).setOnes(); })),
        value_program("a bound missing", ids,
                      on_last_block("bound", "", [](P p, Rows r) { scale_rows(p, r.begin, r.size, 0.0); })),
        value_program("t and ω swapped", ids,
                      on_block("conic[0].cone", [](P p, Rows r) { swap_rows(p, r.begin, r.begin + 1); })),
        value_program("s and η swapped", ids,
                      on_block("quadratic[0].cone", [](P p, Rows r) { swap_rows(p, r.begin, r.begin + 2); })),
        value_program("√2 for the 1 of (s, 1, η)", ids,
                      on_block("quadratic[0].cone", [](P p, Rows r) { p.b(r.begin + 1) = std::sqrt(2.0); })),
        value_program("1/2 for the 1 of (s, 1, η)", ids,
                      on_block("quadratic[0].cone", [](P p, Rows r) { p.b(r.begin + 1) = 0.5; })),
        value_program(
            "√2 on η", ids,
            on_block("quadratic[0].cone", [](P p, Rows r) { scale_rows(p, r.begin + 2, r.size - 2, std::sqrt(2.0)); })),
        value_program("rotated cone taken for a second-order cone", ids,
                      on_block("quadratic[0].cone", [](P, Rows r) { r.cone = Cone::SecondOrder; })),
        // (With the sign of A in its place the module's unknown is −η: the same value and the same p.)
        value_program("sign of a quadratic link's b", ids,
                      on_block("quadratic[0].link", [](P p, Rows r) { p.b.segment(r.begin, r.size) *= -1.0; })),
        value_program("sign of a conic link's b", ids,
                      on_block("conic[0].link", [](P p, Rows r) { p.b.segment(r.begin, r.size) *= -1.0; })),
        value_program("link twice", ids,
                      on_block("conic[0].link", [](P p, Rows r) { scale_rows(p, r.begin, r.size, 2.0); })),
        value_program("alpha dropped in the cost", ids, on_columns("s[0]", [](P p, Cols c) { p.c(c.begin) = 1.0; })),
        value_program("lambda dropped in the cost", ids, on_columns("t[0]", [](P p, Cols c) { p.c(c.begin) = 1.0; })),
        value_program("c of one unit off by 1e-6", ids, [](N n, P p) { p.c(total_units(n) - 1) *= 1.0 + 1e-6; }),
        value_program("vᵀx + b0 forgotten", ids, [](N, P p) { p.c0 = 0.0; }),
    };
}

std::vector<Mutant> wrong_dual_programs() {
    using N = const Network&;
    using P = ConicProgram&;
    using Rows = conic::Block&;
    using Cols = const conic::Columns&;
    const Ids ids = {kDuality};
    return {
        dual_program("upper rows without Uᵀ", ids,
                     on_block("nu[0].upper",
                              [](P p, Rows r) {
                                  in_entries(p, [&](Index row, Index, double& entry) {
                                      if (row >= r.begin && row < r.begin + r.size) entry = std::max(entry, 0.0);
                                  });
                              })),
        dual_program("U for Uᵀ (square layers)", ids,
                     [](N n, P p) {
                         for (std::size_t l = 1; l < n.layers.size(); ++l)
                             put_transpose(p, fmt::format("nu[{}].upper", l - 1), fmt::format("nu[{}]", l), -1.0,
                                           n.layers[l].U.transpose());
                     }),
        dual_program("lower rows relaxed", ids,
                     on_last_block("nu", ".lower", [](P p, Rows r) { p.b.segment(r.begin, r.size).setOnes(); })),
        dual_program("c forgotten", ids,
                     on_last_block("nu", ".upper", [](P p, Rows r) { p.b.segment(r.begin, r.size).setOnes(); })),
        dual_program("ball of radius 1, not lambda", ids,
                     on_block("conic[0]", [](P p, Rows r) { p.b(r.begin) = 1.0; })),
        dual_program("1/2 for the 1 of (w, 1, p)", ids,
                     on_block("quadratic[0]", [](P p, Rows r) { p.b(r.begin + 1) = 0.5; })),
        dual_program("alpha dropped in the cost", ids, on_columns("w[0]", [](P p, Cols c) { p.c(c.begin) = 1.0; })),
        dual_program("cost sign of a unit", ids, on_columns("nu[0]", [](P p, Cols c) { p.c(c.begin) *= -1.0; })),
        dual_program("cost sign of p", ids,
                     on_columns("p[0]", [](P p, Cols c) { p.c.segment(c.begin, c.size) *= -1.0; })),
        dual_program("cost sign of r", ids,
                     on_columns("r[0]", [](P p, Cols c) { p.c.segment(c.begin, c.size) *= -1.0; })),
        dual_program("sign of vᵀx + b0", ids, [](N, P p) { p.c0 = -p.c0; }),
    };
}

std::vector<Mutant> wrong_set_programs() {
    using N = const Network&;
    using P = ConicProgram&;
    using Rows = conic::Block&;
    return {
        set_program("fixed rows shifted", {kDirectional, kMinNorm, kUniqueness},
                    on_blocks_like(".fixed", [](P p, Rows r) { p.b.segment(r.begin, r.size).array() += 0.5; })),
        set_program("fixed rows missing", {kDirectional},
                    on_blocks_like(".fixed", [](P p, Rows r) { scale_rows(p, r.begin, r.size, 0.0); })),
        set_program("equations as inequalities", {kUniqueness, kDirectional},
                    on_blocks_like(".fixed", [](P, Rows r) { r.cone = Cone::Nonnegative; })),
        set_program("sign of Uᵀν", {kDirectional},
                    [](N, P p) {
                        in_entries(p, [](Index, Index, double& entry) {
                            if (entry < 0.0 && entry != -1.0) entry = -entry;  // −1 is that of ν ≥ 0
                        });
                    }),
        set_program("upper bounds missing", {kDirectional},
                    on_blocks_like(".free",
                                   [](P p, Rows r) {
                                       for (Index i = 1; i < r.size; i += 2)
                                           scale_rows(p, r.begin + i, 1, 0.0);
                                   })),
        set_program("upper bounds relaxed", {kDirectional},
                    on_blocks_like(".free",
                                   [](P p, Rows r) {
                                       for (Index i = 1; i < r.size; i += 2)
                                           p.b(r.begin + i) += 0.5;
                                   })),
        set_program("lower bounds above zero", {kMinNorm},
                    on_blocks_like(".free",
                                   [](P p, Rows r) {
                                       for (Index i = 0; i < r.size; i += 2)
                                           p.b(r.begin + i) -= 1e-3;
                                   })),
        set_program("balls of twice the radius", {kDirectional},
                    on_blocks_like("conic[", [](P p, Rows r) { p.b(r.begin) *= 2.0; })),
        set_program("balls of half the radius", {kDirectional},
                    on_blocks_like("conic[", [](P p, Rows r) { p.b(r.begin) *= 0.5; })),
        set_program("cost negated", {kDirectional}, [](N, P p) { p.c = -p.c; }),
        set_program("cost shifted down", {kDirectional, kUniqueness}, [](N, P p) { p.c.array() -= 0.1; }),
        set_program("cost shifted up", {kDirectional, kUniqueness}, [](N, P p) { p.c.array() += 0.1; }),
    };
}

std::vector<Mutant> wrong_solvers() {
    using P = const ConicProgram&;
    using Before = const std::vector<Solution>&;
    const Ids ids = {kDuality};
    return {
        solver("the previous point's multipliers", ids,
               [](P, Before before, Solution& answer) {
                   if (!before.empty()) answer.y = before.back().y;
               }),
        solver("the first point's whole answer", ids,
               [](P, Before before, Solution& answer) {
                   if (!before.empty()) answer = before.front();
               }),
        solver("one unit's ν off by 1e-6", ids,
               [](P p, Before, Solution& answer) {
                   with_two_units(p, answer.y, [&](const conic::Block& block, Index, Index high) {
                       answer.y(block.begin + high) *= 1.0 + 1e-6;
                   });
               }),
        solver("one unit's ν off by 1e-6, μ adapted", ids,
               [](P p, Before, Solution& answer) {
                   with_two_units(p, answer.y, [&](const conic::Block& block, Index, Index high) {
                       const double shift = 1e-6 * answer.y(block.begin + high);
                       answer.y(block.begin + high) -= shift;
                       answer.y(block.begin + block.size + high) += shift;
                   });
               }),
        solver("swaps two units", ids,
               [](P p, Before, Solution& answer) {
                   with_two_units(p, answer.y, [&](const conic::Block& block, Index low, Index high) {
                       std::swap(answer.y(block.begin + low), answer.y(block.begin + high));
                   });
               }),
        solver("swaps two units in ν and μ", ids,
               [](P p, Before, Solution& answer) {
                   with_two_units(p, answer.y, [&](const conic::Block& block, Index low, Index high) {
                       std::swap(answer.y(block.begin + low), answer.y(block.begin + high));
                       std::swap(answer.y(block.begin + block.size + low), answer.y(block.begin + block.size + high));
                   });
               }),
        solver(
            "claims 'solved' with a loose gap", ids, [](P, Before, Solution&) {}, 1e-3),
        solver("y = 0", {kDuality, kDirectional, kMinNorm, kUniqueness},
               [](P, Before, Solution& answer) { answer.y.setZero(); }),
        solver("y negated", {kDuality, kDirectional, kUniqueness},
               [](P, Before, Solution& answer) { answer.y = -answer.y; }),
        solver("x = 0", {kDuality, kMinNorm, kUniqueness}, [](P, Before, Solution& answer) { answer.x.setZero(); }),
        solver("s is not b − Ax", ids, [](P, Before, Solution& answer) { answer.s.array() += 1e-6; }),
        solver("not a number", {kDuality, kDirectional, kMinNorm, kUniqueness},
               [](P, Before, Solution& answer) { answer.y(0) = std::numeric_limits<double>::quiet_NaN(); }),
    };
}

}  // namespace

std::vector<Mutant> mutants() {
    std::vector<Mutant> all;
    for (const auto& kind :
         {wrong_selectors(), wrong_readouts(), wrong_derivatives(), wrong_curvatures(), wrong_states(),
          wrong_value_programs(), wrong_dual_programs(), wrong_set_programs(), wrong_solvers()})
        all.insert(all.end(), kind.begin(), kind.end());
    return all;
}

}  // namespace certicone::test
