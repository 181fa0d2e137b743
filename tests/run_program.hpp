// Runs the built program as a user would.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "file_helpers.hpp"
#include "support/file.hpp"

namespace certicone::test {

inline const std::string paper = std::string(CERTICONE_DATA_DIR) + "/paper/";

struct Run {
    int code = -1;  ///< exit code; 128 + signal when it was killed
    std::string out, err;
};

/// `command` as typed in a shell.
inline Run run_command(const std::string& command) {
    const ScratchFolder folder;
    const std::string out = folder / "out", err = folder / "err";
    const int status = std::system(("{ " + command + "; } >" + out + " 2>" + err + " </dev/null").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out), read_file(err)};
}

/// The program with `arguments`.
inline Run run_program(const std::string& arguments) {
    return run_command(std::string(CERTICONE_BINARY) + " " + arguments);
}

/// Puts `content` into a new file of `folder` and returns its path.
inline std::string file_with(const ScratchFolder& folder, const std::string& name, const std::string& content) {
    write_file_atomically(folder / name, content);
    return folder / name;
}

}  // namespace certicone::test
