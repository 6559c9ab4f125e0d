#pragma once

#include <ATen/ops/linear.h>
#include <torch/nn/modules/linear.h>

namespace libtrain {

/// What `layer(input)` computes, by at::linear: input [..., in_features] -> [..., out_features].
///
/// torch::nn::Linear passes weight.t() to the product, a view, and autocast never caches the cast
/// of a view: each forward casts the weight again. at::linear gets the weight itself, which is cast
/// once until the cache is cleared.
inline at::Tensor linear(const torch::nn::LinearImpl& layer, const at::Tensor& input) {
  return at::linear(input, layer.weight, layer.bias);
}

}  // namespace libtrain
