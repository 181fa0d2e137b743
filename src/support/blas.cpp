#include "support/blas.hpp"

#include <Eigen/Core>

// Where the BLAS is OpenBLAS. One may be there beside Eigen's own kernels as well: SCS's.
extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
char* openblas_get_config() __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
}

namespace certicone {

/// CERTICONE_BLAS_NAME is the library's file name, empty where Eigen's own kernels are used.
std::string blas_name() {
    const std::string name = CERTICONE_BLAS_NAME, config = openblas_get_config ? openblas_get_config() : "";
    if (name.empty())
        return config.empty() ? "none: Eigen's own kernels" : "none: Eigen's own kernels; for SCS " + config;
    return config.empty() ? name : config;
}

std::string blas_kernel() {
    if (std::string(CERTICONE_BLAS_NAME).empty()) return Eigen::SimdInstructionSetsInUse();
    return openblas_get_corename ? openblas_get_corename() : "unknown";
}

void use_one_blas_thread() {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
}

}  // namespace certicone
