#pragma once

#include <ATen/core/Tensor.h>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// x * P(x) of every element, with P the normal distribution function: what at::gelu(input)
/// computes. On the CPU, fp32 and bf16, by a kernel of our own: within 4 * 2^-24 * |x|, then
/// rounded to the input's dtype, whatever the number of threads. Elsewhere it is at::gelu.
///
/// Throws Unsupported from a backward with create_graph on the CPU: call at::gelu there.
LT_API at::Tensor gelu(const at::Tensor& input);

}  // namespace libtrain
