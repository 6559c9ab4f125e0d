#include "libtrain/nn/linear.hpp"

#include <ATen/autocast_mode.h>
#include <ATen/ops/randn.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string_view>

#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

std::atomic<int> conversions{0};

std::unique_ptr<at::ObserverContext> count_conversion(const at::RecordFunction& function) {
  conversions += std::string_view(function.name()) == "aten::_to_copy" ? 1 : 0;
  return nullptr;
}

/// Casts of four forward passes under one autocast scope, the input's own cast left out.
int casts_of_four_passes(const std::function<at::Tensor(const at::Tensor&)>& forward) {
  const at::Tensor input = at::randn({2, 3}).to(at::kBFloat16);
  conversions = 0;
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(&count_conversion));
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::increment_nesting();
  for (int pass = 0; pass < 4; ++pass) {
    forward(input);
  }
  at::autocast::decrement_nesting();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  at::removeCallback(handle);
  return conversions;
}

TEST(Linear, WeightsAreCastOnceInAnAutocastScope) {
  torch::nn::Linear layer(3, 4);
  const int casts = casts_of_four_passes([&](const at::Tensor& x) { return linear(*layer, x); });
  EXPECT_EQ(casts, 2);  // weight and bias
  EXPECT_GT(casts_of_four_passes([&](const at::Tensor& x) { return layer(x); }), casts);
}

TEST(Linear, EqualsTheModulesOwnForward) {
  torch::nn::Linear layer(3, 4);
  torch::nn::Linear without_bias(torch::nn::LinearOptions(3, 4).bias(false));
  const at::Tensor input = at::randn({5, 3});
  test::expect_near(linear(*layer, input), layer(input), 1e-6);
  test::expect_near(linear(*without_bias, input), without_bias(input), 1e-6);
}

}  // namespace
}  // namespace libtrain
