#include "verify/examiner.hpp"

#include <fmt/format.h>

#include "formats/clarabel_json.hpp"
#include "geometry/optimal_set.hpp"
#include "geometry/rounding.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "verify/branch_checks.hpp"
#include "verify/certificate.hpp"
#include "verify/duality_checks.hpp"
#include "verify/exact_checks.hpp"
#include "verify/first_order_checks.hpp"
#include "verify/interrupt.hpp"
#include "verify/optimal_set_checks.hpp"
#include "verify/referee.hpp"
#include "verify/relu_block.hpp"
#include "verify/rigorous_checks.hpp"
#include "verify/sessions.hpp"
#include "verify/set_checks.hpp"
#include "verify/support_checks.hpp"

namespace certicone::verify {

namespace {

/// What is true of the pattern that x has, and as a rule not of one that a tolerance makes of it.
constexpr const char* kExactChecks[] = {
    "theorem1.support",           "theorem1.slope",
    "lemma1.complementarity",     "proposition1.membership",
    "proposition1.factorisation", "proposition1.nonuniqueness_sources",
    "corollary1.min_norm",        "theorem2.subgradient",
    "theorem2.directional",       "theorem2.subdifferential",
    "theorem2.decomposition",     "proposition3.closed_graph",
};

/// Claims about the whole network of which a solver without cones has the ReLU block alone.
constexpr const char* kWholeChecks[] = {"theorem1.strong_duality", "theorem1.support", "proposition1.membership"};

/// One solver's programs, set up once: those of the network or, where it has no cones for the modules, of the ReLU block.
struct Solver {
    std::string name;
    const solvers::Backend& backend;
    std::unique_ptr<const ReluBlock> block;
    ValueFunctionSession value_function;
    DualSession dual;

    Solver(const std::string& name_in, const Network& network, const CertifyOptions& options, const Subject& subject)
        : name(name_in),
          backend(*options.find_backend(name_in)),
          block(relu_block_for(network, backend)),
          value_function(block ? block->network : network, backend, options.settings, subject.value_function_program),
          dual(block ? block->network : network, backend, options.settings, subject.dual_program) {}
    std::string primal_name() const { return block ? name + " (ReLU block)" : name; }
    std::string dual_name() const { return name + (block ? " (dual program, ReLU block)" : " (dual program)"); }
};

/// Whether some zero of the pattern is the user's tolerance and not a fact.
bool zeros_by_tolerance(const LocalState& state) {
    for (std::size_t l = 0; l < state.pattern.sign.size(); ++l)
        for (Index i = 0; i < state.pattern.sign[l].size(); ++i)
            if (state.pattern.sign[l](i) == 0 && state.trace.a[l](i) != 0.0) return true;
    for (std::size_t g = 0; g < state.pattern.conic_zero.size(); ++g)
        if (state.pattern.conic_zero[g] && state.conic_norm(static_cast<Index>(g)) != 0.0) return true;
    return false;
}

}  // namespace

struct Examiner::Data {
    const Network& network;
    const CertifyOptions& options;
    const Subject subject;
    const Curvature curvature;
    std::optional<ExactCurvature> exact_curvature;
    const Parts parts;
    std::vector<std::unique_ptr<Solver>> solvers;
    std::unique_ptr<Referee> referee;

    Data(const Network& network_in, const CertifyOptions& options_in, const Subject& subject_in)
        : network(network_in), options(options_in), subject(subject_in), curvature(network_in), parts(network_in) {
        if (options.level == Level::Exact || options.certificate) exact_curvature.emplace(network_in);
    }

    void examine_closed_forms(const Point& point, Generator& random, PointReport& report) const;
    void examine_beyond_range(const LocalState& state, const std::string& beyond, Generator& random,
                              PointReport& report) const;
    bool examine_by_solver(const Point& point, Solver& solver, Generator& random, PointReport& report,
                           std::vector<Multipliers>& proved) const;
    void dump(const conic::ConicProgram& program, const char* kind, Index index, const std::string& solver) const;
};

std::string_view to_string(Level level) {
    constexpr std::string_view names[] = {"numeric", "rigorous", "exact"};
    return names[static_cast<std::size_t>(level)];
}

std::string default_solver() {
    const char* pair = "highs+clarabel";
    return solvers::backend(pair).enabled().ready ? pair : "scs";
}

void require_usable(const CertifyOptions& options) {
    solvers::validate(options.settings);
    for (const std::string& name : options.solvers)
        solvers::require_usable(*options.find_backend(name));
}

PointReport not_examined(Index index, const Vector& x, const CertifyOptions& options, const std::string& reason) {
    PointReport report;
    report.index = index;
    report.x = x;
    report.examined = false;
    report.findings.push_back(skipped("theorem1.strong_duality", "closed form", reason));
    for (const std::string& name : options.solvers)
        report.findings.push_back(skipped("theorem1.strong_duality", name, reason));
    return report;
}

Examiner::Examiner(const Network& network, const CertifyOptions& options, const Subject& subject) {
    require_usable(options);
    data_ = std::make_unique<Data>(network, options, subject);
    for (const std::string& name : options.solvers)
        data_->solvers.push_back(std::make_unique<Solver>(name, network, options, data_->subject));
    if (options.referee) data_->referee = std::make_unique<Referee>(network);
}

Examiner::~Examiner() = default;

void Examiner::Data::examine_closed_forms(const Point& point, Generator& random, PointReport& report) const {
    const auto add = [&](Finding finding) { report.findings.push_back(std::move(finding)); };
    std::vector<Multipliers> elements = point.elements;
    elements.push_back(point.canonical);
    add(check_support(point, elements, "closed form"));
    add(check_slope(point));
    add(check_complementarity(point));
    add(check_factorisation(point, elements));
    add(check_nonuniqueness_sources(point, point.elements));
    add(check_elementwise_minimum(point, point.elements));
    add(check_subgradient(point, point.elements));
    add(check_directional(point));
    add(check_subdifferential(point, point.elements));
    add(parts.check_decomposition(point));
    add(check_closed_graph(point));
    if (!point.nondegenerate()) return;
    add(check_gradient(point));
    const Branch branch(point, random);
    add(check_branch(point, branch));
    add(check_branch_decomposition(point, branch));
    add(check_branch_gradient(point, branch));
    const Matrix hessian = subject.hessian(curvature, point.state);
    add(check_hessian_by_autodiff(point, hessian));
    add(check_hessian_by_differences(point, hessian));
    add(check_psd(point, hessian));
}

/// Outside the range of the bounds nothing but exact arithmetic decides.
void Examiner::Data::examine_beyond_range(const LocalState& state, const std::string& beyond, Generator& random,
                                          PointReport& report) const {
    const std::string reason = fmt::format("outside the range of the bounds: {}", beyond);
    report.findings.push_back(skipped("theorem1.strong_duality", "closed form", reason));
    for (const char* id : kExactChecks)
        report.findings.push_back(skipped(id, "closed form", reason));
    for (const auto& solver : solvers)
        report.findings.push_back(skipped("theorem1.strong_duality", solver->name, reason));
    if (!exact_curvature) return;
    const ExactPoint exact = exact_point(network, state.x);
    if (options.level == Level::Exact) check_exactly(state, exact, random, report.findings);
    if (options.certificate)
        report.certificate = certificate_point(exact, state.x, *exact_curvature, {}, {}, options.bits);
}

void Examiner::Data::dump(const conic::ConicProgram& program, const char* kind, Index index,
                          const std::string& solver) const {
    if (options.dump.empty()) return;
    write_file_atomically(fmt::format("{}.{}.point{}.{}.json", options.dump, kind, index, solver),
                          [&](std::ostream& out) { formats::write_clarabel_json(out, program); });
}

/// False when the user interrupted the solver.
bool Examiner::Data::examine_by_solver(const Point& whole, Solver& solver, Generator& random, PointReport& report,
                                       std::vector<Multipliers>& proved) const {
    const auto add = [&](Finding finding) { report.findings.push_back(std::move(finding)); };
    std::optional<Point> part;
    if (solver.block) {
        Generator own = random;  // what other solvers draw does not depend on this one
        const Network& block = solver.block->network;
        part.emplace(block, subject, solver.block->curvature, subject.evaluate(block, whole.state.x, options.tolerance),
                     own);
    }
    const Point& point = part ? *part : whole;
    const Vector& x = point.state.x;
    const ScaledAnswer primal = solver.value_function.solve(x);
    dump(*primal.program, "value-function", report.index, solver.name);
    if (primal.solution.claimed.status == solvers::Status::Interrupted) return false;
    const conic::ValueFunction& value_function = solver.value_function.value_function();
    const Finding primal_duality =
        check_solver_duality(point, {value_function.primal(point.state), value_function.dual(point.canonical)}, primal,
                             options.settings, solver.primal_name());
    add(primal_duality);

    const ScaledAnswer dual = solver.dual.solve(x);
    dump(*dual.program, "dual", report.index, solver.name);
    if (dual.solution.claimed.status == solvers::Status::Interrupted) return false;
    const conic::DualProgram& dual_program = solver.dual.dual_program();
    const Finding dual_duality =
        check_solver_duality(point, {dual_program.primal(point.canonical), dual_program.dual(point.state)}, dual,
                             options.settings, solver.dual_name());
    add(dual_duality);

    for (const auto& [answer, duality] : {std::pair{&primal, &primal_duality}, std::pair{&dual, &dual_duality}}) {
        if (options.level != Level::Numeric)
            check_rigorous_solver(point, *answer, duality->bound, duality->solver, report.findings);
        if (options.certificate && !part && is_finite(answer->xi))
            proved.push_back(repair_exactly(network, answer->xi));
    }

    const Multipliers feasible[] = {repair_to_feasible(point.network, primal.xi),
                                    repair_to_feasible(point.network, dual.xi)};
    add(check_support(point, feasible, solver.primal_name()));
    add(check_complementarity(point, feasible[0], solver.primal_name()));
    for (const auto& [answer, name] : {std::pair{&primal, solver.primal_name()}, std::pair{&dual, solver.dual_name()}})
        add(check_membership(point.network, point.state, point.canonical, answer->xi, name));
    if (part)
        for (const char* id : kWholeChecks)
            add(skipped(id, solver.name, fmt::format("{} {}", solver.name, solver.block->reason)));

    SetChecks sets(whole, solver.backend, options.settings, solver.name);
    add(sets.check_min_norm());
    add(sets.check_directional());
    if (whole.nondegenerate()) add(sets.check_uniqueness(random));
    return true;
}

PointReport Examiner::examine(Index index, const Vector& x) {
    Data& data = *data_;
    PointReport report;
    report.index = index;
    report.x = x;
    LocalState state;
    try {
        state = data.subject.evaluate(data.network, x, data.options.tolerance);
    } catch (const InputError& error) {
        throw PointError(fmt::format("point {}: {}", index, error.what()));
    }
    report.degenerate_units = state.pattern.degenerate_units();
    report.degenerate_modules = state.pattern.degenerate_modules();
    Generator random(data.options.seed + 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(index + 1));
    if (const auto beyond = beyond_range(data.network, state)) {
        data.examine_beyond_range(state, *beyond, random, report);
        return report;
    }
    const Point point(data.network, data.subject, data.curvature, std::move(state), random);

    report.findings.push_back(check_closed_form_duality(point, data.options.tolerance));
    if (data.options.tolerance > 0.0 && zeros_by_tolerance(point.state)) {
        const char* reason = "a zero of the pattern is by --tolerance, not exact";
        if (data.referee) report.findings.push_back(skipped("theorem1.strong_duality", Referee::kName, reason));
        for (const char* id : kExactChecks)
            report.findings.push_back(skipped(id, "closed form", reason));
        return report;
    }
    if (data.referee) report.findings.push_back(data.referee->check(point.state, point.canonical));
    data.examine_closed_forms(point, random, report);
    if (data.options.level != Level::Numeric) report.findings.push_back(check_rigorous_closed_form(point));
    std::optional<ExactPoint> exact;
    if (data.exact_curvature) exact = exact_point(data.network, x);
    if (data.options.level == Level::Exact) {
        Generator own = random;  // other checks draw the same at every level
        check_exactly(point.state, *exact, own, report.findings);
        check_enclosed(point, *exact, *data.exact_curvature, data.options.bits, report.findings);
    }
    std::vector<Multipliers> proved;  // solvers' multipliers, exactly feasible
    for (const auto& solver : data.solvers)
        if (!data.examine_by_solver(point, *solver, random, report, proved)) {
            take_over_interrupt();
            return not_examined(index, x, data.options, "interrupted");
        }
    if (data.options.certificate)
        report.certificate =
            certificate_point(*exact, x, *data.exact_curvature, point.directions, proved, data.options.bits);
    fail_loose(report, data.options.accuracy);
    return report;
}

}  // namespace certicone::verify
