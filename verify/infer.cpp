#include "verify/infer.hpp"

#include <Eigen/Cholesky>
#include <chrono>
#include <limits>

#include "geometry/optimal_set.hpp"
#include "verify/sessions.hpp"

namespace certicone::verify {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Whether the units of one query serve for another: none differs by more than a factor of 16.
bool alike(const conic::Scaling& a, const conic::Scaling& b) {
    const auto near = [](double ratio) { return ratio > 1.0 / 16.0 && ratio < 16.0; };
    const Vector rows = a.row.cwiseQuotient(b.row);
    return near(a.primal / b.primal) && near(rows.minCoeff()) && near(rows.maxCoeff());
}

/// Units strictly inside their range, and residuals inside their ball, by more than the solver's noise: the kinks at x.
void name_kinks(const Network& network, double noise, WhiteBoxResult& result) {
    const Multipliers& xi = result.certificate.xi;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        const Vector ub = upper_bound(network, xi.nu, l);
        for (Index i = 0; i < ub.size(); ++i)
            if (xi.nu[l](i) > noise * ub(i) && xi.nu[l](i) < (1.0 - noise) * ub(i))
                result.kinks.emplace_back(static_cast<Index>(l), i);
    }
    for (std::size_t g = 0; g < network.conic.size(); ++g)
        if (xi.r[g].norm() < (1.0 - noise) * network.conic[g].lambda)
            result.zero_modules.push_back(static_cast<Index>(g));
}

}  // namespace

SocpInference::SocpInference(const InferenceProblem& problem, const solvers::Backend& backend,
                             const solvers::Settings& settings)
    : program_(problem), backend_(&backend), settings_(for_scaled_program(backend, settings)) {
    solvers::require_support(backend, program_.program());
}

InferenceAnswer SocpInference::solve(const Vector& y) {
    const auto start = Clock::now();
    program_.set_query(y);
    conic::Scaling scaling = program_.scaling();
    if (workspace_ && alike(scaling, scaling_)) {
        workspace_->update_b(scaling_.scaled_b(program_.program().b));
    } else {
        scaling_ = std::move(scaling);
        workspace_ = backend_->open(conic::scaled(program_.program(), scaling_), settings_);
    }
    const solvers::Solution solution = workspace_->solve();
    InferenceAnswer answer;
    answer.claim = solution.claimed.text;
    answer.result.iterations = solution.claimed.iterations;
    const InferenceProblem& problem = program_.problem();
    const Network& network = *problem.network;
    Vector x = program_.input(scaling_.unscale_x(solution.x)), multipliers = scaling_.unscale_y(solution.y);
    if (solution.claimed.status == solvers::Status::Infeasible) {
        Vector mu = program_.constraint_multipliers(multipliers).cwiseMax(0.0);
        if (const double radius = infeasibility_radius(problem, mu); radius > 0.0) {
            answer.result.infeasible = Infeasibility{std::move(mu), radius};
            answer.milliseconds = milliseconds_since(start);
            return answer;
        }
    }
    // What proves nothing is not repeated: any x and ξ have a gap.
    if (!x.allFinite() || !multipliers.allFinite()) {
        x = y;
        multipliers = Vector::Zero(program_.program().rows());
    }
    Multipliers xi = program_.multipliers(multipliers);
    const Vector mu = program_.constraint_multipliers(multipliers);
    InferenceCertificate& best = answer.result.certificate;
    best = certify_inference(problem, x, xi, mu);
    const auto try_at = [&](const Vector& point) {
        for (std::size_t h = 0; h < network.quadratic.size(); ++h)
            xi.p[h] = network.quadratic[h].alpha * (network.quadratic[h].B * point + network.quadratic[h].e);
        InferenceCertificate found = certify_inference(problem, point, xi, mu);
        if (found.gap < best.gap) best = std::move(found);
    };
    try_at(x);
    const Eigen::LLT<Matrix> factor(problem.Q);
    if (problem.C.rows() == 0 && factor.info() == Eigen::Success)
        try_at(y - factor.solve(readout(network, xi) + problem.q));
    name_kinks(network, 1e-4, answer.result);
    answer.milliseconds = milliseconds_since(start);
    return answer;
}

InferenceAnswer white_box(const InferenceProblem& problem, const WhiteBoxOptions& options) {
    const auto start = Clock::now();
    InferenceAnswer answer;
    answer.result = white_box_inference(problem, options);
    answer.milliseconds = milliseconds_since(start);
    return answer;
}

}  // namespace certicone::verify
