#include "libtrain/runtime/model_facts.hpp"

#include <c10/core/ScalarType.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include <string>
#include <unordered_set>

namespace libtrain {
namespace {

namespace nn = torch::nn;

template <typename... Kinds>
bool is_any_of(const nn::Module& module) {
  return ((module.as<Kinds>() != nullptr) || ...);
}

bool is_convolution(const nn::Module& module) {
  return is_any_of<nn::Conv1dImpl, nn::Conv2dImpl, nn::Conv3dImpl, nn::ConvTranspose1dImpl,
                   nn::ConvTranspose2dImpl, nn::ConvTranspose3dImpl>(module);
}

bool multiplies(const nn::Module& module) {
  return is_any_of<nn::LinearImpl, nn::MultiheadAttentionImpl, nn::RNNImpl, nn::LSTMImpl,
                   nn::GRUImpl, nn::RNNCellImpl, nn::LSTMCellImpl, nn::GRUCellImpl>(module);
}

void add_weights(ModelWeights& weights, const nn::Module& module) {
  for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) {
    if (parameter.dim() > 2 && is_convolution(module)) {
      weights.convolutions.push_back(parameter);
    } else if (parameter.dim() == 2 && multiplies(module)) {
      weights.gemms.push_back(parameter);
    }
  }
  weights.has_attention = weights.has_attention || is_any_of<nn::MultiheadAttentionImpl>(module);
}

void count(std::vector<ShapeCount>& shapes, const at::Tensor& tensor) {
  add_to(shapes,
         {std::string(c10::getDtypeNames(tensor.scalar_type()).first), tensor.sizes().vec(), 1});
}

std::vector<ShapeCount> counted(const std::vector<at::Tensor>& tensors) {
  std::vector<ShapeCount> shapes;
  for (const at::Tensor& tensor : tensors) {
    count(shapes, tensor);
  }
  return shapes;
}

}  // namespace

ModelFacts describe_weights(const ModelWeights& weights) {
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t trainable = 0;
  std::vector<ShapeCount> shapes;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const at::Tensor& parameter : weights.parameters) {
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
      continue;
    }
    elements += parameter.numel();
    bytes += static_cast<int64_t>(parameter.nbytes());
    trainable += parameter.requires_grad() ? parameter.numel() : 0;
    count(shapes, parameter);
  }
  ModelFacts facts;
  facts.parameters = elements;
  facts.parameter_bytes = bytes;
  facts.trainable = trainable;
  facts.parameter_shapes = shapes;
  facts.gemms = counted(weights.gemms);
  facts.convolutions = counted(weights.convolutions);
  facts.has_convolutions = !weights.convolutions.empty();
  if (weights.has_attention) {
    facts.has_attention = true;
  }
  return facts;
}

ModelFacts describe_model(const nn::Module& module) {
  ModelWeights weights{.parameters = module.parameters()};
  add_weights(weights, module);
  std::unordered_set<const nn::Module*> seen;
  for (const auto& part : module.modules(/*include_self=*/false)) {
    if (seen.insert(part.get()).second) {
      add_weights(weights, *part);
    }
  }
  ModelFacts facts = describe_weights(weights);
  facts.name = module.name();
  return facts;
}

}  // namespace libtrain
