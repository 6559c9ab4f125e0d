#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// L2 norm over all elements of all gradients on the CPU, summed in double in a fixed order: the
/// same bits for any number of threads, and right where squares overflow fp32. Not finite exactly
/// when an element is not finite (fp64 gradients above 1e154 apart). Complex elements count with
/// their magnitude; sparse gradients with the sums of duplicate indices; undefined ones are left
/// out.
LT_API double gradient_norm(const std::vector<at::Tensor>& gradients);

/// The same as a double [] on the device of the first gradient, without waiting for it. Several
/// devices are allowed. Zero on the CPU for an empty list.
LT_API at::Tensor gradient_norm_on_device(const std::vector<at::Tensor>& gradients);

}  // namespace libtrain
