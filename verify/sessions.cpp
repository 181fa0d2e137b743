#include "verify/sessions.hpp"

#include <algorithm>
#include <optional>

namespace certicone::verify {

namespace {

/// The program, or a changed copy of it.
class Adjusted {
  public:
    Adjusted(const conic::ConicProgram& original, const Adjust& adjust) : program_(&original) {
        if (!adjust) return;
        copy_ = original;
        adjust(*copy_);
        program_ = &*copy_;
    }
    Adjusted(const Adjusted&) = delete;
    Adjusted& operator=(const Adjusted&) = delete;
    const conic::ConicProgram& operator*() const { return *program_; }
    const conic::ConicProgram* operator->() const { return program_; }

  private:
    std::optional<conic::ConicProgram> copy_;
    const conic::ConicProgram* program_;
};

}  // namespace

void prefer(solvers::Settings& settings, const solvers::Backend& backend, const char* option, const char* value) {
    const auto known = backend.options();
    if (std::any_of(known.begin(), known.end(), [&](const solvers::Option& o) { return o.name == option; }))
        settings.options.try_emplace(option, value);
}

solvers::Settings for_scaled_program(const solvers::Backend& backend, solvers::Settings settings) {
    prefer(settings, backend, "normalize", "0");  // SCS
    // Anderson acceleration saves little here and stalls some networks of large growth (docs/solvers.md).
    prefer(settings, backend, "acceleration_lookback", "0");
    prefer(settings, backend, "simplex_scale_strategy", "0");  // HiGHS: its tolerances hold in the units of the program
    return settings;
}

ValueFunctionSession::ValueFunctionSession(const Network& network, const conic::Parts& parts,
                                           const solvers::Backend& backend, const solvers::Settings& settings,
                                           Adjust adjust)
    : backend_(&backend),
      settings_(for_scaled_program(backend, settings)),
      adjust_(std::move(adjust)),
      value_function_(network, parts),
      scaling_(value_function_) {}

ScaledAnswer ValueFunctionSession::solve(const Vector& x) {
    value_function_.set_point(x);
    const conic::Scaling& scaling = scaling_.at_current_point();
    const Adjusted program(value_function_.program(), adjust_);
    if (workspace_)
        workspace_->update_b(scaling.scaled_b(program->b));
    else
        workspace_ = backend_->open(conic::scaled(*program, scaling), settings_);
    ScaledAnswer answer;
    answer.solution = workspace_->solve();
    answer.program = &workspace_->program();
    answer.scaling = &scaling;
    const Vector y = scaling.unscale_y(answer.solution.y);
    answer.xi = value_function_.multipliers(y);
    answer.squares = value_function_.squares(y);
    answer.constant = program->c0;
    return answer;
}

DualSession::DualSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings,
                         Adjust adjust)
    : backend_(&backend),
      settings_(for_scaled_program(backend, settings)),
      adjust_(std::move(adjust)),
      dual_(network) {}

ScaledAnswer DualSession::solve(const Vector& x) {
    dual_.set_point(x);
    scaling_ = dual_.scaling();
    const Adjusted program(dual_.program(), adjust_);
    if (workspace_)
        workspace_->update_c(scaling_.scaled_c(program->c));
    else
        workspace_ = backend_->open(conic::scaled(*program, scaling_), settings_);
    ScaledAnswer answer;
    answer.solution = workspace_->solve();
    answer.program = &workspace_->program();
    answer.scaling = &scaling_;
    const Vector columns = scaling_.unscale_x(answer.solution.x);
    answer.xi = dual_.multipliers(columns);
    answer.squares = dual_.squares(columns);
    answer.constant = program->c0;
    answer.sign = -1.0;
    return answer;
}

}  // namespace certicone::verify
