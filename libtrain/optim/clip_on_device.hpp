#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// clip_grad_norm_() for gradients on any device, without waiting for it but for
/// `error_if_nonfinite`: whether there is anything to scale is decided on the device. Scales dense
/// `gradients` in place.
LT_API at::Tensor clip_on_device(const std::vector<at::Tensor>& gradients, double max_norm,
                                 double norm_type, bool error_if_nonfinite);

}  // namespace libtrain
