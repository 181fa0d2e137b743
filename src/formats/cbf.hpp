// CBF, the Conic Benchmark Format: minimise or maximise aᵀx + a0 subject to x ∈ K_VAR, Ax + b ∈ K_CON. It has no names and
// no place for multipliers. What we write is version 3, free variables and one CON cone a block of the program: ACOORD is
// −A and BCOORD is b, so that a CON multiplier is our y.
//
//   F free   L= zero   L+ nonnegative   L- nonpositive   Q second-order   QR rotated, 2 x₀x₁ ≥ ‖rest‖²
#pragma once

#include "formats/instance.hpp"

namespace certicone::formats {

/// The text of an instance, with comments that name it and its rows. The known pair is not written.
std::string to_cbf(const Instance& instance);

/// A CBF file as one of our programs: minimise (a maximum is negated), rows of CON first, then those of K_VAR.
struct CbfModel {
    conic::ConicProgram program;
    bool maximise = false;
    /// Row of the program for each CON row (−1 in a free cone), and 1 or, for L-, −1: a multiplier of the file is
    /// sign · y. Of a maximum, these are the multipliers of minimising the negated objective.
    std::vector<Index> row;
    std::vector<double> sign;

    /// An objective of the program as one of the file.
    double objective(double value) const { return maximise ? -value : value; }
    /// Multipliers of the CON rows from y, and back; `back` derives those of K_VAR from stationarity.
    Vector multipliers(const Vector& y) const;
    Vector back(const Vector& multipliers) const;
};

/// Reads all that we support: VER 1 to 4, OBJSENSE, VAR, CON, OBJACOORD, OBJBCOORD, ACOORD, BCOORD. InputError "source:
/// line 12: …" for everything else: other blocks and cones, wrong counts, entries twice, indices out of range, numbers that
/// are not finite, and dimensions beyond what a file of this size can describe.
CbfModel parse_cbf(std::string_view text, const std::string& source);

/// The same from a file, which may be compressed (.cbf.gz).
CbfModel read_cbf(const std::string& path);

}  // namespace certicone::formats
