#include "libtrain/runtime/parameters.hpp"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include "libtrain/core/error.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

struct TiedImpl : torch::nn::Module {
  TiedImpl() {
    first = register_module("first", torch::nn::Linear(4, 4));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})));
    frozen = register_module("frozen", torch::nn::Linear(4, 4));
    shared = register_parameter("shared", first->weight);
    for (at::Tensor& parameter : frozen->parameters()) {
      parameter.set_requires_grad(false);
    }
  }
  torch::nn::Linear first{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::nn::Linear frozen{nullptr};
  at::Tensor shared;
};
TORCH_MODULE(Tied);

TEST(Parameters, HoldASharedTensorOnceAndLeaveFrozenOnesOut) {
  Tied module;
  module->to(testing_support::test_device());
  const Parameters parameters = parameters_of(*module);
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters.all()) {
    names.push_back(parameter.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"shared", "first.bias", "norm.weight", "norm.bias"}));
  EXPECT_EQ(parameters.aliases, (std::map<std::string, std::string>{{"first.weight", "shared"}}));
}

TEST(Parameters, GroupsSpareBiasesAndNormsFromWeightDecay) {
  const Parameters parameters = parameter_groups(*Tied(), {.weight_decay = 0.1});
  ASSERT_EQ(parameters.groups.size(), 2U);
  EXPECT_EQ(parameters.groups[0].options.weight_decay, 0.1);
  EXPECT_EQ(parameters.groups[0].parameters.size(), 1U);
  EXPECT_EQ(parameters.groups[1].options.weight_decay, 0.0);
  EXPECT_EQ(parameters.groups[1].parameters.size(), 3U);
  EXPECT_THROW(parameter_groups(*Tied(), {.weight_decay = -0.1}), InvalidOption);
}

}  // namespace
}  // namespace libtrain
