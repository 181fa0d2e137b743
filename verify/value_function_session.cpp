#include "verify/value_function_session.hpp"

namespace certicone::verify {

ValueFunctionSession::ValueFunctionSession(const Network& network, const solvers::Backend& backend,
                                           const solvers::Settings& settings)
    : backend_(&backend), settings_(settings), value_function_(network), scaling_(value_function_) {
    // The program is scaled already; SCS's own equilibration undoes that (design §2).
    if (backend.name() == "scs") settings_.options.try_emplace("normalize", "0");
}

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

}  // namespace certicone::verify
