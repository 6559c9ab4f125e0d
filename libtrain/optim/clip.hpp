#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/parameters.hpp"

namespace libtrain {

/// Scales the gradients of `parameters` so that their joint `norm_type`-norm is at most `max_norm`:
/// multiplies by min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_. Returns the
/// norm before clipping, fp32 [] on the device of the first gradient; 0 when there is none.
///
/// Unlike PyTorch it leaves the gradients untouched when the norm is not finite, computes norms in
/// double (gradients of 1e20 clip right), and never waits for the device but for
/// `error_if_nonfinite`, which throws Error. `norm_type` > 0, infinity for the largest magnitude.
/// Throws InvalidOption for a negative or NaN `max_norm` or another `norm_type`.
LT_API at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm,
                                  double norm_type = 2.0, bool error_if_nonfinite = false);
LT_API at::Tensor clip_grad_norm_(const Parameters& parameters, double max_norm,
                                  double norm_type = 2.0, bool error_if_nonfinite = false);

}  // namespace libtrain
