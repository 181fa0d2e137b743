// certicone_bench [batch] [certificates] [certify] [inference] [inference-stress] [solvers] [stress]: all parts, or those named. Exit code 1 where a
// part finds something wrong.
#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <string>

#include "bench.hpp"
#include "support/blas.hpp"

int main(int argc, char** argv) {
    certicone::use_one_blas_thread();
    const std::map<std::string, void (*)()> parts{{"batch", certicone::bench::bench_batch},
                                                  {"certificates", certicone::bench::bench_certificates},
                                                  {"certify", certicone::bench::bench_certify},
                                                  {"inference", certicone::bench::bench_inference},
                                                  {"solvers", certicone::bench::bench_solvers},
                                                  {"stress", certicone::bench::bench_stress},
                                                  {"inference-stress", certicone::bench::bench_inference_stress}};
    for (int k = 1; k < argc; ++k) {
        if (!parts.contains(argv[k])) {
            fmt::print(stderr, "no part is called '{}'\n", argv[k]);
            return 2;
        }
    }
    bool wrong = false;
    for (const auto& [name, part] : parts) {
        bool wanted = argc == 1;
        for (int k = 1; k < argc; ++k)
            wanted = wanted || name == argv[k];
        if (wanted) try {
                part();
            } catch (const std::runtime_error& error) {
                fmt::print(stderr, "{}: {}\n", name, error.what());
                wrong = true;
            }
    }
    return wrong ? 1 : 0;
}
