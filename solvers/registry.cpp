#include <array>

#include "solvers/clarabel.hpp"
#include "solvers/highs.hpp"
#include "solvers/mosek_fusion.hpp"
#include "solvers/mosek_runtime.hpp"
#include "solvers/osqp.hpp"
#include "solvers/scs.hpp"
#include "solvers/solver.hpp"

namespace certicone::solvers {

std::span<const Backend* const> backends() {
    static const std::array all{&scs_backend(),  &clarabel_backend(), &highs_backend(),
                                &osqp_backend(), &mosek_backend(),    &mosek_fusion_backend()};
    return all;
}

}  // namespace certicone::solvers
