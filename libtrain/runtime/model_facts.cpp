#include "libtrain/runtime/model_facts.hpp"

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>

#include <unordered_set>

namespace libtrain {
namespace {

bool is_convolution(const torch::nn::Module& module) {
  return module.as<torch::nn::Conv1dImpl>() != nullptr ||
         module.as<torch::nn::Conv2dImpl>() != nullptr ||
         module.as<torch::nn::Conv3dImpl>() != nullptr ||
         module.as<torch::nn::ConvTranspose1dImpl>() != nullptr ||
         module.as<torch::nn::ConvTranspose2dImpl>() != nullptr ||
         module.as<torch::nn::ConvTranspose3dImpl>() != nullptr;
}

}  // namespace

ModelFacts describe_parameters(const std::vector<at::Tensor>& parameters) {
  int64_t elements = 0;
  int64_t bytes = 0;
  int64_t trainable = 0;
  std::unordered_set<const c10::TensorImpl*> seen;
  for (const at::Tensor& parameter : parameters) {
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
      continue;
    }
    elements += parameter.numel();
    bytes += static_cast<int64_t>(parameter.nbytes());
    trainable += parameter.requires_grad() ? parameter.numel() : 0;
  }
  ModelFacts facts;
  facts.parameters = elements;
  facts.parameter_bytes = bytes;
  facts.trainable = trainable;
  return facts;
}

ModelFacts describe_model(const torch::nn::Module& module) {
  bool has_convolutions = is_convolution(module);
  for (const auto& part : module.modules(/*include_self=*/false)) {
    has_convolutions = has_convolutions || is_convolution(*part);
  }
  ModelFacts facts = describe_parameters(module.parameters());
  facts.name = module.name();
  facts.has_convolutions = has_convolutions;
  return facts;
}

}  // namespace libtrain
