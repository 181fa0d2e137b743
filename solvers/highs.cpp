// HiGHS solves  minimise cᵀx  subject to  l ≤ Ax ≤ u and bounds on x  with  c = Aᵀw + d, where a dual w of a row (and
// a reduced cost d of a column) is ≥ 0 at a lower bound and ≤ 0 at an upper one.
//
//   Zero rows              l = u = b                                      y = −w
//   Nonnegative rows       l = −∞, u = b                                  y = −w
//   those with one entry   a x_j ≤ b bounds x_j: above by b/a for a > 0,  y = −d_j / a for the row that sets the
//                          below for a < 0                                tightest bound, 0 for the others
//
// The last case makes z ≥ 0 of the ReLU program a bound instead of a row. s = b − Ax, cut off at 0 (0 in Zero rows).
#include "solvers/highs.hpp"

#include <fmt/format.h>
#include <interfaces/highs_c_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "solvers/linear_rows.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

using conic::Cone;
using conic::ConicProgram;
using conic::SparseMatrix;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastTolerance = 1e-10;  ///< HiGHS takes no smaller one

constexpr std::array<Option, 4> kOptions{{
    {"solver", "simplex, ipm (interior point, then crossover to a vertex) or choose (simplex)"},
    {"presolve", "on, off or choose: before a solve that does not start from a basis (off)"},
    {"simplex_strategy", "1: dual simplex, 4: primal simplex (1)"},
    {"simplex_scale_strategy", "0: no scaling of its own, 1: HiGHS chooses (1)"},
}};

std::string text_option(const Settings& settings, std::string_view name, std::string_view fallback,
                        std::initializer_list<std::string_view> allowed) {
    const auto found = settings.options.find(std::string(name));
    if (found == settings.options.end()) return std::string(fallback);
    if (std::find(allowed.begin(), allowed.end(), found->second) == allowed.end())
        throw InputError(fmt::format("solver 'highs' has no {} '{}'", name, found->second));
    return found->second;
}

struct Destroy {
    void operator()(void* highs) const { Highs_destroy(highs); }
};
using Highs = std::unique_ptr<void, Destroy>;

void check(HighsInt status, std::string_view what) {
    if (status == kHighsStatusError) throw InputError(fmt::format("HiGHS refused {}", what));
}

Highs create(const Settings& settings) {
    Highs highs(Highs_create());
    void* h = highs.get();
    const auto number = [&](const char* name, double value) {
        check(Highs_setDoubleOptionValue(h, name, value), name);
    };
    const auto integer = [&](const char* name, HighsInt value) {
        check(Highs_setIntOptionValue(h, name, value), name);
    };
    const auto text = [&](const char* name, const std::string& value) {
        check(Highs_setStringOptionValue(h, name, value.c_str()), name);
    };
    check(Highs_setBoolOptionValue(h, "output_flag", 0), "output_flag");
    text("parallel", "off");
    integer("threads", 1);
    // The numbers of the program stay as they are: nothing small is dropped, nothing large taken for infinite.
    number("small_matrix_value", 1e-12);
    number("large_matrix_value", 1e30);
    number("infinite_bound", 1e30);
    number("infinite_cost", 1e30);
    for (const char* name : {"primal_feasibility_tolerance", "dual_feasibility_tolerance", "ipm_optimality_tolerance"})
        number(name, std::max(settings.eps_abs, kLeastTolerance));
    if (settings.time_limit > 0.0) number("time_limit", settings.time_limit);
    if (settings.max_iterations > 0)
        for (const char* name : {"simplex_iteration_limit", "ipm_iteration_limit"})
            integer(name, static_cast<HighsInt>(
                              std::min<long>(settings.max_iterations, std::numeric_limits<HighsInt>::max())));
    text("solver", text_option(settings, "solver", "simplex", {"simplex", "ipm", "choose"}));
    text("presolve", text_option(settings, "presolve", "off", {"on", "off", "choose"}));
    text_option(settings, "simplex_strategy", "1", {"1", "4"});
    integer("simplex_strategy", static_cast<HighsInt>(number_option(settings, "simplex_strategy", 1.0)));
    text_option(settings, "simplex_scale_strategy", "1", {"0", "1"});
    integer("simplex_scale_strategy", static_cast<HighsInt>(number_option(settings, "simplex_scale_strategy", 1.0)));
    return highs;
}

/// HiGHS tells 'infeasible' from 'unbounded' by itself unless it is allowed not to (allow_unbounded_or_infeasible).
std::pair<Status, std::string> status_of(HighsInt status) {
    switch (status) {
        case kHighsModelStatusOptimal: return {Status::Solved, "optimal"};
        case kHighsModelStatusModelEmpty: return {Status::Solved, "empty"};
        case kHighsModelStatusInfeasible: return {Status::Infeasible, "infeasible"};
        case kHighsModelStatusUnbounded: return {Status::Unbounded, "unbounded"};
        case kHighsModelStatusUnboundedOrInfeasible: return {Status::Failed, "unbounded or infeasible"};
        case kHighsModelStatusTimeLimit: return {Status::TimeLimit, "time limit"};
        case kHighsModelStatusIterationLimit: return {Status::IterationLimit, "iteration limit"};
        case kHighsModelStatusInterrupt: return {Status::Interrupted, "interrupted"};
        case kHighsModelStatusUnknown: return {Status::Inaccurate, "unknown"};
        default: return {Status::Failed, fmt::format("model status {}", status)};
    }
}

/// Where each row of the program went: HiGHS's rows, or bounds of its columns.
class RowMap {
  public:
    struct Bound {
        Index row;
        Index column;
        double entry;
    };

    explicit RowMap(const ConicProgram& program) : bounds_of_(static_cast<std::size_t>(program.columns())) {
        std::vector<Index> entries(static_cast<std::size_t>(program.rows()), 0);
        std::vector<Bound> last(entries.size());
        for (Index j = 0; j < program.columns(); ++j)
            for (SparseMatrix::InnerIterator it(program.A, j); it; ++it)
                if (it.value() != 0.0) {
                    ++entries[static_cast<std::size_t>(it.row())];
                    last[static_cast<std::size_t>(it.row())] = {it.row(), j, it.value()};
                }
        for (const conic::Block& block : program.blocks)
            for (Index i = block.begin; i < block.begin + block.size; ++i) {
                const auto row = static_cast<std::size_t>(i);
                if (block.cone == Cone::Nonnegative && entries[row] == 1)
                    bounds_of_[static_cast<std::size_t>(last[row].column)].push_back(last[row]);
                else
                    rows_.push_back({i, block.cone});
            }
    }

    struct Row {
        Index row;
        Cone cone;
    };
    const std::vector<Row>& rows() const { return rows_; }

    /// The tightest lower and upper bound of a column; null where it has none.
    struct Tightest {
        const Bound *lower = nullptr, *upper = nullptr;
    };
    Tightest tightest(Index column, const Vector& b) const {
        Tightest found;
        for (const Bound& bound : bounds_of_[static_cast<std::size_t>(column)]) {
            const bool upper = bound.entry > 0.0;
            const Bound*& best = upper ? found.upper : found.lower;
            if (!best || (upper ? value(bound, b) < value(*best, b) : value(bound, b) > value(*best, b))) best = &bound;
        }
        return found;
    }
    static double value(const Bound& bound, const Vector& b) { return b(bound.row) / bound.entry; }

  private:
    std::vector<Row> rows_;
    std::vector<std::vector<Bound>> bounds_of_;  ///< by column
};

class HighsWorkspace final : public Workspace {
  public:
    HighsWorkspace(ConicProgram program_in, const Settings& settings)
        : Workspace(std::move(program_in)), map_(program()), highs_(create(settings)) {
        if (settings.eps_abs < kLeastTolerance)
            note_ = fmt::format(" (tolerance {}, the least it takes)", kLeastTolerance);
        const Index n = program().columns(), rows = static_cast<Index>(map_.rows().size());
        std::vector<int> new_row(static_cast<std::size_t>(program().rows()), -1);
        for (Index i = 0; i < rows; ++i)
            new_row[static_cast<std::size_t>(map_.rows()[static_cast<std::size_t>(i)].row)] = static_cast<int>(i);
        std::vector<HighsInt> starts, indices;
        std::vector<double> values;
        for (Index j = 0; j < n; ++j) {
            starts.push_back(static_cast<HighsInt>(indices.size()));
            for (SparseMatrix::InnerIterator it(program().A, j); it; ++it) {
                const int row = new_row[static_cast<std::size_t>(it.row())];
                if (row < 0 || it.value() == 0.0) continue;
                indices.push_back(row);
                values.push_back(it.value());
            }
        }
        set_bounds();
        check(Highs_passLp(highs_.get(), static_cast<HighsInt>(n), static_cast<HighsInt>(rows),
                           static_cast<HighsInt>(indices.size()), kHighsMatrixFormatColwise, kHighsObjSenseMinimize,
                           0.0, program().c.data(), column_lower_.data(), column_upper_.data(), row_lower_.data(),
                           row_upper_.data(), starts.data(), indices.data(), values.data()),
              "the program");
    }

  private:
    Solution run(bool warm, bool b_changed, bool c_changed) override {
        void* h = highs_.get();
        const Index n = program().columns(), m = program().rows();
        const auto columns = static_cast<HighsInt>(n), rows = static_cast<HighsInt>(row_lower_.size());
        if (b_changed) {
            set_bounds();
            if (rows > 0)
                check(Highs_changeRowsBoundsByRange(h, 0, rows - 1, row_lower_.data(), row_upper_.data()), "b");
            check(Highs_changeColsBoundsByRange(h, 0, columns - 1, column_lower_.data(), column_upper_.data()), "b");
        }
        if (c_changed) check(Highs_changeColsCostByRange(h, 0, columns - 1, program().c.data()), "c");
        if (!warm) check(Highs_clearSolver(h), "to start afresh");

        const auto start = std::chrono::steady_clock::now();
        Highs_zeroAllClocks(h);  // its time limit counts from here
        Highs_run(h);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

        Solution solution;
        auto [status, text] = status_of(Highs_getModelStatus(h));
        solution.claimed.status = status;
        solution.claimed.text = text + note_;
        solution.claimed.seconds = seconds.count();
        for (const char* name : {"simplex_iteration_count", "ipm_iteration_count", "crossover_iteration_count"}) {
            HighsInt count = 0;
            Highs_getIntInfoValue(h, name, &count);
            solution.claimed.iterations += std::max<HighsInt>(count, 0);
        }
        const auto figure = [&](const char* name) {
            double value = kNone;
            Highs_getDoubleInfoValue(h, name, &value);
            return value;
        };
        solution.claimed.primal_objective = figure("objective_function_value");
        solution.claimed.dual_objective = kNone;
        solution.claimed.primal_residual = figure("max_primal_infeasibility");
        solution.claimed.dual_residual = figure("max_dual_infeasibility");

        solution.x = Vector::Constant(n, kNone);
        solution.y = solution.s = Vector::Constant(m, kNone);
        if (status == Status::Infeasible || status == Status::Unbounded || status == Status::Failed) return solution;
        Vector reduced_cost(n), row_value(rows), row_dual(rows);
        if (Highs_getSolution(h, solution.x.data(), reduced_cost.data(), row_value.data(), row_dual.data()) !=
            kHighsStatusOk)
            return solution;
        solution.s = linear_slack(program(), solution.x);
        solution.y = multipliers(row_dual, reduced_cost);
        return solution;
    }

    void set_bounds() {
        const Vector& b = program().b;
        row_lower_.clear();
        row_upper_.clear();
        for (const RowMap::Row& row : map_.rows()) {
            row_lower_.push_back(row.cone == Cone::Zero ? b(row.row) : -kInfinity);
            row_upper_.push_back(b(row.row));
        }
        column_lower_.assign(static_cast<std::size_t>(program().columns()), -kInfinity);
        column_upper_.assign(column_lower_.size(), kInfinity);
        for (std::size_t j = 0; j < column_lower_.size(); ++j) {
            const auto [lower, upper] = map_.tightest(static_cast<Index>(j), b);
            if (lower) column_lower_[j] = RowMap::value(*lower, b);
            if (upper) column_upper_[j] = RowMap::value(*upper, b);
        }
    }

    Vector multipliers(const Vector& row_dual, const Vector& reduced_cost) const {
        Vector y = Vector::Zero(program().rows());
        for (std::size_t i = 0; i < map_.rows().size(); ++i)
            y(map_.rows()[i].row) = -row_dual(static_cast<Index>(i));
        for (Index j = 0; j < program().columns(); ++j) {
            const auto [lower, upper] = map_.tightest(j, program().b);
            // A reduced cost of the wrong sign (within the tolerance) goes to the bound there is.
            const RowMap::Bound* bound = (reduced_cost(j) > 0.0 && lower) || !upper ? lower : upper;
            if (bound) y(bound->row) = -reduced_cost(j) / bound->entry;
        }
        return y;
    }

    RowMap map_;
    Highs highs_;
    std::string note_;
    std::vector<double> row_lower_, row_upper_, column_lower_, column_upper_;
};

class HighsBackend final : public Backend {
  public:
    std::string_view name() const override { return "highs"; }
    std::string version() const override { return Highs_version(); }
    /// HiGHS's quadratic solver cannot start from the last answer, so only linear programs are offered.
    Capabilities capabilities() const override { return {{Cone::Zero, Cone::Nonnegative}, false, true, true, true}; }
    std::span<const Option> options() const override { return kOptions; }
    Readiness available() const override { return {true, "built in"}; }

  private:
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<HighsWorkspace>(std::move(program), settings);
    }
};

}  // namespace

const Backend& highs_backend() {
    static const HighsBackend backend;
    return backend;
}

}  // namespace certicone::solvers
