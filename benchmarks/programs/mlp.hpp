#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <string>

namespace benchmarks {

/// 64-128-128-10 with ReLU; parameters named as in torch.nn.Sequential.
class MlpImpl : public torch::nn::Module {
 public:
  MlpImpl();
  /// [n, 64] -> [n, 10]
  at::Tensor forward(const at::Tensor& x);

 private:
  torch::nn::Linear first_;
  torch::nn::Linear second_;
  torch::nn::Linear third_;
};
TORCH_MODULE(Mlp);

/// What the network is trained on: one batch, over and over.
struct MlpStart {
  Mlp model;
  at::Tensor x;  ///< [32, 64]
  at::Tensor y;  ///< int64 [32]
};

/// Weights and batch out of a safetensors file.
MlpStart read_mlp(const std::string& file);

}  // namespace benchmarks
