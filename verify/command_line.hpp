#pragma once

namespace certicone::verify {

/// Parses and runs; never throws. Errors become one line on standard error.
int run_command_line(int argc, const char* const* argv);

}  // namespace certicone::verify
