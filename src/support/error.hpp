// The two ways a request can fail that are not bugs; the command maps each to its exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace certicone {

/// Bad usage or input (exit code 2). One line: file, place, what is wrong, what was expected.
struct InputError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Bad input at one of the points or queries given: the message begins with its index, the file is not known here.
struct PointError : InputError {
    using InputError::InputError;
};

/// A solver that was asked for cannot be used (exit code 3): the reason and what to do.
struct SolverUnavailable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace certicone
