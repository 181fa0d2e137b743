#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "skip.hpp"
#include "support/blas.hpp"

int main(int argc, char** argv) {
    certicone::use_one_blas_thread();  // as the program does
    const int failed = doctest::Context(argc, argv).run();
    return failed != 0 || !certicone::test::anything_left_out() ? failed : certicone::test::kSkipped;
}
