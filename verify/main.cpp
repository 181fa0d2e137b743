#include "support/blas.hpp"
#include "verify/command_line.hpp"
#include "verify/interrupt.hpp"

int main(int argc, char** argv) {
    certicone::use_one_blas_thread();
    return certicone::verify::end_process(certicone::verify::run_command_line(argc, argv));
}
