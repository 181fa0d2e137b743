// certicone_bench [batch] [certificates] [certify] [inference] [solvers]: all parts, or those named.
#include <fmt/format.h>

#include <map>
#include <string>

#include "bench.hpp"
#include "support/blas.hpp"

int main(int argc, char** argv) {
    certicone::use_one_blas_thread();
    const std::map<std::string, void (*)()> parts{{"batch", certicone::bench::bench_batch},
                                                  {"certificates", certicone::bench::bench_certificates},
                                                  {"certify", certicone::bench::bench_certify},
                                                  {"inference", certicone::bench::bench_inference},
                                                  {"solvers", certicone::bench::bench_solvers}};
    for (int k = 1; k < argc; ++k) {
        if (!parts.contains(argv[k])) {
            fmt::print(stderr, "no part is called '{}'\n", argv[k]);
            return 2;
        }
    }
    for (const auto& [name, part] : parts) {
        bool wanted = argc == 1;
        for (int k = 1; k < argc; ++k)
            wanted = wanted || name == argv[k];
        if (wanted) part();
    }
}
