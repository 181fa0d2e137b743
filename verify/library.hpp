// The instance library: SOCPs of graded difficulty, each hard in one way that is known, with exact optimal values and known
// dual sets, for trying and benchmarking solvers.
//
//   nondegenerate          10 to 100,000 nonzeros, unique dual
//   degenerate-units       k preactivations exactly zero
//   vanishing-residuals    g second-order cones at their apex
//   growth                 a backbone whose value grows by 10^k, modules of size one beside it
//   nearly-degenerate      a preactivation of 10^−3 … 10^−12: the dual is unique, but hard to tell from a set
//   dual-dimension         dual sets of a given dimension, units and residuals together
//   programs               dual, ReLU backbone, max-readout, min-norm and inference
//
// All weights and points are small dyadic numbers: every preactivation, every b of the program and every zero is exact in
// doubles, in any order of summation.
#pragma once

#include <cstdint>

#include "verify/export_instance.hpp"

namespace certicone::verify {

/// Writes the instances, index.json and index.md into the folder; returns how many. The same seed gives the same bytes.
Index export_library(const ExportOptions& options, std::uint64_t seed);

}  // namespace certicone::verify
