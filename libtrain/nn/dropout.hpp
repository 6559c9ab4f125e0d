#pragma once

#include <ATen/core/Tensor.h>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// While training, zeroes elements with `probability` and multiplies the others by
/// 1 / (1 - probability); otherwise, or with probability 0, returns `input` itself. Nothing but the
/// position of the random stream is kept for backward.
///
/// On the CPU, fp32 and bf16, whether an element is dropped is a function of seed, step, site,
/// sample and its index in the sample (docs/random.md): not of threads, micro-batches or the order
/// of samples. A sample is an index of the first dimension, or the rows the `layout` gives it.
/// Elsewhere at::native_dropout draws from the device's own generator.
///
/// Throws InvalidOption for a probability outside [0, 1] or a layout of other rows than the
/// input's.
LT_API at::Tensor dropout(const at::Tensor& input, double probability, bool training,
                          const PackedLayoutPtr& layout = nullptr);

}  // namespace libtrain
