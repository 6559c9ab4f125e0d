#include "libtrain/state/module_state.hpp"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include "libtrain/core/error.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(3, 4));
    norm = register_module("norm", torch::nn::BatchNorm1d(4));
  }
  torch::nn::Linear first{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

Net make_net() {
  Net net;
  net->to(testing_support::test_device());
  return net;
}

/// As out of a file: on the CPU.
TensorMap copy_of(const TensorMap& tensors) {
  TensorMap out;
  for (const auto& [name, tensor] : tensors) {
    out.emplace(name, tensor.detach().to(at::kCPU, tensor.scalar_type(), false, /*copy=*/true));
  }
  return out;
}

TEST(ModuleState, GoesFromOneModuleToAnother) {
  const Net from = make_net();
  Net to = make_net();
  from->norm->running_mean.fill_(3.0);
  from->first->weight.set_requires_grad(false);
  load_state_dict(*to, copy_of(state_dict(*from)), "memory");
  for (const auto& [name, tensor] : state_dict(*from)) {
    EXPECT_TRUE(at::equal(state_dict(*to).at(name), tensor)) << name;
  }
  EXPECT_TRUE(to->first->weight.requires_grad());
}

TEST(ModuleState, ConvertsFloatingPointValues) {
  Net net = make_net();
  TensorMap half = copy_of(state_dict(*net));
  half["first.weight"] = at::ones({4, 3}, at::kHalf);
  load_state_dict(*net, half, "memory");
  EXPECT_EQ(net->first->weight.scalar_type(), at::kFloat);
  EXPECT_EQ(net->first->weight.sum().item<float>(), 12.0F);
}

TEST(ModuleState, ListsEveryDifferenceAndChangesNothing) {
  Net net = make_net();
  const TensorMap before = copy_of(state_dict(*net));
  TensorMap wrong = copy_of(before);
  wrong.erase("first.bias");
  wrong["first.weight"] = at::ones({4, 4});
  wrong["norm.num_batches_tracked"] = at::ones({});
  wrong["extra"] = at::ones({1});
  wrong["norm.running_mean"] = at::ones({4});
  try {
    load_state_dict(*net, wrong, "model.safetensors");
    FAIL() << "no error";
  } catch (const BadFile& error) {
    EXPECT_THAT(error.what(), HasSubstr("model.safetensors"));
    EXPECT_THAT(error.what(), HasSubstr(R"(missing "first.bias")"));
    EXPECT_THAT(error.what(), HasSubstr(R"("first.weight" has shape [4, 4], expected [4, 3])"));
    EXPECT_THAT(error.what(), HasSubstr("dtype Float, expected Long"));
    EXPECT_THAT(error.what(), HasSubstr(R"(unexpected "extra")"));
  }
  for (const auto& [name, tensor] : before) {
    EXPECT_TRUE(at::equal(state_dict(*net).at(name).cpu(), tensor)) << name;
  }
}

}  // namespace
}  // namespace libtrain
