#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/functional.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <functional>

#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;

/// One encoder layer: attention of 4 heads, feed-forward, norms after, as BERT's.
struct Layer : torch::nn::Module {
  torch::nn::Linear qkv{nullptr}, out{nullptr}, up{nullptr}, down{nullptr};
  torch::nn::LayerNorm first{nullptr}, second{nullptr};
  torch::nn::Embedding words{nullptr};

  Layer() {
    words = register_module("words", torch::nn::Embedding(50, 32));
    qkv = register_module("qkv", torch::nn::Linear(32, 96));
    out = register_module("out", torch::nn::Linear(32, 32));
    up = register_module("up", torch::nn::Linear(32, 64));
    down = register_module("down", torch::nn::Linear(64, 32));
    first = register_module("first", torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})));
    second = register_module("second", torch::nn::LayerNorm(torch::nn::LayerNormOptions({32})));
  }

  /// `tokens` int64 [batch, length]; returns float [batch, length, 32].
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor x = words(tokens);
    const auto heads =
        qkv(x).view({x.size(0), x.size(1), 3, 4, 8}).permute({2, 0, 3, 1, 4}).unbind(0);
    const at::Tensor weights =
        at::softmax(at::matmul(heads[0], heads[1].transpose(-2, -1)) / std::sqrt(8.0), -1);
    const at::Tensor mixed = at::matmul(weights, heads[2]).transpose(1, 2).reshape(x.sizes());
    const at::Tensor y = first(x + out(mixed));
    return second(y + down(at::gelu(up(y))));
  }
};

/// Ten steps of SGD with momentum by plain operators; the parameters and the losses.
std::vector<at::Tensor> train(torch::nn::Module& module, const at::Device& device,
                              const std::function<at::Tensor()>& loss_of) {
  module.to(device);
  std::vector<at::Tensor> velocities, results;
  for (const at::Tensor& parameter : module.parameters()) {
    velocities.push_back(at::zeros_like(parameter));
  }
  for (int step = 0; step < 10; ++step) {
    const at::Tensor loss = loss_of();
    loss.backward();
    results.push_back(loss.detach());
    const c10::NoGradGuard no_grad;
    for (size_t i = 0; i < velocities.size(); ++i) {
      at::Tensor parameter = module.parameters()[i];
      velocities[i].mul_(0.9).add_(parameter.grad());
      parameter.sub_(velocities[i], 0.05);
      parameter.mutable_grad().reset();
    }
  }
  for (const at::Tensor& parameter : module.parameters()) {
    results.push_back(parameter.detach());
  }
  return results;
}

void expect_same(const std::vector<at::Tensor>& expected, const std::vector<at::Tensor>& got) {
  ASSERT_EQ(expected.size(), got.size());
  EXPECT_LT(expected[9].item<float>(), expected[0].item<float>());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(device(), got[i].device());
    EXPECT_TRUE(same_bits(expected[i], got[i]))
        << (i < 10 ? "loss of step " : "parameter ") << i % 10;
  }
  EXPECT_TRUE(races().empty()) << races().front().text();
}

/// A fresh module with the same weights each time.
template <class Module>
std::vector<at::Tensor> train_on(
    const at::Device& device, Module module,
    const std::function<at::Tensor(Module&, const at::Device&)>& loss) {
  uint64_t seed = 0;
  const c10::NoGradGuard no_grad;
  for (at::Tensor parameter : module->parameters()) {
    parameter.copy_(values(parameter.sizes(), ++seed) * 0.2);
  }
  const c10::AutoGradMode grad(true);
  return train(*module, device, [&] { return loss(module, device); });
}

class Training : public testing::Test {
 protected:
  void SetUp() override { test::start_afresh(); }
};

TEST_F(Training, OfAnMlpIsTheCpusBitForBit) {
  const auto run = [](const at::Device& device) {
    torch::nn::Sequential mlp(torch::nn::Linear(12, 24), torch::nn::Functional(at::relu),
                              torch::nn::Linear(24, 1));
    return train_on<torch::nn::Sequential>(device, mlp, [](auto& module, const at::Device& on) {
      const at::Tensor x = values({16, 12}, 100).to(on);
      return module->forward(x).sub(x.sum(1, true)).square().mean();
    });
  };
  expect_same(run(at::kCPU), run(device()));
}

TEST_F(Training, OfATransformerLayerIsTheCpusBitForBit) {
  const auto run = [](const at::Device& device) {
    return train_on<std::shared_ptr<
        Layer>>(device, std::make_shared<Layer>(), [](auto& module, const at::Device& on) {
      const at::Tensor tokens = at::arange(24, at::kLong).mul(7).remainder(50).view({3, 8}).to(on);
      return at::cross_entropy_loss(module->forward(tokens).view({24, 32}),
                                    tokens.view({24}).remainder(32));
    });
  };
  expect_same(run(at::kCPU), run(device()));
}

TEST_F(Training, OfAConvolutionalNetworkIsTheCpusBitForBit) {
  const auto run = [](const at::Device& device) {
    torch::nn::Sequential net(
        torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).stride(2).padding(1)),
        torch::nn::BatchNorm2d(8), torch::nn::Functional(at::relu),
        torch::nn::ConvTranspose2d(torch::nn::ConvTranspose2dOptions(8, 4, 2)));
    return train_on<torch::nn::Sequential>(device, net, [](auto& module, const at::Device& on) {
      return module->forward(values({4, 3, 8, 8}, 100).to(on)).sub(1.0).square().mean();
    });
  };
  expect_same(run(at::kCPU), run(device()));
}

TEST_F(Training, OnTheSecondDevice) {
  torch::nn::Sequential mlp(torch::nn::Linear(4, 1));
  mlp->to(device(1));
  mlp->forward(values({3, 4}, 1).to(device(1))).sum().backward();
  EXPECT_EQ(device(1), mlp->parameters()[0].grad().device());
  EXPECT_TRUE(same_bits(values({3, 4}, 1).sum(0, true), mlp->parameters()[0].grad()));
}

}  // namespace
}  // namespace libtrain::sim
