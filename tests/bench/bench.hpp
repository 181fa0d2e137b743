// The parts of `make bench`.
#pragma once

namespace certicone::bench {

void bench_batch();
void bench_solvers();
void bench_certify();
void bench_inference();
void bench_inference_stress();
void bench_certificates();
void bench_stress();  ///< throws where a check fails

}  // namespace certicone::bench
