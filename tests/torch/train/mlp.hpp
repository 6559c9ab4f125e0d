#pragma once

#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <vector>

#include "libtrain/runtime/batch.hpp"
#include "libtrain/runtime/runtime.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain::testing_support {

/// Two layers, 64 wide, with weights from `seed`, on the device of this process.
inline torch::nn::Sequential make_mlp(uint64_t seed = 1) {
  torch::manual_seed(seed);
  torch::nn::Sequential model(torch::nn::Linear(16, 64), torch::nn::ReLU(),
                              torch::nn::Linear(64, 4));
  model->to(test_device());
  return model;
}

/// Batches of `samples` on the device of this process, the same for every call.
inline std::vector<Batch> make_batches(int64_t count, int64_t samples) {
  torch::manual_seed(2);
  std::vector<Batch> batches;
  for (int64_t i = 0; i < count; ++i) {
    batches.push_back(Batch::stacked({{"x", at::randn({samples, 16})},
                                      {"y", at::randint(4, {samples}, at::kLong)}})
                          .to(test_device()));
  }
  return batches;
}

inline at::Tensor mlp_loss(torch::nn::Sequential& model, const Batch& batch) {
  return torch::nn::functional::cross_entropy(model->forward(batch.at("x")), batch.at("y"));
}

/// A runtime on the device of this process, with what a test asks for.
inline Runtime make_runtime(PrecisionMode precision = PrecisionMode::kFp32,
                            int64_t accumulate = 1) {
  return runtime_on_device(
      {.precision = precision, .threads = 1, .accumulate = accumulate, .seed = 3});
}

/// What TrainerOptions::values_on_device may be here: only the CPU has a choice.
inline std::vector<bool> values_on_device() {
  return on_cpu() ? std::vector<bool>{false, true} : std::vector<bool>{true};
}

inline std::vector<at::Tensor> copies(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& tensor : tensors) {
    out.push_back(tensor.detach().clone());
  }
  return out;
}

}  // namespace libtrain::testing_support
