#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "libtrain/sim/host_waits.hpp"
#include "libtrain/sim/sim.hpp"
#include "sim_support.hpp"

namespace libtrain::sim {
namespace {

using test::same_bits;
using test::values;
using Tensors = std::vector<at::Tensor>;

/// Two parameters with gradients and moments, and the numbers of a step, on one device.
struct State {
  explicit State(const at::Device& on) {
    for (uint64_t i = 0; i < 2; ++i) {
      parameters.push_back(values({5, 3}, i).to(on));
      gradients.push_back(values({5, 3}, i + 10).to(on));
      first.push_back(values({5, 3}, i + 20).to(on));
      second.push_back(values({5, 3}, i + 30).abs().to(on));
      steps.push_back(at::full({}, 3.0, at::TensorOptions(on)));
    }
    rate = at::full({}, 0.01, at::TensorOptions(on));
    scale = at::full({}, 8.0, at::TensorOptions(on));
    finite = at::zeros({}, at::TensorOptions(on));
    not_finite = at::ones({}, at::TensorOptions(on));
  }

  Tensors parameters, gradients, first, second, steps;
  at::Tensor rate, scale, finite, not_finite;
};

struct Optimizer {
  const char* name;
  std::function<void(State& s)> step;
};

const std::vector<Optimizer> kOptimizers{
    {"adamw",
     [](State& s) {
       at::_fused_adamw_(s.parameters, s.gradients, s.first, s.second, {}, s.steps, 0.01, 0.9, 0.99,
                         0.1, 1e-8, false, false);
     }},
    {"adamw_tensor_rate",
     [](State& s) {
       at::_fused_adamw_(s.parameters, s.gradients, s.first, s.second, {}, s.steps, s.rate, 0.9,
                         0.99, 0.1, 1e-8, false, false);
     }},
    {"adamw_scaled",
     [](State& s) {
       at::_fused_adamw_(s.parameters, s.gradients, s.first, s.second, {}, s.steps, s.rate, 0.9,
                         0.99, 0.1, 1e-8, false, false, s.scale, s.finite);
     }},
    {"adamw_skipped",
     [](State& s) {
       at::_fused_adamw_(s.parameters, s.gradients, s.first, s.second, {}, s.steps, s.rate, 0.9,
                         0.99, 0.1, 1e-8, false, false, s.scale, s.not_finite);
     }},
    {"adam",
     [](State& s) {
       at::_fused_adam_(s.parameters, s.gradients, s.first, s.second, {}, s.steps, s.rate, 0.9,
                        0.99, 0.1, 1e-8, false, false, s.scale, s.finite);
     }},
    {"sgd",
     [](State& s) {
       at::_fused_sgd_(s.parameters, s.gradients, s.first, 0.1, 0.9, 0.01, 0.0, true, false, false);
     }},
    {"sgd_tensor_rate_scaled",
     [](State& s) {
       at::_fused_sgd_(s.parameters, s.gradients, s.first, 0.1, 0.9, s.rate, 0.0, false, false,
                       false, s.scale, s.finite);
     }},
    {"sgd_skipped",
     [](State& s) {
       at::_fused_sgd_(s.parameters, s.gradients, {}, 0.0, 0.0, 0.01, 0.0, false, false, false,
                       s.scale, s.not_finite);
     }},
};

class FusedOptimizers : public testing::TestWithParam<Optimizer> {};

TEST_P(FusedOptimizers, AreTheCpusBitForBitWithoutAWait) {
  State expected(at::kCPU);
  State got(device());
  GetParam().step(expected);
  {
    const NoHostWait scope;
    GetParam().step(got);
  }
  const bool is_skipped = std::string(GetParam().name).ends_with("skipped");
  EXPECT_EQ(is_skipped, same_bits(State(at::kCPU).parameters[0], got.parameters[0]));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(same_bits(expected.parameters[i], got.parameters[i])) << i;
    EXPECT_TRUE(same_bits(expected.gradients[i], got.gradients[i])) << i;
    EXPECT_TRUE(same_bits(expected.first[i], got.first[i])) << i;
    EXPECT_TRUE(same_bits(expected.second[i], got.second[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FusedOptimizers, testing::ValuesIn(kOptimizers),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace libtrain::sim
