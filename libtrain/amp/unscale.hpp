#pragma once

#include <ATen/core/Tensor.h>

#include "libtrain/runtime/parameters.hpp"

namespace libtrain {

/// Divides all gradients by `scale` (fp32 []) in place and returns whether one was not finite: fp32
/// [] of 0 or 1 on the device of `scale`, undefined when there are no gradients. Does not wait for
/// a device. Sparse gradients are coalesced first, so that sums of duplicate indices count. Throws
/// InvalidOption for fp16 gradients, which cannot hold unscaled values, and then changes nothing.
at::Tensor unscale_gradients(const Parameters& parameters, const at::Tensor& scale);

}  // namespace libtrain
