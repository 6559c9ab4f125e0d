#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>

#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// What `layer(input)` computes: input [..., in_features] -> [..., out_features], in autocast's
/// dtype under autocast.
///
/// On the CPU with fp32 weights this is one node of the graph that casts input and weight once, for
/// forward and backward together. Where the reader of the gradients takes them as they were
/// computed (GradientForms), as in Trainer::step with AdamW, backward leaves the weight's there in
/// autocast's dtype.
///
/// Throws InvalidOption for shapes that do not fit, and Unsupported from a backward with
/// create_graph on the CPU: call the layer itself there.
LT_API at::Tensor linear(const torch::nn::LinearImpl& layer, const at::Tensor& input);

/// The outputs of several layers on one input, side by side in the last dimension, by one product:
/// [..., in_features] -> [..., sum of out_features]. All have a bias or none has.
LT_API at::Tensor joined_linear(const std::vector<torch::nn::Linear>& layers,
                                const at::Tensor& input);

/// The layout to run a model on: with_filler() under the device's autocast, whose 16-bit products
/// are compiled for each number of rows; else `layout` itself.
LT_API PackedLayoutPtr layout_for_products(const PackedLayoutPtr& layout, at::Device device);

}  // namespace libtrain
