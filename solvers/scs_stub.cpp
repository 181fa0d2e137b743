#include "solvers/absent.hpp"
#include "solvers/scs.hpp"

namespace certicone::solvers {

const Backend& scs_backend() {
    static const AbsentBackend backend(
        "scs", "CMake did not find SCS; run 'make deps' or set CMAKE_PREFIX_PATH, then build again");
    return backend;
}

}  // namespace certicone::solvers
