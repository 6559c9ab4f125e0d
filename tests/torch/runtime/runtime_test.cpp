#include "libtrain/runtime/runtime.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>
#include <torch/utils.h>

#include "libtrain/core/error.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/runtime/model_facts.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing_support::on_device;
using testing_support::runtime_on_device;
using testing_support::test_device;

TEST(Runtime, PlansForTheCpuWhereThereIsNoGpu) {
  const Runtime runtime({.threads = 1}, MachineFacts{});
  EXPECT_EQ(runtime.device(), at::Device(at::kCPU));
  EXPECT_EQ(at::get_num_threads(), 1);
}

TEST(Runtime, PreparingCompletesThePlan) {
  Runtime runtime = runtime_on_device({});
  EXPECT_FALSE(runtime.plan().memory_format.has_value());
  const torch::nn::Linear model(2, 3);
  EXPECT_EQ(runtime.prepare(model).ptr(), model.ptr());
  EXPECT_EQ(model->weight.device(), test_device());
  EXPECT_TRUE(runtime.plan().memory_format.has_value());
  EXPECT_THROW(runtime.prepare(std::shared_ptr<torch::nn::LinearImpl>()), InvalidOption);
}

TEST(Runtime, ConvolutionsGetThePlannedMemoryFormat) {
  Runtime runtime = runtime_on_device({.memory_format = MemoryFormat::kChannelsLast});
  const torch::nn::Conv2d model(torch::nn::Conv2dOptions(8, 16, 3));
  const at::Tensor before = model->weight.detach().clone();
  runtime.prepare(model);
  EXPECT_TRUE(model->weight.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(at::equal(model->weight.cpu(), before));
}

TEST(Runtime, OneSeedReachesTorchsGenerators) {
  const Runtime first = runtime_on_device({.seed = 11});
  const at::Tensor expected = at::randn({4}, on_device());
  const Runtime second = runtime_on_device({.seed = 11});
  EXPECT_TRUE(at::equal(at::randn({4}, on_device()), expected));
  EXPECT_EQ(second.seed(), 11U);
}

TEST(Runtime, WithoutASeedTorchsOwnStays) {
  torch::manual_seed(4);
  const Runtime runtime({}, MachineFacts{});
  EXPECT_EQ(runtime.seed(), 4U);
}

TEST(ModelFacts, CountSharedTensorsOnceAndFindConvolutions) {
  const torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(3, 4, 1));
  const torch::nn::Linear linear(4, 2);
  linear->bias.set_requires_grad(false);
  const torch::nn::Sequential model(convolution, linear, linear);
  const ModelFacts facts = describe_model(*model);
  EXPECT_EQ(facts.parameters, 12 + 4 + 8 + 2);
  EXPECT_EQ(facts.trainable, 12 + 4 + 8);
  EXPECT_EQ(facts.parameter_bytes, 26 * 4);
  EXPECT_EQ(facts.has_convolutions, true);
  EXPECT_EQ(describe_model(*linear).has_convolutions, false);
}

TEST(ModelFacts, ListTheWeightsOfLayersByTypeAndShape) {
  const torch::nn::Conv2d convolution(torch::nn::Conv2dOptions(4, 6, 3).groups(2));
  torch::nn::Linear shared(8, 8);
  const torch::nn::Sequential model(shared, torch::nn::Linear(8, 8), shared, convolution,
                                    torch::nn::Embedding(5, 8), torch::nn::GRU(8, 8),
                                    torch::nn::MultiheadAttention(8, 2));
  shared->to(at::kBFloat16);
  const ModelFacts facts = describe_model(*model);
  const std::vector<ShapeCount> gemms{{"bfloat16", {8, 8}, 1},
                                      {"float32", {8, 8}, 2},    // a layer's, attention's last
                                      {"float32", {24, 8}, 3}};  // the GRU's two, attention's first
  EXPECT_EQ(facts.gemms, gemms);
  EXPECT_EQ(facts.convolutions, (std::vector<ShapeCount>{{"float32", {6, 2, 3, 3}, 1}}));
  EXPECT_EQ(facts.has_attention, true);
  EXPECT_THAT(*facts.parameter_shapes, testing::Contains(ShapeCount{"float32", {5, 8}, 1}));
  EXPECT_EQ(parse_model_facts(format_model_facts(facts), "x"), facts);
}

TEST(ModelFacts, DoNotKnowOfAttentionInModulesOfOnesOwn) {
  EXPECT_EQ(describe_model(*torch::nn::Linear(2, 2)).has_attention, std::nullopt);
}

}  // namespace
}  // namespace libtrain
