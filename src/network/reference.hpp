// Reference values in a network file: f at a few points, as the code that trained the network computes it. They are checked
// when the file is read, and not kept: a converter that misread a layout is found out at once.
#pragma once

#include <string>

#include "network/network.hpp"

namespace certicone {

/// InputError "source: reference value 3 is …, but f there is …" where they differ by more than 1e-9 of the sizes of the terms
/// of f (single precision is not enough: convert the weights, then compute in doubles), or where the shapes do not fit.
/// `points` has one row a point.
void check_reference(const Network& network, const Matrix& points, const Vector& values, const std::string& source);

}  // namespace certicone
