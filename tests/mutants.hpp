// Wrong implementations of what the checks certify: closed forms, programs and solvers, each with one fault. A check is
// worth what it rejects; tests/test_mutants.cpp asserts that every one is rejected, and by which checks.
#pragma once

#include <functional>
#include <memory>

#include "solvers/solver.hpp"
#include "verify/subject.hpp"

namespace certicone::test {

struct Mutant {
    std::string name;
    std::vector<std::string> ids;  ///< of the checks that must catch it, each of them
    /// Puts the fault into the table of functions; empty for a wrong solver.
    std::function<void(const Network&, verify::Subject&)> change = {};
    /// A wrong solver; none where the real one is used.
    std::shared_ptr<const solvers::Backend> solver = {};
};

/// The solvers behind the real one and every wrong one.
inline constexpr std::string_view kSolver = "highs+clarabel";

std::vector<Mutant> mutants();

}  // namespace certicone::test
