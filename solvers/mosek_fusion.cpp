// Fusion builds the model once. New b and c go into the MOSEK task behind it: Constraint::update and Parameter put them
// beside the old constants as multiples of Fusion's variable '1.0', and Model::updateObjective reads out of bounds where
// a coefficient becomes zero (10.2).
#include "solvers/mosek_fusion.hpp"

#include <fmt/format.h>
#include <fusion.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "conic/linear_objective.hpp"
#include "solvers/mosek_runtime.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

namespace fusion = ::mosek::fusion;
using conic::Block;
using conic::Cone;
using conic::ConicProgram;
using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
using Doubles = std::shared_ptr<monty::ndarray<double, 1>>;

constexpr std::array<Option, 1> kOptions{{
    {"write", "file to write the model to before every solve: .ptf, .task, .task.gz, .jtask or .cbf"},
}};

int to_int(Index value) { return static_cast<int>(value); }

template <class T>
std::shared_ptr<monty::ndarray<T, 1>> to_array(const std::vector<T>& values) {
    const auto array = std::make_shared<monty::ndarray<T, 1>>(monty::shape(to_int(static_cast<Index>(values.size()))));
    std::copy(values.begin(), values.end(), array->raw());
    return array;
}

Doubles to_array(const Vector& values) { return to_array(std::vector<double>(values.begin(), values.end())); }

/// MOSEK's message in one line.
std::string one_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

/// The code in messages like "MSK_RES_ERR_MISSING_LICENSE_FILE(1008): …"; 0 where there is none.
int code_in(std::string_view text) {
    int code = 0;
    if (const std::size_t open = text.find('('); text.substr(0, 8) == "MSK_RES_" && open != std::string_view::npos)
        std::from_chars(text.data() + open + 1, text.data() + text.size(), code);
    return code;
}

constexpr std::string_view kNoLicence =
    "not enabled: no licence (put MOSEK's licence file at ~/mosek/mosek.lic or name it in MOSEKLM_LICENSE_FILE)";

/// `body()`, with whatever Fusion throws (its own overflow error is no std::exception) as one of our errors.
template <class Body>
auto guarded(Body body) {
    std::string message;
    try {
        return body();
    } catch (const InputError&) {
        throw;
    } catch (const SolverUnavailable&) {
        throw;
    } catch (const std::exception& error) {
        message = one_line(error.what());
    } catch (...) {
        message = "an internal error";
    }
    if (mosek::is_licence_code(code_in(message)))
        throw SolverUnavailable(fmt::format("solver 'mosek-fusion': {}; MOSEK says {}", kNoLicence, message));
    throw InputError(fmt::format("MOSEK Fusion: {}", message));
}

/// Return codes of the task behind a model.
void check(MSKrescodee code, const char* call) {
    if (code == MSK_RES_OK) return;
    std::array<char, MSK_MAX_STR_LEN> symbol{}, text{};
    MSK_getcodedesc(code, symbol.data(), text.data());
    throw std::runtime_error(fmt::format("{}({}): {} in {}", symbol.data(), static_cast<int>(code), text.data(), call));
}

/// Rows that are linear in the model.
bool is_linear(const Block& block) {
    return block.cone == Cone::Zero || block.cone == Cone::Nonnegative ||
           (block.cone == Cone::SecondOrder && block.size == 1) ||
           (block.cone == Cone::RotatedSecondOrder && block.size == 2);
}

class Model final : public FusionModel {
  public:
    explicit Model(const ConicProgram& program) : form_(program) {
        guarded([&] { build(); });
    }

    void update_b(const Vector& b) override {
        if (b.size() != form_.rows_of(b_).size()) throw InputError("update of b: wrong size");
        b_ = form_.extend_b(b);
        guarded([&] { put_b(); });
    }

    void update_c(const Vector& c) override {
        if (c.size() != form_.columns_of(form_.program().c).size()) throw InputError("update of c: wrong size");
        const Vector extended = form_.extend_c(c);
        guarded([&] {
            check(MSK_putcslice(task(), first_variable_, first_variable_ + to_int(extended.size()), extended.data()),
                  "MSK_putcslice");
        });
    }

    void update_constant(double c0) override {
        guarded([&] { check(MSK_putcfix(task(), c0), "MSK_putcfix"); });
    }

    void write(const std::string& file) override {
        // MOSEK takes any other name for another format.
        constexpr std::array<std::string_view, 5> kKnown{".ptf", ".task", ".task.gz", ".jtask", ".cbf"};
        if (std::none_of(kKnown.begin(), kKnown.end(), [&](std::string_view end) { return file.ends_with(end); }))
            throw InputError(
                fmt::format("{}: a Fusion model can be written as .ptf, .task, .task.gz, .jtask or .cbf", file));
        guarded([&] { model_->writeTask(file); });
    }

    Solution solve(const Settings& settings) override {
        return guarded([&] {
            set_parameters(settings);
            model_->solve();
            return read(settings);
        });
    }

    Solution reread(const Vector& x_in, const Vector& y_in) override {
        if (mosek_fusion_backend().enabled().ready)
            throw InputError(
                "MOSEK Fusion: a pair can be read back only without a licence; with one it would be solved for");
        const Vector x = form_.extend_x(x_in), y = form_.extend_y(x_in, y_in), Ax = form_.program().A * x;
        return guarded([&] {
            Vector xx = Vector::Zero(first_variable_ + x.size());
            xx(0) = 1.0;
            xx.tail(x.size()) = x;
            Vector xc(constraints()), native(xc.size()), doty(y.size() - xc.size());
            Index next = 0;
            for (const Rows& rows : rows_) {
                const auto part = y.segment(rows.block.begin, rows.block.size);
                if (is_linear(rows.block)) {
                    xc.segment(rows.first, rows.block.size) = Ax.segment(rows.block.begin, rows.block.size);
                    native.segment(rows.first, rows.block.size) = -part;
                } else {
                    doty.segment(next, rows.block.size) = part;
                    next += rows.block.size;
                }
            }
            const Vector slc = native.cwiseMax(0.0), suc = (-native).cwiseMax(0.0), none = Vector::Zero(xx.size());
            check(
                MSK_putsolutionnew(task(), MSK_SOL_ITR, nullptr, nullptr, nullptr, xc.data(), xx.data(), native.data(),
                                   slc.data(), suc.data(), none.data(), none.data(), nullptr, doty.data()),
                "MSK_putsolutionnew");
            // Unlike solve(), a batch lets every model take up the solution that its task has, whatever comes of it.
            fusion::Model::solveBatch(false, -1.0, 1, to_array(std::vector<fusion::Model::t>{model_}));
            return read({});
        });
    }

  private:
    /// A model and what belongs to it hold each other: only dispose() frees them.
    struct Owner {
        fusion::Model::t model = guarded([] { return fusion::Model::t(new fusion::Model("certicone")); });
        Owner() = default;
        Owner(const Owner&) = delete;
        Owner& operator=(const Owner&) = delete;
        ~Owner() { model->dispose(); }
    };

    struct Rows {
        Block block;
        fusion::Constraint::t constraint;
        int first = 0;                            ///< constraint of the first linear row
        std::vector<std::int64_t> expressions{};  ///< affine expression of each row of a cone
    };

    MSKtask_t task() { return model_->getTask(); }

    int constraints() {
        MSKint32t count = 0;
        check(MSK_getnumcon(task(), &count), "MSK_getnumcon");
        return count;
    }
    std::int64_t cones() {
        MSKint64t count = 0;
        check(MSK_getnumacc(task(), &count), "MSK_getnumacc");
        return count;
    }
    int variables() {
        MSKint32t count = 0;
        check(MSK_getnumvar(task(), &count), "MSK_getnumvar");
        return count;
    }

    void build() {
        const ConicProgram& program = form_.program();
        b_ = program.b;
        first_variable_ = variables();
        std::set<std::string> variable_names, constraint_names;
        for (const conic::Columns& columns : program.variables)
            if (columns.size > 0)
                variables_.push_back(model_->variable(unused(columns.name, variable_names), to_int(columns.size),
                                                      fusion::Domain::unbounded()));
        const fusion::Variable::t x = fusion::Var::vstack(to_array(variables_));
        if (variables() != first_variable_ + to_int(program.columns()))
            throw std::runtime_error("this version numbers its variables in a way that is not known");

        const RowMajor A = program.A;
        for (const Block& block : program.blocks) {
            const int first = constraints();
            const std::int64_t cone = cones();
            Rows rows{block, add(unused(block.name, constraint_names), block, A, x), first};
            const int more = constraints() - first;
            const std::int64_t more_cones = cones() - cone;
            const bool linear = is_linear(block);
            if (more != (linear ? to_int(block.size) : 0) || more_cones != (linear ? 0 : 1))
                throw std::runtime_error("this version numbers its constraints in a way that is not known");
            if (!linear) {
                rows.expressions.resize(static_cast<std::size_t>(block.size));
                check(MSK_getaccafeidxlist(task(), cone, rows.expressions.data()), "MSK_getaccafeidxlist");
            }
            rows_.push_back(std::move(rows));
        }
        model_->objective("objective", fusion::ObjectiveSense::Minimize, fusion::Expr::dot(to_array(program.c), x));
        check(MSK_putcfix(task(), program.c0), "MSK_putcfix");
        model_->acceptedSolutionStatus(fusion::AccSolutionStatus::Anything);
    }

    /// `name` in printable ASCII, or the first of name~2, name~3, … that is not taken.
    static std::string unused(std::string name, std::set<std::string>& taken) {
        std::replace_if(
            name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '_');
        std::string candidate = name;
        for (int k = 2; !taken.insert(candidate).second; ++k)
            candidate = fmt::format("{}~{}", name, k);
        return candidate;
    }

    fusion::Constraint::t add(const std::string& name, const Block& block, const RowMajor& A,
                              const fusion::Variable::t& x) {
        std::vector<int> row, column;
        std::vector<double> value;
        for (Index i = 0; i < block.size; ++i)
            for (RowMajor::InnerIterator it(A, block.begin + i); it; ++it) {
                row.push_back(to_int(i));
                column.push_back(to_int(it.col()));
                value.push_back(it.value());
            }
        const int size = to_int(block.size);
        const fusion::Expression::t Ax = fusion::Expr::mul(
            fusion::Matrix::sparse(size, to_int(A.cols()), to_array(row), to_array(column), to_array(value)), x);
        const Doubles b = to_array(Vector(b_.segment(block.begin, block.size)));
        if (block.cone == Cone::Zero) return model_->constraint(name, Ax, fusion::Domain::equalsTo(b));
        if (is_linear(block)) return model_->constraint(name, Ax, fusion::Domain::lessThan(b));
        return model_->constraint(
            name, fusion::Expr::sub(b, Ax),
            block.cone == Cone::SecondOrder ? fusion::Domain::inQCone(size) : fusion::Domain::inRotatedQCone(size));
    }

    void put_b() {
        for (const Rows& rows : rows_) {
            const Vector part = b_.segment(rows.block.begin, rows.block.size);
            if (is_linear(rows.block)) {
                const bool fixed = rows.block.cone == Cone::Zero;
                const std::vector<MSKboundkeye> keys(static_cast<std::size_t>(part.size()),
                                                     fixed ? MSK_BK_FX : MSK_BK_UP);
                const Vector lower = fixed ? part : Vector::Constant(part.size(), -MSK_INFINITY);
                check(MSK_putconboundslice(task(), rows.first, rows.first + to_int(part.size()), keys.data(),
                                           lower.data(), part.data()),
                      "MSK_putconboundslice");
            } else {
                check(MSK_putafeglist(task(), part.size(), rows.expressions.data(), part.data()), "MSK_putafeglist");
            }
        }
    }

    void set_parameters(const Settings& settings) {
        const double least = std::min(settings.eps_abs, settings.eps_rel);
        const double eps = std::clamp(least > 0.0 ? least : std::max(settings.eps_abs, settings.eps_rel), 1e-14, 1.0);
        for (const char* name : {"intpntCoTolPfeas", "intpntCoTolDfeas", "intpntCoTolRelGap", "intpntTolPfeas",
                                 "intpntTolDfeas", "intpntTolRelGap"})
            model_->setSolverParam(name, eps);
        model_->setSolverParam("intpntCoTolNearRel",
                               1.0);  // 'optimal' means at these tolerances, not at 1000 times them
        model_->setSolverParam("optimizerMaxTime", settings.time_limit > 0.0 ? settings.time_limit : -1.0);
        model_->setSolverParam("intpntMaxIterations", to_int(iteration_limit(settings)));
        model_->setSolverParam("numThreads", 1);
        model_->setSolverParam("optimizer", "intpnt");
        model_->setSolverParam("intpntBasis", "never");
    }

    static long iteration_limit(const Settings& settings) {
        return settings.max_iterations > 0 ? std::min(settings.max_iterations, 1'000'000L) : 400;
    }

    /// What Fusion holds as its solution. A certificate has one side only: the other is left at zero.
    Solution read(const Settings& settings) {
        const ConicProgram& program = form_.program();
        using enum fusion::SolutionStatus;
        const fusion::SolutionStatus primal = model_->getPrimalSolutionStatus(), dual = model_->getDualSolutionStatus();
        Solution solution;
        Claim& claimed = solution.claimed;
        Vector x = Vector::Zero(program.columns()), y = Vector::Zero(program.rows());
        if (primal != Undefined) {
            Index next = 0;
            for (const fusion::Variable::t& variable : variables_) {
                const Doubles values = variable->level();
                x.segment(next, values->size()) = Eigen::Map<const Vector>(values->raw(), values->size());
                next += values->size();
            }
            claimed.primal_objective = model_->primalObjValue();
        }
        if (dual != Undefined) {
            for (const Rows& rows : rows_) {
                const Doubles values = rows.constraint->dual();
                y.segment(rows.block.begin, rows.block.size) =
                    (is_linear(rows.block) ? -1.0 : 1.0) * Eigen::Map<const Vector>(values->raw(), rows.block.size);
            }
            claimed.dual_objective = model_->dualObjValue();
        }
        solution.x = form_.columns_of(x);
        solution.s = form_.rows_of(b_ - program.A * x);
        solution.y = form_.rows_of(y);

        claimed.iterations = model_->getSolverIntInfo("intpntIter");
        claimed.seconds = model_->getSolverDoubleInfo("optimizerTime");
        claimed.primal_residual = model_->getSolverDoubleInfo("intpntPrimalFeas");
        claimed.dual_residual = model_->getSolverDoubleInfo("intpntDualFeas");
        claimed.text = fmt::format("primal {}, dual {}", text_of(primal), text_of(dual));
        if (primal == Optimal && dual == Optimal)
            claimed.status = Status::Solved;
        else if (dual == Certificate)
            claimed.status = Status::Infeasible;
        else if (primal == Certificate)
            claimed.status = Status::Unbounded;
        else if (claimed.iterations >= iteration_limit(settings))
            claimed.status = Status::IterationLimit;
        else if (settings.time_limit > 0.0 && claimed.seconds >= settings.time_limit)
            claimed.status = Status::TimeLimit;
        else
            claimed.status = primal == Feasible && dual == Feasible ? Status::Inaccurate : Status::Failed;
        return solution;
    }

    static std::string_view text_of(fusion::SolutionStatus status) {
        switch (status) {
            case fusion::SolutionStatus::Undefined: return "undefined";
            case fusion::SolutionStatus::Unknown: return "unknown";
            case fusion::SolutionStatus::Optimal: return "optimal";
            case fusion::SolutionStatus::Feasible: return "feasible";
            case fusion::SolutionStatus::Certificate: return "certificate";
            case fusion::SolutionStatus::IllposedCert: return "ill-posed";
        }
        return "unknown";
    }

    conic::LinearObjective form_;
    Vector b_;  ///< of form_.program()
    Owner owner_;
    fusion::Model::t model_ = owner_.model;
    std::vector<fusion::Variable::t> variables_;
    int first_variable_ = 0;  ///< that of column 0; before it Fusion has its constant '1.0'
    std::vector<Rows> rows_;
};

class FusionWorkspace final : public Workspace {
  public:
    FusionWorkspace(ConicProgram program, const Settings& settings)
        : Workspace(std::move(program)), settings_(settings), model_(this->program()) {}

  private:
    Solution run(bool, bool b_changed, bool c_changed) override {
        if (b_changed) model_.update_b(program().b);
        if (c_changed) model_.update_c(program().c);
        if (const auto file = settings_.options.find("write"); file != settings_.options.end())
            model_.write(file->second);
        Solution solution;
        try {
            solution = model_.solve(settings_);
        } catch (const InputError& error) {  // MOSEK's own failure is an answer that failed
            solution.x = Vector::Zero(program().columns());
            solution.s = solution.y = Vector::Zero(program().rows());
            solution.claimed.text = error.what();
        }
        solution.claimed.primal_objective -= program().c0;  // Workspace::solve adds it
        solution.claimed.dual_objective -= program().c0;
        return solution;
    }

    Settings settings_;
    Model model_;
};

/// Asks by solving min x, x = 1.
Readiness ask_for_licence() {
    conic::Builder builder;
    builder.set(builder.add_rows("row", Cone::Zero, 1), builder.add_columns("x", 1), 1.0);
    ConicProgram program = builder.build();
    program.b.setOnes();
    program.c.setOnes();
    try {
        Model(program).solve({});
        return {true, "a licence was found"};
    } catch (const SolverUnavailable& error) {
        const std::string text = error.what();
        return {false, text.substr(text.find("not enabled"))};
    } catch (const std::exception& error) {
        return {false, fmt::format("not enabled: a trivial problem fails; {}", error.what())};
    }
}

class MosekFusion final : public Backend {
  public:
    std::string_view name() const override { return "mosek-fusion"; }
    std::string version() const override { return fusion::Model::getVersion(); }
    Capabilities capabilities() const override {
        return {{Cone::Zero, Cone::Nonnegative, Cone::SecondOrder, Cone::RotatedSecondOrder}, true, true, true, false};
    }
    std::span<const Option> options() const override { return kOptions; }
    Readiness available() const override { return {true, "built in"}; }
    Readiness enabled() const override {
        static const Readiness asked = ask_for_licence();
        return asked;
    }

  private:
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<FusionWorkspace>(std::move(program), settings);
    }
};

}  // namespace

const Backend& mosek_fusion_backend() {
    static const MosekFusion backend;
    return backend;
}

std::unique_ptr<FusionModel> fusion_model(const ConicProgram& program) {
    conic::validate(program);
    return std::make_unique<Model>(program);
}

}  // namespace certicone::solvers
