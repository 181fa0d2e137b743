// SCS's convention is ours: Ax + s = b, s ∈ K, Px + Aᵀy + c = 0, with rows in SCS's order.
#include "solvers/scs.hpp"

#include <fmt/format.h>
#include <scs.h>

#include <algorithm>
#include <array>
#include <limits>

#include "conic/rotated_rows.hpp"
#include "support/error.hpp"

namespace certicone::solvers {

namespace {

using conic::Cone;
using conic::ConicProgram;
using conic::SparseMatrix;

constexpr std::array<Option, 7> kOptions{{
    {"normalize", "1: let SCS equilibrate the data (0 for programs that are already scaled)"},
    {"scale", "initial dual scaling (0.1)"},
    {"adaptive_scale", "1: adapt it (1)"},
    {"alpha", "relaxation (1.5)"},
    {"rho_x", "primal scaling (1e-6, more for tolerances below 2e-8)"},
    {"acceleration_lookback", "memory of Anderson acceleration (10)"},
    {"acceleration_interval", "its interval (10)"},
}};

/// x comes from a system whose least eigenvalue may be ρ_x, so its rounding is of size ε/ρ_x: at SCS's own 1e-6, a few 1e-10.
/// A tolerance of 1e-9 then hangs on the last bits: the residual idles above it, and as the other one has long been far
/// below, the scale is adapted without end and the answer lost. So ε/ρ_x is kept at a hundredth of the tolerance.
double primal_scaling(const Settings& settings, double own) {
    constexpr double unit = std::numeric_limits<double>::epsilon();
    return std::clamp(1e2 * unit / std::max(settings.eps_abs, settings.eps_rel), own, 1.0);
}

ScsSettings translate(const Settings& settings) {
    ScsSettings scs;
    scs_set_default_settings(&scs);
    scs.verbose = 0;
    scs.eps_abs = settings.eps_abs;
    scs.eps_rel = settings.eps_rel;
    scs.eps_infeas = 1e-9;
    scs.max_iters = settings.max_iterations > 0 ? static_cast<scs_int>(settings.max_iterations) : 200000;
    scs.time_limit_secs = settings.time_limit;
    const auto integer = [&](std::string_view name, scs_int fallback) {
        return static_cast<scs_int>(number_option(settings, name, static_cast<double>(fallback)));
    };
    scs.normalize = integer("normalize", scs.normalize);
    scs.adaptive_scale = integer("adaptive_scale", scs.adaptive_scale);
    scs.acceleration_lookback = integer("acceleration_lookback", scs.acceleration_lookback);
    scs.acceleration_interval = integer("acceleration_interval", scs.acceleration_interval);
    scs.scale = number_option(settings, "scale", scs.scale);
    scs.alpha = number_option(settings, "alpha", scs.alpha);
    scs.rho_x = number_option(settings, "rho_x", primal_scaling(settings, scs.rho_x));
    return scs;
}

Status status_of(const ScsInfo& info, const ScsSettings& settings) {
    switch (info.status_val) {
        case SCS_SOLVED: return Status::Solved;
        case SCS_INFEASIBLE: return Status::Infeasible;
        case SCS_UNBOUNDED: return Status::Unbounded;
        case SCS_SIGINT: return Status::Interrupted;
        case SCS_SOLVED_INACCURATE:
        case SCS_INFEASIBLE_INACCURATE:
        case SCS_UNBOUNDED_INACCURATE:
            if (info.iter >= settings.max_iters) return Status::IterationLimit;
            return settings.time_limit_secs > 0.0 ? Status::TimeLimit : Status::Inaccurate;
        default: return Status::Failed;
    }
}

class ScsWorkspace final : public Workspace {
  public:
    ScsWorkspace(ConicProgram program_in, const Settings& settings)
        : Workspace(std::move(program_in)), rows_(program()), settings_(translate(settings)) {
        SparseMatrix A = rows_.map(program().A);
        SparseMatrix P = program().P.triangularView<Eigen::Upper>();
        P.makeCompressed();
        Vector b = rows_.map(program().b), c = program().c;
        ScsMatrix a_view = view(A), p_view = view(P);
        const auto m = static_cast<scs_int>(A.rows()), n = static_cast<scs_int>(A.cols());
        ScsData data{m, n, &a_view, P.nonZeros() > 0 ? &p_view : nullptr, b.data(), c.data()};
        std::vector<scs_int> second_order(rows_.second_order().begin(), rows_.second_order().end());
        ScsCone cone{};
        cone.z = static_cast<scs_int>(rows_.zero());
        cone.l = static_cast<scs_int>(rows_.nonnegative());
        cone.q = second_order.data();
        cone.qsize = static_cast<scs_int>(second_order.size());
        work_.reset(scs_init(&data, &cone, &settings_));
        if (!work_) throw InputError("SCS refused the program or its settings");
        x_ = Vector::Zero(n);
        y_ = Vector::Zero(m);
        s_ = Vector::Zero(m);
    }

  private:
    Solution run(bool warm, bool b_changed, bool c_changed) override {
        if (b_changed || c_changed) {
            Vector b = rows_.map(program().b), c = program().c;
            scs_update(work_.get(), b_changed ? b.data() : nullptr, c_changed ? c.data() : nullptr);
        }
        const bool usable = warm && solved_before_ && x_.allFinite() && y_.allFinite() && s_.allFinite();
        ScsSolution answer{x_.data(), y_.data(), s_.data()};
        ScsInfo info{};
        scs_solve(work_.get(), &answer, &info, usable ? 1 : 0);
        Solution solution;
        solution.claimed = {status_of(info, settings_),
                            info.status,
                            info.iter,
                            info.solve_time * 1e-3,
                            info.pobj,
                            info.dobj,
                            info.res_pri,
                            info.res_dual};
        solved_before_ = solution.claimed.status == Status::Solved;
        solution.x = x_;
        solution.y = rows_.back(y_.data());
        solution.s = rows_.back(s_.data());
        return solution;
    }

    static ScsMatrix view(SparseMatrix& matrix) {
        return {matrix.valuePtr(), matrix.innerIndexPtr(), matrix.outerIndexPtr(), static_cast<scs_int>(matrix.rows()),
                static_cast<scs_int>(matrix.cols())};
    }

    struct Finish {
        void operator()(ScsWork* work) const { scs_finish(work); }
    };

    conic::RotatedRows rows_;
    ScsSettings settings_;
    std::unique_ptr<ScsWork, Finish> work_;
    Vector x_, y_, s_;
    bool solved_before_ = false;
};

class Scs final : public Backend {
  public:
    std::string_view name() const override { return "scs"; }
    std::string version() const override { return scs_version(); }
    Capabilities capabilities() const override {
        return {{Cone::Zero, Cone::Nonnegative, Cone::SecondOrder, Cone::RotatedSecondOrder}, true, true, true, true};
    }
    std::span<const Option> options() const override { return kOptions; }
    Readiness available() const override { return {true, "built in"}; }

  private:
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<ScsWorkspace>(std::move(program), settings);
    }
};

}  // namespace

const Backend& scs_backend() {
    static const Scs backend;
    return backend;
}

}  // namespace certicone::solvers
