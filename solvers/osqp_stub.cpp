#include "solvers/absent.hpp"
#include "solvers/osqp.hpp"

namespace certicone::solvers {

const Backend& osqp_backend() {
    static const AbsentBackend backend(
        "osqp", "CMake did not find OSQP; run 'make deps' or set CMAKE_PREFIX_PATH, then build again");
    return backend;
}

}  // namespace certicone::solvers
