// OSQP solves  minimise ½ xᵀPx + qᵀx  subject to  l ≤ Ax ≤ u  with  Px + q + Aᵀy = 0, y ≥ 0 at u and y ≤ 0 at l.
//
//   Zero         l = u = b        s = 0
//   Nonnegative  l = −∞, u = b    s = max(b − Ax, 0)
//
// so its y is ours.
#include "solvers/osqp.hpp"

#include <fmt/format.h>
#include <osqp.h>

#include <algorithm>
#include <array>

#include "solvers/linear_rows.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

using conic::Cone;
using conic::ConicProgram;
using conic::SparseMatrix;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<Option, 9> kOptions{{
    {"scaling", "rounds of equilibration (10; 0 for programs that are already scaled)"},
    {"rho", "initial step size (0.1)"},
    {"sigma", "regularisation of the primal step (1e-6)"},
    {"alpha", "relaxation, between 0 and 2 (1.6)"},
    {"adaptive_rho", "1: adapt rho, more and more rarely; 0: never (1)"},
    {"adaptive_rho_interval", "iterations between two changes of rho, at first (50)"},
    {"polishing", "1: solve for the active set guessed at the end (1)"},
    {"polish_refine_iter", "steps of iterative refinement in it (10)"},
    {"check_termination", "iterations between two looks at the residuals (25)"},
}};

OSQPSettings translate(const Settings& settings) {
    OSQPSettings osqp;
    osqp_set_default_settings(&osqp);
    osqp.verbose = 0;
    osqp.eps_abs = settings.eps_abs;
    osqp.eps_rel = settings.eps_rel;
    osqp.eps_prim_inf = osqp.eps_dual_inf = 1e-7;
    osqp.max_iter = settings.max_iterations > 0
                        ? static_cast<OSQPInt>(std::min<long>(settings.max_iterations, std::numeric_limits<int>::max()))
                        : 1000000;
    if (settings.time_limit > 0.0) osqp.time_limit = settings.time_limit;
    const auto integer = [&](std::string_view name, OSQPInt fallback) {
        return static_cast<OSQPInt>(number_option(settings, name, static_cast<double>(fallback)));
    };
    osqp.scaling = integer("scaling", osqp.scaling);
    osqp.rho = number_option(settings, "rho", osqp.rho);
    osqp.sigma = number_option(settings, "sigma", osqp.sigma);
    osqp.alpha = number_option(settings, "alpha", osqp.alpha);
    osqp.adaptive_rho = integer("adaptive_rho", 1);
    // OSQP's other rules go by the clock, or by the errors of earlier solves: their answers could not be repeated.
    if (osqp.adaptive_rho != 0 && osqp.adaptive_rho != 1)
        throw InputError(fmt::format("solver option adaptive_rho={} is neither 0 nor 1", osqp.adaptive_rho));
    osqp.adaptive_rho_interval = integer("adaptive_rho_interval", 50);
    if (osqp.adaptive_rho_interval < 1) throw InputError("solver option adaptive_rho_interval must be at least 1");
    osqp.polishing = integer("polishing", 1);
    osqp.polish_refine_iter = integer("polish_refine_iter", 10);
    osqp.check_termination = integer("check_termination", osqp.check_termination);
    return osqp;
}

Status status_of(const OSQPInfo& info, const OSQPSettings& settings) {
    switch (info.status_val) {
        case OSQP_SOLVED: return Status::Solved;
        case OSQP_PRIMAL_INFEASIBLE: return Status::Infeasible;
        case OSQP_DUAL_INFEASIBLE: return Status::Unbounded;
        case OSQP_MAX_ITER_REACHED: return Status::IterationLimit;
        case OSQP_TIME_LIMIT_REACHED: return Status::TimeLimit;
        case OSQP_SIGINT: return Status::Interrupted;
        case OSQP_SOLVED_INACCURATE:
        case OSQP_PRIMAL_INFEASIBLE_INACCURATE:
        case OSQP_DUAL_INFEASIBLE_INACCURATE:
            return info.iter >= settings.max_iter ? Status::IterationLimit : Status::TimeLimit;
        default: return Status::Failed;
    }
}

std::string message_of(OSQPInt error) {
    std::string text = osqp_error_message(error);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

/// A copy in OSQP's types, and the view of it that OSQP wants.
struct OsqpMatrix {
    std::vector<OSQPInt> starts, indices;
    std::vector<OSQPFloat> values;
    OSQPCscMatrix view;

    explicit OsqpMatrix(const SparseMatrix& matrix)
        : starts(matrix.outerIndexPtr(), matrix.outerIndexPtr() + matrix.cols() + 1),
          indices(matrix.innerIndexPtr(), matrix.innerIndexPtr() + matrix.nonZeros()),
          values(matrix.valuePtr(), matrix.valuePtr() + matrix.nonZeros()) {
        OSQPCscMatrix_set_data(&view, static_cast<OSQPInt>(matrix.rows()), static_cast<OSQPInt>(matrix.cols()),
                               static_cast<OSQPInt>(matrix.nonZeros()), values.data(), indices.data(), starts.data());
    }
};

class OsqpWorkspace final : public Workspace {
  public:
    OsqpWorkspace(ConicProgram program_in, const Settings& settings)
        : Workspace(std::move(program_in)), settings_(translate(settings)) {
        SparseMatrix A = program().A, P = program().P.triangularView<Eigen::Upper>();
        A.makeCompressed();
        P.makeCompressed();
        const OsqpMatrix a(A), p(P);
        const Vector lower = lower_bound();
        OSQPSolver* solver = nullptr;
        const OSQPInt error =
            osqp_setup(&solver, &p.view, program().c.data(), &a.view, lower.data(), program().b.data(),
                       static_cast<OSQPInt>(A.rows()), static_cast<OSQPInt>(A.cols()), &settings_);
        solver_.reset(solver);
        if (error != 0)
            throw InputError(fmt::format("OSQP refused the program or its settings: {}", message_of(error)));
    }

  private:
    Solution run(bool warm, bool b_changed, bool c_changed) override {
        if (b_changed || c_changed) {
            const Vector lower = lower_bound();
            osqp_update_data_vec(solver_.get(), c_changed ? program().c.data() : nullptr,
                                 b_changed ? lower.data() : nullptr, b_changed ? program().b.data() : nullptr);
        }
        if (!warm) {  // as after setup: nothing of earlier solves is left
            osqp_cold_start(solver_.get());
            if (solver_->settings->rho != settings_.rho) osqp_update_rho(solver_.get(), settings_.rho);
        }
        Solution solution;
        solution.claimed = iterate();
        const Index n = program().columns(), m = program().rows();
        const OSQPInt status = solver_->info->status_val;
        const bool has_point = status == OSQP_SOLVED || status == OSQP_SOLVED_INACCURATE ||
                               status == OSQP_MAX_ITER_REACHED || status == OSQP_TIME_LIMIT_REACHED;
        if (has_point && solution.claimed.status != Status::Failed) {
            solution.x = Eigen::Map<const Vector>(solver_->solution->x, n);
            solution.y = Eigen::Map<const Vector>(solver_->solution->y, m);
            solution.s = linear_slack(program(), solution.x);
        } else {
            solution.x = Vector::Constant(n, kNone);
            solution.y = solution.s = Vector::Constant(m, kNone);
        }
        return solution;
    }

    /// ADMM converges if ρ changes finitely often; adapted at a fixed interval it can run in circles, and on LPs often
    /// does. So ρ is adapted 20 times at the first interval, then 20 times at one four times as long, and so on.
    Claim iterate() {
        Claim claim;
        OSQPInt left = settings_.max_iter, interval = settings_.adaptive_rho_interval;
        OSQPSettings& now = *solver_->settings;
        do {
            now.adaptive_rho_interval = interval;
            now.max_iter = settings_.adaptive_rho && left / 20 > interval ? 20 * interval : left;
            now.time_limit = std::max(settings_.time_limit - claim.seconds, 1e-9);
            const OSQPInt error = osqp_solve(solver_.get());
            const OSQPInfo& info = *solver_->info;
            left -= info.iter;
            interval = now.max_iter / 5;
            claim = {error == 0 ? status_of(info, now) : Status::Failed,
                     error == 0 ? std::string(info.status) : message_of(error),
                     claim.iterations + info.iter,
                     claim.seconds + info.solve_time + info.polish_time,
                     info.obj_val,
                     info.dual_obj_val,
                     info.prim_res,
                     info.dual_res};
        } while (claim.status == Status::IterationLimit && left > 0);
        return claim;
    }

    Vector lower_bound() const {
        Vector lower = program().b;
        for (const conic::Block& block : program().blocks)
            if (block.cone == Cone::Nonnegative) lower.segment(block.begin, block.size).setConstant(-OSQP_INFTY);
        return lower;
    }

    struct Cleanup {
        void operator()(OSQPSolver* solver) const { osqp_cleanup(solver); }
    };

    OSQPSettings settings_;
    std::unique_ptr<OSQPSolver, Cleanup> solver_;
};

class Osqp final : public Backend {
  public:
    std::string_view name() const override { return "osqp"; }
    std::string version() const override { return osqp_version(); }
    Capabilities capabilities() const override { return {{Cone::Zero, Cone::Nonnegative}, true, true, true, true}; }
    std::span<const Option> options() const override { return kOptions; }
    Readiness available() const override { return {true, "built in"}; }

  private:
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<OsqpWorkspace>(std::move(program), settings);
    }
};

}  // namespace

const Backend& osqp_backend() {
    static const Osqp backend;
    return backend;
}

}  // namespace certicone::solvers
