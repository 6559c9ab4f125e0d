#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace libtrain {

/// Dense real tensors over the elements of gradients, views where possible: complex ones as real,
/// the values of sparse ones with duplicate indices summed, undefined and empty ones left out.
std::vector<at::Tensor> norm_parts(const std::vector<at::Tensor>& gradients);

/// Joint norm of norm_parts() as a double [] on the device of the first, without waiting for it.
at::Tensor norm_on_device(const std::vector<at::Tensor>& parts, double norm_type);

}  // namespace libtrain
