// The BLAS that Eigen calls for large products, as far as results and their speed depend on it.
#pragma once

#include <string>

namespace certicone {

/// What OpenBLAS says of itself (version, build, kernel), another library's name, or that Eigen's own kernels are used.
std::string blas_name();

/// The kernel that runs on this processor; OPENBLAS_CORETYPE asks OpenBLAS for another.
std::string blas_kernel();

/// Points run in parallel, matrix products do not: a BLAS with threads of its own would oversubscribe the cores and make
/// the last digits depend on their number.
void use_one_blas_thread();

}  // namespace certicone
