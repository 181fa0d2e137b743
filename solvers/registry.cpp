#include <array>

#include "solvers/scs.hpp"
#include "solvers/solver.hpp"

namespace certicone::solvers {

std::span<const Backend* const> backends() {
    static const std::array<const Backend*, 1> all{&scs_backend()};
    return all;
}

}  // namespace certicone::solvers
