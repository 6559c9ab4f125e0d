#pragma once

#include <ATen/core/Tensor.h>

namespace libtrain::sim {

/// `aten::native_dropout` with the device's random numbers: the CPU's kernel takes no generator and
/// draws from the host's. Returns the result and the mask of what stays.
std::tuple<at::Tensor, at::Tensor> native_dropout(const at::Tensor& input, double p,
                                                  std::optional<bool> train);

}  // namespace libtrain::sim
