#include "solvers/mosek_runtime.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "solvers/mosek_library.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace certicone::solvers::mosek {

namespace {

using conic::Block;
using conic::Cone;
using conic::ConicProgram;
using conic::SparseMatrix;

constexpr int kInterior = 0;  // MSK_SOL_ITR
enum BoundKey { kUpper = 1, kFixed = 2, kFree = 3 };

bool is_linear(const Block& block) { return block.cone == Cone::Zero || block.cone == Cone::Nonnegative; }

std::int32_t to_int32(Index value) { return static_cast<std::int32_t>(value); }

double largest(const Vector& vector) { return vector.size() == 0 ? 0.0 : vector.lpNorm<Eigen::Infinity>(); }

double quotient(double amount, double scale) { return amount == 0.0 ? 0.0 : amount / scale; }

/// The violations beside their scales; `slack` counts as primal.
std::array<std::pair<std::string_view, double>, 8> relative_figures(const Judgement& j) {
    return {{{"gap", quotient(j.gap, j.objective_scale)},
             {"primal constraint", quotient(j.primal_constraint, j.primal_scale)},
             {"primal variable", quotient(j.primal_variable, j.primal_scale)},
             {"primal cone", quotient(j.primal_cone, j.primal_scale)},
             {"slack", quotient(j.slack, j.primal_scale)},
             {"dual constraint", quotient(j.dual_constraint, j.dual_scale)},
             {"dual variable", quotient(j.dual_variable, j.dual_scale)},
             {"dual cone", quotient(j.dual_cone, j.dual_scale)}}};
}

std::pair<std::string_view, double> worst_figure(const Judgement& judgement) {
    const auto figures = relative_figures(judgement);
    return *std::max_element(figures.begin(), figures.end(), [](const auto& a, const auto& b) {
        return std::isnan(b.second) || a.second < b.second;  // NaN counts as the worst
    });
}

Readiness ask_for_licence() {
    const Library& msk = library();
    if (!msk.found.ready) return msk.found;
    Handle task = nullptr;
    int termination = 0;
    int code = msk.maketask(nullptr, 0, 1, &task);
    if (code == 0) code = msk.appendvars(task, 1);
    if (code == 0) code = msk.putvarbound(task, 0, kFixed, 1.0, 1.0);
    if (code == 0) code = msk.optimizetrm(task, &termination);
    if (task != nullptr) msk.deletetask(&task);
    if (code == 0) return {true, "a licence was found"};
    if (!is_licence_code(code)) return {false, fmt::format("not enabled: MOSEK says {}", msk.describe(code))};
    return {false,
            fmt::format("not enabled: no licence; MOSEK says {} (to solve, set MOSEKLM_LICENSE_FILE to a licence "
                        "file; the referee needs none)",
                        msk.describe(code))};
}

}  // namespace

Readiness runtime() { return library().found; }

std::string runtime_version() { return library().version; }

Readiness licence() {
    static const Readiness asked = ask_for_licence();
    return asked;
}

bool is_licence_code(int code) {
    const auto within = [code](int first, int last) { return first <= code && code <= last; };
    return within(1000, 1003) || within(1005, 1008) || within(1010, 1021) || within(1025, 1028) || code == 3900;
}

double Judgement::relative() const { return worst_figure(*this).second; }
std::string_view Judgement::worst() const { return worst_figure(*this).first; }

struct Task::Data {
    const Library* msk;
    Handle task = nullptr;
    std::unique_ptr<const conic::LinearObjective> form;  ///< none for a task that was read from a file
    std::vector<std::int64_t> row_of;                    ///< constraint or affine expression of each row of the program
    SparseMatrix size_of_A;                              ///< |A|
    Vector b, c;
    double c0 = 0.0;
    bool named = false;

    explicit Data(const Library& library) : msk(&library) {
        if (!library.found.ready)
            throw SolverUnavailable(fmt::format("solver 'mosek': not available: {}", library.found.reason));
        check(library.maketask(nullptr, 0, 0, &task), "maketask");
    }
    ~Data() {
        if (task != nullptr) msk->deletetask(&task);
    }
    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    /// Every call's return code goes through here.
    void check(int code, const char* call) const {
        if (code == 0) return;
        if (is_licence_code(code))
            throw SolverUnavailable(
                fmt::format("solver 'mosek': not enabled: no licence; MOSEK says {}", msk->describe(code)));
        throw InputError(fmt::format("MOSEK's {} fails: {}", call, message(code)));
    }

    /// MOSEK's message for the last error of this task, with the details that the code alone does not have.
    std::string message(int code) const {
        std::array<char, 1024> text{};
        int last = 0;
        std::int32_t length = 0;
        if (task != nullptr && msk->getlasterror(task, &last, to_int32(text.size()), &length, text.data()) == 0 &&
            last == code && text[0] != '\0')
            return fmt::format("{} ({})", one_line(text.data()), code);
        return msk->describe(code);
    }

    void put_bound(const Block& block, Index row) const {
        check(msk->putconbound(task, to_int32(row_of[static_cast<std::size_t>(row)]),
                               block.cone == Cone::Zero ? kFixed : kUpper, block.cone == Cone::Zero ? b(row) : -1e30,
                               b(row)),
              "putconbound");
    }

    void put_b() const {
        std::vector<std::int64_t> expressions;
        std::vector<double> constants;
        for (const Block& block : form->program().blocks)
            for (Index row = block.begin; row < block.begin + block.size; ++row) {
                if (is_linear(block)) {
                    put_bound(block, row);
                } else {
                    expressions.push_back(row_of[static_cast<std::size_t>(row)]);
                    constants.push_back(b(row));
                }
            }
        check(
            msk->putafeglist(task, static_cast<std::int64_t>(expressions.size()), expressions.data(), constants.data()),
            "putafeglist");
    }

    void put_c() const { check(msk->putcslice(task, 0, to_int32(c.size()), c.data()), "putcslice"); }

    void put_constant(double constant) {
        c0 = constant;
        check(msk->putcfix(task, c0), "putcfix");
    }

    void build() {
        const ConicProgram& program = form->program();
        b = program.b;
        c = program.c;
        size_of_A = program.A.cwiseAbs();
        row_of.resize(static_cast<std::size_t>(program.rows()));
        std::int64_t constraints = 0, expressions = 0;
        std::vector<bool> linear(row_of.size());
        for (const Block& block : program.blocks)
            for (Index row = block.begin; row < block.begin + block.size; ++row) {
                const auto r = static_cast<std::size_t>(row);
                linear[r] = is_linear(block);
                row_of[r] = linear[r] ? constraints++ : expressions++;
            }
        check(msk->appendvars(task, to_int32(program.columns())), "appendvars");
        check(msk->appendcons(task, static_cast<std::int32_t>(constraints)), "appendcons");
        check(msk->appendafes(task, expressions), "appendafes");
        for (Index j = 0; j < program.columns(); ++j)
            check(msk->putvarbound(task, to_int32(j), kFree, -1e30, 1e30), "putvarbound");

        std::vector<std::int32_t> a_row, a_column, f_column;
        std::vector<std::int64_t> f_row;
        std::vector<double> a_value, f_value;
        for (int j = 0; j < program.A.outerSize(); ++j)
            for (SparseMatrix::InnerIterator it(program.A, j); it; ++it) {
                const auto r = static_cast<std::size_t>(it.row());
                if (linear[r]) {
                    a_row.push_back(static_cast<std::int32_t>(row_of[r]));
                    a_column.push_back(j);
                    a_value.push_back(it.value());
                } else {
                    f_row.push_back(row_of[r]);
                    f_column.push_back(j);
                    f_value.push_back(-it.value());
                }
            }
        check(msk->putaijlist64(task, static_cast<std::int64_t>(a_row.size()), a_row.data(), a_column.data(),
                                a_value.data()),
              "putaijlist64");
        check(msk->putafefentrylist(task, static_cast<std::int64_t>(f_row.size()), f_row.data(), f_column.data(),
                                    f_value.data()),
              "putafefentrylist");
        put_b();
        put_c();
        put_constant(program.c0);
        for (const Block& block : program.blocks) {
            if (is_linear(block) || block.size == 0) continue;
            std::int64_t domain = 0;
            const auto append =
                block.cone == Cone::SecondOrder ? msk->appendquadraticconedomain : msk->appendrquadraticconedomain;
            check(append(task, block.size, &domain), "append…conedomain");
            check(msk->appendaccseq(task, domain, block.size, row_of[static_cast<std::size_t>(block.begin)], nullptr),
                  "appendaccseq");
        }
    }

    /// Names as in the program; only files show them.
    void put_names() {
        if (named || !form) return;
        named = true;
        for (const conic::Columns& columns : form->program().variables)
            for (Index k = 0; k < columns.size; ++k)
                check(
                    msk->putvarname(task, to_int32(columns.begin + k), fmt::format("{}[{}]", columns.name, k).c_str()),
                    "putvarname");
        std::int64_t cone = 0;
        for (const Block& block : form->program().blocks) {
            if (!is_linear(block)) {
                if (block.size > 0) check(msk->putaccname(task, cone++, block.name.c_str()), "putaccname");
                continue;
            }
            for (Index k = 0; k < block.size; ++k)
                check(msk->putconname(task, to_int32(row_of[static_cast<std::size_t>(block.begin + k)]),
                                      fmt::format("{}[{}]", block.name, k).c_str()),
                      "putconname");
        }
    }

    /// Puts a solution into the task and asks what MOSEK finds in it. A multiplier of the wrong sign becomes that of the
    /// bound at infinity, which MOSEK reports as a dual violation.
    Judgement inject(const Vector& xc, const Vector& x, const Vector& y, const Vector& doty, const Vector& sx) const {
        const Vector slc = y.cwiseMax(0.0), suc = (-y).cwiseMax(0.0);
        const Vector slx = sx.cwiseMax(0.0), sux = (-sx).cwiseMax(0.0);
        check(msk->putsolutionnew(task, kInterior, nullptr, nullptr, nullptr, xc.data(), x.data(), y.data(), slc.data(),
                                  suc.data(), slx.data(), sux.data(), nullptr, doty.data()),
              "putsolutionnew");
        Judgement result;
        double p_bar = 0, p_cone = 0, p_djc = 0, p_itg = 0, d_bar = 0, d_cone = 0;
        check(msk->getsolutioninfonew(task, kInterior, &result.primal_objective, &result.primal_constraint,
                                      &result.primal_variable, &p_bar, &p_cone, &result.primal_cone, &p_djc, &p_itg,
                                      &result.dual_objective, &result.dual_constraint, &result.dual_variable, &d_bar,
                                      &d_cone, &result.dual_cone),
              "getsolutioninfonew");
        result.gap = std::abs(result.primal_objective - result.dual_objective);
        return result;
    }

    std::int32_t variables() const {
        std::int32_t count = 0;
        check(msk->getnumvar(task, &count), "getnumvar");
        return count;
    }
    std::int32_t constraints() const {
        std::int32_t count = 0;
        check(msk->getnumcon(task, &count), "getnumcon");
        return count;
    }
    std::int64_t count(int (*get)(Handle, std::int64_t*), const char* call) const {
        std::int64_t result = 0;
        check(get(task, &result), call);
        return result;
    }
};

Task::Task(const ConicProgram& program) : data_(std::make_unique<Data>(library())) {
    conic::validate(program);
    data_->form = std::make_unique<const conic::LinearObjective>(program);
    data_->build();
}

Task::Task(const std::string& file) : data_(std::make_unique<Data>(library())) {
    const int code = data_->msk->readdata(data_->task, file.c_str());
    if (code != 0) throw InputError(fmt::format("{}: MOSEK cannot read it: {}", file, data_->message(code)));
}

Task::~Task() = default;
Task::Task(Task&&) noexcept = default;
Task& Task::operator=(Task&&) noexcept = default;

void Task::update_b(const Vector& b) {
    data_->b = data_->form->extend_b(b);
    data_->put_b();
}

void Task::update_c(const Vector& c) {
    data_->c = data_->form->extend_c(c);
    data_->put_c();
}

void Task::update_constant(double c0) { data_->put_constant(c0); }

void Task::write(const std::string& file) const {
    data_->put_names();
    const int code = data_->msk->writedata(data_->task, file.c_str());
    if (code != 0) throw InputError(fmt::format("{}: MOSEK cannot write it: {}", file, data_->message(code)));
}

Shape Task::shape() const {
    const Library& msk = *data_->msk;
    return {data_->variables(),
            data_->constraints(),
            static_cast<Index>(data_->count(msk.getnumacc, "getnumacc")),
            static_cast<Index>(data_->count(msk.getnumanz64, "getnumanz64")),
            static_cast<Index>(data_->count(msk.getaccntot, "getaccntot")),
            static_cast<Index>(data_->count(msk.getaccfnumnz, "getaccfnumnz"))};
}

Judgement Task::judge(const Vector& x_in, const Vector& s_in, const Vector& y_in) {
    if (!data_->form) throw InputError("this task was read from a file: it has no program to judge a pair of");
    const conic::LinearObjective& form = *data_->form;
    const ConicProgram& program = form.program();
    if (x_in.size() != form.original_columns() || y_in.size() != form.original_rows() || s_in.size() != y_in.size())
        throw InputError("the pair to be judged does not have the program's sizes");
    const Vector x = form.extend_x(x_in), y = form.extend_y(x_in, y_in), s = form.extend_s(x_in, s_in);
    if (!x.allFinite() || !y.allFinite() || !s.allFinite())
        throw InputError("the pair to be judged has entries that are not finite");

    const Vector Ax = program.A * x;
    Vector xc(data_->constraints()), native_y(xc.size());
    Vector doty(program.rows() - xc.size());
    for (const Block& block : program.blocks)
        for (Index row = block.begin; row < block.begin + block.size; ++row) {
            const std::int64_t place = data_->row_of[static_cast<std::size_t>(row)];
            if (is_linear(block)) {
                xc(place) = Ax(row);
                native_y(place) = -y(row);
            } else {
                doty(place) = y(row);
            }
        }
    Judgement result = data_->inject(xc, x, native_y, doty, Vector::Zero(x.size()));
    result.slack = largest(Ax + s - data_->b);
    result.primal_scale = std::max(largest(data_->size_of_A * x.cwiseAbs()), largest(data_->b));
    result.dual_scale = std::max({largest(data_->size_of_A.transpose() * y.cwiseAbs()), largest(data_->c), largest(y)});
    result.objective_scale =
        data_->c.cwiseAbs().dot(x.cwiseAbs()) + data_->b.cwiseAbs().dot(y.cwiseAbs()) + std::abs(data_->c0);
    return result;
}

Judgement Task::judge_native(const Vector& x, const Vector& y, const Vector& doty, const Vector& sx) {
    const std::int64_t nonzeros = data_->count(data_->msk->getnumanz64, "getnumanz64");
    std::vector<std::int32_t> rows(static_cast<std::size_t>(nonzeros)), columns(rows.size());
    std::vector<double> values(rows.size());
    data_->check(data_->msk->getatrip(data_->task, nonzeros, rows.data(), columns.data(), values.data()), "getatrip");
    if (x.size() != data_->variables() || sx.size() != x.size() || y.size() != data_->constraints() ||
        doty.size() != data_->count(data_->msk->getaccntot, "getaccntot"))
        throw InputError("the pair to be judged does not have the task's sizes");
    if (!x.allFinite() || !y.allFinite() || !doty.allFinite() || !sx.allFinite())
        throw InputError("the pair to be judged has entries that are not finite");
    Vector xc = Vector::Zero(y.size());
    for (std::size_t k = 0; k < values.size(); ++k)
        xc(rows[k]) += values[k] * x(columns[k]);
    return data_->inject(xc, x, y, doty, sx);
}

Index Task::variable(const std::string& name) const {
    std::int32_t found = 0, index = -1;
    data_->check(data_->msk->getvarnameindex(data_->task, name.c_str(), &found, &index), "getvarnameindex");
    return found != 0 ? index : -1;
}

Index Task::constraint(const std::string& name) const {
    std::int32_t found = 0, index = -1;
    data_->check(data_->msk->getconnameindex(data_->task, name.c_str(), &found, &index), "getconnameindex");
    return found != 0 ? index : -1;
}

Index Task::cone(const std::string& name) const {
    const std::int64_t cones = data_->count(data_->msk->getnumacc, "getnumacc");
    std::array<char, 1024> text{};
    for (std::int64_t k = 0; k < cones; ++k) {
        data_->check(data_->msk->getaccname(data_->task, k, to_int32(text.size()), text.data()), "getaccname");
        if (name == text.data()) return static_cast<Index>(k);
    }
    return -1;
}

Solution Task::solve(const Settings& settings) {
    if (!data_->form) throw InputError("this task was read from a file: it has no program to solve");
    const Library& msk = *data_->msk;
    const auto whole = [&](const char* name, int value) {
        data_->check(msk.putnaintparam(data_->task, name, value), "putnaintparam");
    };
    const auto real = [&](const char* name, double value) {
        data_->check(msk.putnadouparam(data_->task, name, value), "putnadouparam");
    };
    // MOSEK's tolerances are relative to 1 + the size of the data.
    double eps = std::min(settings.eps_abs, settings.eps_rel);
    if (eps == 0.0) eps = std::max(settings.eps_abs, settings.eps_rel);
    eps = std::clamp(eps, 1e-14, 1.0);
    for (const char* name :
         {"MSK_DPAR_INTPNT_CO_TOL_PFEAS", "MSK_DPAR_INTPNT_CO_TOL_DFEAS", "MSK_DPAR_INTPNT_CO_TOL_REL_GAP",
          "MSK_DPAR_INTPNT_TOL_PFEAS", "MSK_DPAR_INTPNT_TOL_DFEAS", "MSK_DPAR_INTPNT_TOL_REL_GAP"})
        real(name, eps);
    real("MSK_DPAR_INTPNT_CO_TOL_NEAR_REL", 1.0);  // else 'optimal' may mean a thousand times the tolerance
    if (settings.time_limit > 0.0) real("MSK_DPAR_OPTIMIZER_MAX_TIME", settings.time_limit);
    if (settings.max_iterations > 0)
        whole("MSK_IPAR_INTPNT_MAX_ITERATIONS", static_cast<int>(std::min(settings.max_iterations, 1'000'000L)));
    whole("MSK_IPAR_NUM_THREADS", 1);
    whole("MSK_IPAR_INTPNT_BASIS", 0);  // no crossover: the interior solution is read
    whole("MSK_IPAR_OPTIMIZER", 4);     // the interior-point method for linear programs too

    int termination = 0, status = 0;
    data_->check(msk.optimizetrm(data_->task, &termination), "optimizetrm");
    const ConicProgram& program = data_->form->program();
    Vector x = Vector::Zero(program.columns()), native_y = Vector::Zero(data_->constraints());
    Vector doty = Vector::Zero(program.rows() - native_y.size());
    Solution solution;
    data_->check(msk.getsolsta(data_->task, kInterior, &status), "getsolsta");
    data_->check(msk.getxx(data_->task, kInterior, x.data()), "getxx");
    data_->check(msk.gety(data_->task, kInterior, native_y.data()), "gety");
    data_->check(msk.getaccdotys(data_->task, kInterior, doty.data()), "getaccdotys");
    msk.getprimalobj(data_->task, kInterior, &solution.claimed.primal_objective);
    msk.getdualobj(data_->task, kInterior, &solution.claimed.dual_objective);
    std::int32_t iterations = 0;
    msk.getnaintinf(data_->task, "MSK_IINF_INTPNT_ITER", &iterations);
    msk.getnadouinf(data_->task, "MSK_DINF_OPTIMIZER_TIME", &solution.claimed.seconds);
    solution.claimed.iterations = iterations;

    constexpr std::array kStatus{
        "UNKNOWN",         "OPTIMAL",         "PRIM_FEAS",         "DUAL_FEAS",         "PRIM_AND_DUAL_FEAS",
        "PRIM_INFEAS_CER", "DUAL_INFEAS_CER", "PRIM_ILLPOSED_CER", "DUAL_ILLPOSED_CER", "INTEGER_OPTIMAL"};
    solution.claimed.text = status >= 0 && status < static_cast<int>(kStatus.size())
                                ? kStatus[static_cast<std::size_t>(status)]
                                : "UNKNOWN";
    if (termination != 0) solution.claimed.text += "; " + msk.describe(termination);
    switch (status) {
        case 1: solution.claimed.status = Status::Solved; break;
        case 5: solution.claimed.status = Status::Infeasible; break;
        case 6: solution.claimed.status = Status::Unbounded; break;
        case 4: solution.claimed.status = Status::Inaccurate; break;
        default: solution.claimed.status = Status::Failed;
    }
    if (solution.claimed.status == Status::Failed || solution.claimed.status == Status::Inaccurate) {
        if (termination == 100000) solution.claimed.status = Status::IterationLimit;
        if (termination == 100001) solution.claimed.status = Status::TimeLimit;
        if (termination == 100007) solution.claimed.status = Status::Interrupted;
    }

    Vector y(program.rows());
    for (const Block& block : program.blocks)
        for (Index row = block.begin; row < block.begin + block.size; ++row) {
            const std::int64_t place = data_->row_of[static_cast<std::size_t>(row)];
            y(row) = is_linear(block) ? -native_y(place) : doty(place);
        }
    const Vector s = data_->b - program.A * x;
    solution.x = data_->form->columns_of(x);
    solution.s = data_->form->rows_of(s);
    solution.y = data_->form->rows_of(y);
    return solution;
}

Judgement judge(const ConicProgram& program, const Vector& x, const Vector& s, const Vector& y) {
    return Task(program).judge(x, s, y);
}

}  // namespace certicone::solvers::mosek
