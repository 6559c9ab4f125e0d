#include "libtrain/nn/linear.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <atomic>
#include <functional>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/runtime/gradient_forms.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::needs_cpu;
using test::test_device;

std::atomic<int> conversions{0};

std::unique_ptr<at::ObserverContext> count_conversion(const at::RecordFunction& function) {
  conversions += std::string_view(function.name()) == "aten::_to_copy" ? 1 : 0;
  return nullptr;
}

/// Casts of four forward passes under one autocast scope, the input's own cast left out.
int casts_of_four_passes(const std::function<at::Tensor(const at::Tensor&)>& forward) {
  const at::Tensor input = test::randn({2, 3}).to(at::kBFloat16);
  conversions = 0;
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(&count_conversion));
  at::autocast::set_autocast_dtype(test_device().type(), at::kBFloat16);
  at::autocast::set_autocast_enabled(test_device().type(), true);
  at::autocast::increment_nesting();
  for (int pass = 0; pass < 4; ++pass) {
    forward(input);
  }
  at::autocast::decrement_nesting();
  at::autocast::set_autocast_enabled(test_device().type(), false);
  at::autocast::clear_cache();
  at::removeCallback(handle);
  return conversions;
}

TEST(Linear, WeightsAreCastOnceInAnAutocastScope) {
  torch::nn::Linear layer(3, 4);
  layer->to(test_device());
  const int casts = casts_of_four_passes([&](const at::Tensor& x) { return linear(*layer, x); });
  EXPECT_EQ(casts, 2);  // weight and bias
  if (test::on_cpu()) {
    EXPECT_GT(casts_of_four_passes([&](const at::Tensor& x) { return layer(x); }), casts);
  }
}

TEST(Linear, EqualsTheModulesOwnForward) {
  torch::nn::Linear layer(3, 4);
  layer->to(test_device());
  torch::nn::Linear without_bias(torch::nn::LinearOptions(3, 4).bias(false));
  without_bias->to(test_device());
  const at::Tensor input = test::randn({5, 3});
  test::expect_near(linear(*layer, input), layer(input), 1e-6);
  test::expect_near(linear(*without_bias, input), without_bias(input), 1e-6);
}

struct AutocastBf16 {
  AutocastBf16() {
    at::autocast::set_autocast_dtype(test_device().type(), at::kBFloat16);
    at::autocast::set_autocast_enabled(test_device().type(), true);
  }
  ~AutocastBf16() {
    at::autocast::set_autocast_enabled(test_device().type(), false);
    at::autocast::clear_cache();
  }
  AutocastBf16(const AutocastBf16&) = delete;
  AutocastBf16& operator=(const AutocastBf16&) = delete;
};

/// Three layers of different width on one input, and what their modules give side by side.
class JoinedLinear : public testing::Test {
 protected:
  void SetUp() override {
    at::manual_seed(5);
    layers_ = {torch::nn::Linear(6, 4), torch::nn::Linear(6, 1), torch::nn::Linear(6, 3)};
    for (auto& layer : layers_) {
      layer->to(test_device());
    }
    input_ = test::randn({7, 6});
    grad_ = test::randn({7, 8});
  }

  using Forward = std::function<at::Tensor(const at::Tensor&)>;

  Forward joined() {
    return [this](const at::Tensor& x) { return joined_linear(layers_, x); };
  }
  Forward modules() {
    return [this](const at::Tensor& x) {
      return at::cat({layers_[0](x), layers_[1](x), layers_[2](x)}, -1);
    };
  }
  /// Output, and gradients of input, weights and biases.
  std::vector<at::Tensor> run(const Forward& forward) {
    for (auto& layer : layers_) {
      layer->zero_grad();
    }
    const test::NoHostWait while_running;
    const at::Tensor x = test::leaf(input_, at::kFloat);
    const at::Tensor out = forward(x);
    out.backward(grad_.to(out.scalar_type()));
    std::vector<at::Tensor> results{out, x.grad()};
    for (auto& layer : layers_) {
      results.push_back(layer->weight.grad());
      results.push_back(layer->bias.grad());
    }
    return results;
  }

  std::vector<torch::nn::Linear> layers_;
  at::Tensor input_, grad_;
};

TEST_F(JoinedLinear, EqualsTheModulesSideBySide) {
  const auto expected = run(modules());
  const auto actual = run(joined());
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    test::expect_near(actual[i], expected[i], 2e-6);  // sums of at most eight products
  }
}

/// Rounding to bf16 is 2^-9 of sums of up to eight products of numbers of about N(0, 1).
TEST_F(JoinedLinear, EqualsTheModulesUnderAutocast) {
  const auto expected = run(modules());
  const AutocastBf16 autocast;
  const auto actual = run(joined());
  EXPECT_EQ(actual[0].scalar_type(), at::kBFloat16);
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(i);
    test::expect_near(actual[i], expected[i], 0.05);
    EXPECT_TRUE(i == 0 || actual[i].scalar_type() == at::kFloat);
  }
}

TEST_F(JoinedLinear, LeavesGradientsAsComputedWhereTheReaderTakesThem) {
  if (needs_cpu("gradients in bf16")) {
    return;
  }
  const AutocastBf16 autocast;
  const auto fp32 = run(joined());
  const GradientFormsScope forms({.computed = true});
  const auto actual = run(joined());
  for (size_t i = 2; i < actual.size(); i += 2) {
    EXPECT_EQ(actual[i].scalar_type(), at::kBFloat16);
    test::expect_same_bits(actual[i].to(at::kFloat), fp32[i]);
    EXPECT_EQ(actual[i + 1].scalar_type(), at::kFloat) << "a bias";
  }
}

TEST_F(JoinedLinear, GivesTheEngineAGradientThatAHookOrAnOtherGradientWaitsFor) {
  const AutocastBf16 autocast;
  const GradientFormsScope forms({.computed = true});
  int calls = 0;
  layers_[0]->weight.register_hook([&](const at::Tensor& gradient) {
    ++calls;
    EXPECT_EQ(gradient.scalar_type(), at::kFloat);
  });
  run(joined());
  EXPECT_EQ(calls, 1);
  const at::Tensor once = layers_[0]->weight.grad().clone();
  joined_linear(layers_, input_).backward(grad_.to(at::kBFloat16));
  test::expect_near(layers_[0]->weight.grad(), once * 2, 1e-6);
  const at::Tensor out = joined_linear(layers_, input_);
  const at::Tensor asked =
      torch::autograd::grad({out}, {layers_[1]->weight}, {grad_.to(at::kBFloat16)})[0];
  EXPECT_EQ(asked.scalar_type(), at::kFloat);
}

TEST_F(JoinedLinear, FrozenPartsGetNoGradient) {
  layers_[1]->weight.set_requires_grad(false);
  layers_[2]->bias.set_requires_grad(false);
  joined_linear(layers_, input_).backward(grad_);
  EXPECT_FALSE(layers_[1]->weight.grad().defined());
  EXPECT_FALSE(layers_[2]->bias.grad().defined());
  EXPECT_TRUE(layers_[1]->bias.grad().defined());
}

TEST_F(JoinedLinear, TakesInputsOfAnyDimension) {
  const at::Tensor x = input_.view({7, 1, 6});
  test::expect_near(joined_linear(layers_, x), modules()(x), 2e-6);
  test::expect_near(joined_linear(layers_, input_[0]), modules()(input_[0]), 2e-6);
  EXPECT_EQ(joined_linear(layers_, at::zeros({0, 6}, test::on_device())).sizes(),
            (std::vector<int64_t>{0, 8}));
}

TEST_F(JoinedLinear, RefusesWhatDoesNotFit) {
  EXPECT_THROW(joined_linear({}, input_), InvalidOption);
  EXPECT_THROW(joined_linear(layers_, at::zeros({2, 5}, test::on_device())), InvalidOption);
  EXPECT_THROW(joined_linear({layers_[0], torch::nn::Linear(5, 2)}, input_), InvalidOption);
  EXPECT_THROW(
      joined_linear({layers_[0], torch::nn::Linear(torch::nn::LinearOptions(6, 2).bias(false))},
                    input_),
      InvalidOption);
}

TEST_F(JoinedLinear, RefusesASecondDerivative) {
  if (needs_cpu("what its kernels cannot")) {
    return;
  }
  const at::Tensor out = joined_linear(layers_, input_);
  EXPECT_THROW(torch::autograd::grad({out}, {layers_[0]->weight}, {grad_}, /*retain_graph=*/true,
                                     /*create_graph=*/true),
               Unsupported);
}

TEST(LayoutForProducts, IsFilledUnderAutocastAlone) {
  const PackedLayoutPtr layout = test::layout_of({20, 30});
  EXPECT_EQ(layout_for_products(layout, test_device()), layout);
  const AutocastBf16 autocast;
  EXPECT_EQ(layout_for_products(layout, test_device())->rows(), 52);
}

}  // namespace
}  // namespace libtrain
