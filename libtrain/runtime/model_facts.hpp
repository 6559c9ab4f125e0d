#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"

namespace torch::nn {
class Module;
}

namespace libtrain {

/// What a plan needs to know of `module`: sizes, and which kinds of layers it holds. Layers are
/// known by their class: a module of one's own counts for the layers of LibTorch within it, each
/// once. Batches and a forward pass are not looked at, so activation_bytes and static_shapes stay
/// unknown, and has_attention does unless a layer of LibTorch is one.
LT_API ModelFacts describe_model(const torch::nn::Module& module);

/// The weights of a module that is not C++'s.
struct ModelWeights {
  std::vector<at::Tensor> parameters;    ///< a tensor that stands twice counts once
  std::vector<at::Tensor> gemms;         ///< what inputs are multiplied by, out x in features
  std::vector<at::Tensor> convolutions;  ///< likewise, out x in / groups x kernel sizes
  bool has_attention = false;            ///< false where it is not known
};

LT_API ModelFacts describe_weights(const ModelWeights& weights);

}  // namespace libtrain
