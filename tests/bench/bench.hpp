// The parts of `make bench`.
#pragma once

namespace certicone::bench {

void bench_batch();
void bench_solvers();

}  // namespace certicone::bench
