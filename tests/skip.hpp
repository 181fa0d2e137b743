// What a machine lacks is shown, never passed over. A test program in which something was left out and nothing failed ends
// with kSkipped, which CTest shows as skipped (SKIP_RETURN_CODE); a failure wins. In CI (the environment variable CI) what
// `make deps` installs must be there: its absence is a failure.
#pragma once

#include <string>
#include <string_view>

namespace certicone::test {

constexpr int kSkipped = 77;

/// Whether `make deps` installs the solver, or both of a pair, on this machine.
bool installed_by_deps(std::string_view solver);

/// Whether the solver can be used; where not, the case that asks is left out.
bool usable(std::string_view solver);

/// The same for MOSEK's judgement.
bool referee_usable();

/// Notes that something is left out, and fails in CI where it `must_be_there`.
void left_out(const std::string& what, const std::string& reason, bool must_be_there);

/// Whether left_out() was called.
bool anything_left_out();

}  // namespace certicone::test
