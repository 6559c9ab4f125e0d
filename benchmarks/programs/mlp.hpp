#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <string>
#include <utility>

#include "benchmarks/programs/worker.hpp"

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

/// The work of training it: start() gives a shared pointer to a fresh training with step() and
/// loss(), the last step's.
template <class Start>
Work mlp_work(Json flags, int64_t steps_a_repeat, Start start) {
  const auto timed = start();
  return {.flags = std::move(flags),
          .verify =
              [start](int64_t steps) {
                const auto fresh = start();
                Values losses;
                for (int64_t step = 0; step < steps; ++step) {
                  fresh->step();
                  losses.push_back(fresh->loss());
                }
                return losses;
              },
          .repeat =
              [timed, steps_a_repeat](int64_t) {
                for (int64_t step = 0; step < steps_a_repeat; ++step) {
                  timed->step();
                }
                return Values{};
              }};
}

}  // namespace benchmarks
