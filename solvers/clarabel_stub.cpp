#include "solvers/absent.hpp"
#include "solvers/clarabel.hpp"

namespace certicone::solvers {

const Backend& clarabel_backend() {
    static const AbsentBackend backend("clarabel",
                                       "CMake found no cargo (1.70 or newer) or not the crates that 'make deps' "
                                       "downloads; see to both, then build again");
    return backend;
}

}  // namespace certicone::solvers
