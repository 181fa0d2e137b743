#include "solvers/absent.hpp"
#include "solvers/highs.hpp"

namespace certicone::solvers {

const Backend& highs_backend() {
    static const AbsentBackend backend(
        "highs", "CMake did not find HiGHS; run 'make deps' or set CMAKE_PREFIX_PATH, then build again");
    return backend;
}

}  // namespace certicone::solvers
