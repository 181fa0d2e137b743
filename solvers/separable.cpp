#include "solvers/separable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "conic/components.hpp"

namespace certicone::solvers {

namespace {

using conic::Component;
using conic::ConicProgram;

bool has_option(const Backend& backend, const std::string& name) {
    const auto options = backend.options();
    return std::any_of(options.begin(), options.end(), [&](const Option& option) { return option.name == name; });
}

/// The settings without the options that only the other solver has.
Settings settings_for(const Backend& backend, Settings settings) {
    std::erase_if(settings.options, [&](const auto& option) { return !has_option(backend, option.first); });
    return settings;
}

double size_or_one(const Vector& vector) {
    const double size = vector.size() > 0 ? vector.lpNorm<Eigen::Infinity>() : 0.0;
    return size > 0.0 ? size : 1.0;
}

class SeparableWorkspace final : public Workspace {
  public:
    SeparableWorkspace(ConicProgram program_in, const Settings& settings, const Backend& linear, const Backend& cones)
        : Workspace(std::move(program_in)), settings_(settings) {
        for (Component& component : conic::components(program())) {
            Part part;
            part.rows = std::move(component.rows);
            part.columns = std::move(component.columns);
            part.blocks = component.program.blocks;
            if (!part.columns.empty()) {
                // b/σ and κc in place of b and c: x = σx̃, s = σs̃, y = ỹ/κ. With P that would change P: left alone.
                part.scaled = component.program.P.nonZeros() == 0;
                part.rescale(component.program.b, component.program.c);
                component.program.b /= part.sigma;
                component.program.c *= part.kappa;
                const Backend& backend = component.linear && !obstacle(linear, component.program) ? linear : cones;
                part.workspace = backend.open(std::move(component.program), settings_for(backend, settings));
            }
            parts_.push_back(std::move(part));
        }
    }

  private:
    struct Part {
        std::vector<Index> rows, columns;
        std::vector<conic::Block> blocks;
        bool scaled = false;
        double sigma = 1.0, kappa = 1.0;
        std::unique_ptr<Workspace> workspace;  ///< none for rows without columns

        void rescale(const Vector& b, const Vector& c) {
            if (!scaled) return;
            sigma = size_or_one(b);
            kappa = 1.0 / size_or_one(c);
        }
    };

    Solution run(bool warm, bool b_changed, bool c_changed) override {
        Solution whole;
        whole.x = Vector::Zero(program().columns());
        whole.s = program().b;  // rows without entries
        whole.y = Vector::Zero(program().rows());
        whole.claimed.status = Status::Solved;
        whole.claimed.primal_residual = whole.claimed.dual_residual = 0.0;
        for (Part& part : parts_) {
            if (!part.workspace) {
                refuse_empty_rows(part, whole.claimed);
                continue;
            }
            if (b_changed || c_changed) {
                const Vector b = program().b(part.rows), c = program().c(part.columns);
                part.rescale(b, c);
                part.workspace->update_b(b / part.sigma);
                part.workspace->update_c(part.kappa * c);
            }
            Solution solution = part.workspace->solve(warm);
            whole.x(part.columns) = part.sigma * solution.x;
            whole.s(part.rows) = part.sigma * solution.s;
            whole.y(part.rows) = solution.y / part.kappa;
            Claim& claim = whole.claimed;
            const double unit = part.sigma / part.kappa;
            claim.iterations += solution.claimed.iterations;
            claim.seconds += solution.claimed.seconds;
            claim.primal_objective += unit * solution.claimed.primal_objective;
            claim.dual_objective += unit * solution.claimed.dual_objective;
            claim.primal_residual = std::max(claim.primal_residual, part.sigma * solution.claimed.primal_residual);
            claim.dual_residual = std::max(claim.dual_residual, solution.claimed.dual_residual / part.kappa);
            if (claim.status == Status::Solved) {  // the first that is not
                claim.status = solution.claimed.status;
                claim.text = solution.claimed.text;
            }
        }
        return whole;
    }

    /// Rows without entries ask for b ∈ K, whatever x is: no solver sees them.
    void refuse_empty_rows(const Part& part, Claim& claim) const {
        const Vector b = program().b(part.rows);
        const double allowed = settings_.eps_abs + settings_.eps_rel * b.lpNorm<Eigen::Infinity>();
        for (const conic::Block& block : part.blocks)
            if (claim.status == Status::Solved &&
                !(conic::cone_distance(block.cone, b.segment(block.begin, block.size), false) <= allowed)) {
                claim.status = Status::Infeasible;
                claim.text = fmt::format("rows of '{}' without entries cannot be met", block.name);
            }
    }

    Settings settings_;
    std::vector<Part> parts_;
};

class Separable final : public Backend {
  public:
    Separable(const Backend& linear, const Backend& cones)
        : linear_(&linear), cones_(&cones), name_(fmt::format("{}+{}", linear.name(), cones.name())) {
        for (const Backend* backend : {linear_, cones_})
            for (const Option& option : backend->options())
                if (backend == linear_ || !has_option(*linear_, std::string(option.name))) options_.push_back(option);
    }

    std::string_view name() const override { return name_; }
    std::string version() const override { return fmt::format("{}+{}", linear_->version(), cones_->version()); }
    Capabilities capabilities() const override {
        const Capabilities first = linear_->capabilities();
        Capabilities both = cones_->capabilities();
        both.updates_b = both.updates_b && first.updates_b;
        both.updates_c = both.updates_c && first.updates_c;
        both.warm_start = both.warm_start || first.warm_start;
        return both;
    }
    std::span<const Option> options() const override { return options_; }
    Readiness available() const override { return both(&Backend::available); }
    Readiness enabled() const override { return both(&Backend::enabled); }

  private:
    Readiness both(Readiness (Backend::*ask)() const) const {
        for (const Backend* backend : {linear_, cones_})
            if (const Readiness one = (backend->*ask)(); !one.ready)
                return {false, fmt::format("{}: {}", backend->name(), one.reason)};
        return {true, "both built in"};
    }
    std::unique_ptr<Workspace> setup(ConicProgram program, const Settings& settings) const override {
        return std::make_unique<SeparableWorkspace>(std::move(program), settings, *linear_, *cones_);
    }

    const Backend* linear_;
    const Backend* cones_;
    std::string name_;
    std::vector<Option> options_;
};

}  // namespace

const Backend& separable_backend(const Backend& linear, const Backend& cones) {
    static std::mutex mutex;
    static std::map<std::pair<const Backend*, const Backend*>, std::unique_ptr<const Separable>> made;
    const std::lock_guard lock(mutex);
    auto& backend = made[{&linear, &cones}];
    if (!backend) backend = std::make_unique<const Separable>(linear, cones);
    return *backend;
}

}  // namespace certicone::solvers
