#include "verify/command_line.hpp"
#include "verify/interrupt.hpp"

// Points run in parallel, matrix products do not: a BLAS with threads of its own would oversubscribe the cores and make
// the last digits depend on their number.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

int main(int argc, char** argv) {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
    return certicone::verify::end_process(certicone::verify::run_command_line(argc, argv));
}
