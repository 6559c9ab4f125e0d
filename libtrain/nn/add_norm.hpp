#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/normalization.h>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// norm(dropout(input, probability, training, layout) + residual): what follows attention and
/// feed-forward in a transformer layer. input and residual [..., width] -> the same shape.
///
/// On the CPU, for input in fp32 or bf16 and the rest in fp32, this is one pass over the rows, with
/// arithmetic in fp32 throughout: what dropout gives is not rounded to bf16. The elements dropped
/// are those that dropout() drops. The normalised rows and a factor for each are all that is kept
/// for backward. The same bits for any number of threads. Elsewhere it is what the formula says.
///
/// Throws InvalidOption for a probability outside [0, 1] or a layout of other rows than the
/// input's, and Unsupported from a backward with create_graph on the CPU: write the formula there.
LT_API at::Tensor add_norm(const torch::nn::LayerNormImpl& norm, const at::Tensor& input,
                           const at::Tensor& residual, double probability, bool training,
                           const PackedLayoutPtr& layout = nullptr);

}  // namespace libtrain
