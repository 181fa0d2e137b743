#include "solvers/absent.hpp"
#include "solvers/mosek_fusion.hpp"

namespace certicone::solvers {

const Backend& mosek_fusion_backend() {
    static const AbsentBackend backend("mosek-fusion",
                                       "CMake found no MOSEK distribution (10.2 or 11) with Fusion C++; install one "
                                       "from MOSEK, set MOSEK_ROOT to it, then build again");
    return backend;
}

std::unique_ptr<FusionModel> fusion_model(const conic::ConicProgram&) {
    throw SolverUnavailable("solver 'mosek-fusion': " + mosek_fusion_backend().available().reason);
}

}  // namespace certicone::solvers
