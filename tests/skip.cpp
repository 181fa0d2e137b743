#include "skip.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "solvers/mosek_runtime.hpp"
#include "solvers/solver.hpp"

namespace certicone::test {

namespace {

bool left_out_before = false;

bool in_ci() {
    const char* ci = std::getenv("CI");
    return ci != nullptr && *ci != '\0';
}

}  // namespace

bool installed_by_deps(std::string_view solver) {
    if (const std::size_t plus = solver.find('+'); plus != std::string_view::npos)
        return installed_by_deps(solver.substr(0, plus)) && installed_by_deps(solver.substr(plus + 1));
    return solver == "scs" || solver == "clarabel" || solver == "highs" || solver == "osqp";
}

bool usable(std::string_view solver) {
    const solvers::Readiness found = solvers::backend(solver).enabled();
    if (!found.ready) left_out("solver " + std::string(solver), found.reason, installed_by_deps(solver));
    return found.ready;
}

bool referee_usable() {
    const solvers::Readiness found = solvers::mosek::runtime();
#if defined(__x86_64__)
    constexpr bool pinned = true;
#else
    constexpr bool pinned = false;  // solvers/deps/mosek.txt has no library for this machine
#endif
    if (!found.ready) left_out("the referee", found.reason, pinned);
    return found.ready;
}

void left_out(const std::string& what, const std::string& reason, bool must_be_there) {
    left_out_before = true;
    MESSAGE(what << " is left out: " << reason);
    if (must_be_there && in_ci()) FAIL_CHECK("in CI " << what << " must be there: " << reason);
}

bool anything_left_out() { return left_out_before; }

}  // namespace certicone::test
