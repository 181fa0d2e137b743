#include "verify/sessions.hpp"

namespace certicone::verify {

solvers::Settings for_scaled_program(const solvers::Backend& backend, solvers::Settings settings) {
    if (backend.name() == "scs") {
        settings.options.try_emplace("normalize", "0");
        // Anderson acceleration saves little here and stalls some networks of large growth (docs/solvers.md).
        settings.options.try_emplace("acceleration_lookback", "0");
    }
    return settings;
}

ValueFunctionSession::ValueFunctionSession(const Network& network, const conic::Parts& parts,
                                           const solvers::Backend& backend, const solvers::Settings& settings)
    : backend_(&backend),
      settings_(for_scaled_program(backend, settings)),
      value_function_(network, parts),
      scaling_(value_function_) {}

ScaledAnswer ValueFunctionSession::solve(const Vector& x) {
    value_function_.set_point(x);
    const conic::Scaling& scaling = scaling_.at_current_point();
    if (workspace_)
        workspace_->update_b(scaling.scaled_b(value_function_.program().b));
    else
        workspace_ = backend_->open(conic::scaled(value_function_.program(), scaling), settings_);
    ScaledAnswer answer;
    answer.solution = workspace_->solve();
    answer.program = &workspace_->program();
    answer.scaling = &scaling;
    answer.xi = value_function_.multipliers(scaling.unscale_y(answer.solution.y));
    answer.constant = value_function_.program().c0;
    return answer;
}

DualSession::DualSession(const Network& network, const solvers::Backend& backend, const solvers::Settings& settings)
    : backend_(&backend), settings_(for_scaled_program(backend, settings)), dual_(network) {}

ScaledAnswer DualSession::solve(const Vector& x) {
    dual_.set_point(x);
    scaling_ = dual_.scaling();
    if (workspace_)
        workspace_->update_c(scaling_.scaled_c(dual_.program().c));
    else
        workspace_ = backend_->open(conic::scaled(dual_.program(), scaling_), settings_);
    ScaledAnswer answer;
    answer.solution = workspace_->solve();
    answer.program = &workspace_->program();
    answer.scaling = &scaling_;
    answer.xi = dual_.multipliers(scaling_.unscale_x(answer.solution.x));
    answer.constant = dual_.program().c0;
    answer.sign = -1.0;
    return answer;
}

SeparatedSession::SeparatedSession(const Network& network, const solvers::Backend& linear,
                                   const solvers::Backend& cones, const solvers::Settings& settings) {
    using Parts = conic::Parts;
    blocks_.push_back(std::make_unique<ValueFunctionSession>(network, Parts::relu_backbone(), linear, settings));
    for (std::size_t h = 0; h < network.quadratic.size(); ++h)
        blocks_.push_back(std::make_unique<ValueFunctionSession>(network, Parts::one_quadratic(h), cones, settings));
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (network.conic[g].lambda > 0.0)
            blocks_.push_back(std::make_unique<ValueFunctionSession>(network, Parts::one_conic(g), cones, settings));
}

SeparatedSession::Answer SeparatedSession::solve(const Vector& x) {
    Answer result;
    for (const auto& block : blocks_) {
        const ScaledAnswer answer = block->solve(x);
        if (result.status == solvers::Status::Solved) result.status = answer.solution.claimed.status;
        result.value += answer.objective(answer.solution.measured.primal_objective);
        result.gap += answer.scaling->unscale_objective(answer.solution.measured.gap);
        result.seconds += answer.solution.claimed.seconds;
        if (result.xi.nu.empty()) {
            result.xi = answer.xi;
            continue;
        }
        // Blocks that a program does not hold are zero in its ξ.
        for (std::size_t h = 0; h < answer.xi.p.size(); ++h)
            result.xi.p[h] += answer.xi.p[h];
        for (std::size_t g = 0; g < answer.xi.r.size(); ++g)
            result.xi.r[g] += answer.xi.r[g];
    }
    return result;
}

}  // namespace certicone::verify
