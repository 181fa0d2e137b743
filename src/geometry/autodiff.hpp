// Gradient and Hessian by automatic differentiation of the forward template: an oracle that shares no formula with the
// closed forms. Meaningful where f is differentiable; at a kink it returns the branch that `a > 0` selects. Signs are the exact ones.
#pragma once

#include "network/network.hpp"

namespace certicone {

Vector autodiff_gradient(const Network& network, const Vector& x);
Matrix autodiff_hessian(const Network& network, const Vector& x);

}  // namespace certicone
