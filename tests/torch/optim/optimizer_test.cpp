#include <ATen/autocast_mode.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "libtrain/core/error.hpp"
#include "libtrain/core/warning.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/sgd.hpp"
#include "optimizer_support.hpp"

namespace libtrain {
namespace {

using test::on_device;
using test::one_group;
using test::outcome;
using test::parameter;
using test::same_bits;
using test::values;
using testing::HasSubstr;

at::Tensor number(double value) { return at::scalar_tensor(value, on_device()); }

template <class E, class Fn>
std::string message_of(const Fn& fn) {
  try {
    fn();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

template <class Fn>
int top_level_operators(const Fn& fn) {
  static int count = 0;
  static int depth = 0;
  count = depth = 0;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(
          [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
            count += depth++ == 0 ? 1 : 0;
            return nullptr;
          },
          [](const at::RecordFunction&, at::ObserverContext*) { --depth; })
          .scopes({at::RecordScope::FUNCTION}));
  fn();
  at::removeCallback(handle);
  return count;
}

struct Pair {
  Parameter used = parameter("used", {6, 4}, 0);
  Parameter idle = parameter("idle", {5}, 100);
  Parameters parameters() const { return one_group({used, idle}); }
};

TEST(Optimizer, AParameterWithoutGradientKeepsItsBytesUnderWeightDecay) {
  for (const bool on_device : {false, true}) {
    const Pair pair;
    const at::Tensor before = pair.idle.tensor.detach().clone();
    AdamW optimizer(pair.parameters(), {.lr = 0.1, .weight_decay = 0.5});
    for (int step = 0; step < 3; ++step) {
      pair.used.tensor.mutable_grad() = values({6, 4}, step);
      on_device ? optimizer.update(DeviceUpdate{}) : optimizer.update(HostUpdate{});
      optimizer.zero_grad();
    }
    EXPECT_TRUE(same_bits(before, pair.idle.tensor));
    EXPECT_EQ(optimizer.state_dict().at("step.idle").item<float>(), 0.0F);
    EXPECT_EQ(optimizer.state_dict().at("step.used").item<float>(), 3.0F);
  }
}

TEST(Optimizer, AParameterFrozenDuringTrainingStopsWhereItIsThoughItsGradientIsZeroedNotFreed) {
  const Pair pair;
  AdamW optimizer(pair.parameters(), {.lr = 0.1, .weight_decay = 0.5});
  const HostUpdate zeroing{.gradients = GradientsAfter::kZeroed};
  pair.used.tensor.mutable_grad() = values({6, 4}, 1);
  pair.idle.tensor.mutable_grad() = values({5}, 2);
  optimizer.update(zeroing);
  pair.idle.tensor.requires_grad_(false);
  const at::Tensor frozen = pair.idle.tensor.detach().clone();
  const at::Tensor moving = pair.used.tensor.detach().clone();
  optimizer.update(zeroing);
  EXPECT_TRUE(same_bits(frozen, pair.idle.tensor));
  EXPECT_FALSE(same_bits(moving, pair.used.tensor));
  EXPECT_EQ(optimizer.state_dict().at("step.idle").item<float>(), 1.0F);
}

TEST(Optimizer, StepSkipsWhenAGradientIsNotFiniteAndMovesNothing) {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    const Pair pair;
    AdamW optimizer(pair.parameters());
    pair.used.tensor.mutable_grad() = values({6, 4}, 1);
    pair.idle.tensor.mutable_grad() = values({5}, 2);
    ASSERT_EQ(optimizer.step(), outcome(StepOutcome::kApplied));
    const at::Tensor used = pair.used.tensor.detach().clone();
    const at::Tensor moment = optimizer.state_dict().at("exp_avg.used").clone();
    pair.idle.tensor.mutable_grad()[3] = bad;
    EXPECT_EQ(optimizer.step(), outcome(StepOutcome::kSkipped));
    EXPECT_TRUE(same_bits(used, pair.used.tensor));
    EXPECT_TRUE(same_bits(moment, optimizer.state_dict().at("exp_avg.used")));
    EXPECT_EQ(optimizer.state_dict().at("step.used").item<float>(), 1.0F);
  }
}

TEST(Optimizer, StepReportsThatThereWereNoGradients) {
  const Pair pair;
  AdamW optimizer(pair.parameters());
  EXPECT_EQ(optimizer.step(), StepOutcome::kNoGradients);
}

TEST(Optimizer, StepAppliesWhatItGetsWhenTheCheckIsOff) {
  const Pair pair;
  SGD optimizer(pair.parameters());
  optimizer.set_skip_non_finite(false);
  pair.idle.tensor.mutable_grad() = at::full({5}, NAN, on_device());
  EXPECT_EQ(optimizer.step(), StepOutcome::kApplied);
  EXPECT_TRUE(pair.idle.tensor.isnan().all().item<bool>());
}

TEST(Optimizer, AnUpdateTheDeviceRefusesLeavesParametersStateAndStepCount) {
  for (const double dampening : {0.0, 0.5}) {
    const Pair pair;
    SGD optimizer(pair.parameters(), {.momentum = 0.9, .dampening = dampening});
    pair.used.tensor.mutable_grad() = at::full({6, 4}, NAN, on_device());
    const at::Tensor before = pair.used.tensor.detach().clone();
    optimizer.update(DeviceUpdate{.found_inf = number(1.0)});
    EXPECT_TRUE(same_bits(before, pair.used.tensor));
    EXPECT_EQ(optimizer.state_dict().at("step.used").item<float>(), 0.0F);
    EXPECT_TRUE(optimizer.state_dict().at("momentum_buffer.used").eq(0.0).all().item<bool>());
  }
}

TEST(Optimizer, BitsDoNotDependOnTheNumberOfThreads) {
  if (test::needs_cpu("threads of its kernels")) {
    return;
  }
  const int threads = at::get_num_threads();
  std::vector<std::vector<at::Tensor>> results;
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    std::vector<Parameter> parameters{parameter("large", {301, 333}), parameter("odd", {70001}, 7),
                                      parameter("none", {0}), parameter("small", {3}, 9)};
    AdamW optimizer(one_group(parameters), {.lr = 0.01});
    std::vector<at::Tensor> result;
    for (int step = 0; step < 3; ++step) {
      for (const Parameter& one : parameters) {
        one.tensor.mutable_grad() = values(one.tensor.sizes(), 1000 * step);
      }
      optimizer.step();
    }
    for (const Parameter& one : parameters) {
      result.push_back(one.tensor.detach().clone());
    }
    results.push_back(result);
  }
  at::set_num_threads(threads);
  for (size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(same_bits(results[0][i], results[1][i])) << i;
  }
}

TEST(Optimizer, OperatorsOfAFusedUpdateDoNotGrowWithTheParameters) {
  const auto operators = [](int count) {
    std::vector<Parameter> parameters;
    for (int i = 0; i < count; ++i) {
      parameters.push_back(parameter(std::string("p").append(std::to_string(i)), {4}, i));
      parameters.back().tensor.mutable_grad() = values({4}, i);
    }
    AdamW optimizer(one_group(parameters));
    const DeviceUpdate numbers{number(1.0), number(1.0), number(0.0)};
    optimizer.update(numbers);
    return top_level_operators([&] { optimizer.update(numbers); });
  };
  EXPECT_EQ(operators(2), operators(50));
}

TEST(Optimizer, GradientsAreKeptZeroedOrFreedAsAsked) {
  for (const bool on_device : {false, true}) {
    for (const bool transposed : {false, true}) {
      const Pair pair;
      AdamW optimizer(pair.parameters());
      const auto update = [&](GradientsAfter after) {
        pair.used.tensor.mutable_grad() = transposed ? values({4, 6}, 3).t() : values({6, 4}, 3);
        on_device ? optimizer.update(DeviceUpdate{.gradients = after})
                  : optimizer.update(HostUpdate{.gradients = after});
        return pair.used.tensor.grad();
      };
      EXPECT_TRUE(update(GradientsAfter::kKept).ne(0.0).all().item<bool>());
      EXPECT_TRUE(update(GradientsAfter::kZeroed).eq(0.0).all().item<bool>());
      EXPECT_FALSE(update(GradientsAfter::kFreed).defined());
    }
  }
}

TEST(Optimizer, ZeroGradMakesGradientsUndefinedOrZero) {
  const Pair pair;
  SGD optimizer(pair.parameters());
  pair.used.tensor.mutable_grad() = values({6, 4}, 1);
  optimizer.zero_grad(/*set_to_none=*/false);
  EXPECT_TRUE(pair.used.tensor.grad().eq(0.0).all().item<bool>());
  EXPECT_FALSE(pair.idle.tensor.grad().defined());
  const at::Tensor weight = at::ones({6, 4}, on_device()).requires_grad_();
  pair.used.tensor.mutable_grad() = weight * 2;  // as backward leaves it under create_graph=true
  optimizer.zero_grad(/*set_to_none=*/false);
  EXPECT_FALSE(pair.used.tensor.grad().requires_grad());
  optimizer.zero_grad();
  EXPECT_FALSE(pair.used.tensor.grad().defined());
}

TEST(Optimizer, LearningRateFactorAndGroupRatesMultiply) {
  const Pair pair;
  GroupOptions options;
  options.lr = 0.5;
  SGD optimizer({{{{pair.used}, {}}, {{pair.idle}, options}}, {}}, {.lr = 0.25});
  EXPECT_EQ(optimizer.lr(0), 0.25);
  EXPECT_EQ(optimizer.lr(1), 0.5);
  optimizer.set_lr(0, 1.0);
  const at::Tensor used = pair.used.tensor.detach().clone();
  const at::Tensor idle = pair.idle.tensor.detach().clone();
  pair.used.tensor.mutable_grad() = at::ones({6, 4}, on_device());
  pair.idle.tensor.mutable_grad() = at::ones({5}, on_device());
  optimizer.update(HostUpdate{.lr_factor = 0.5});
  EXPECT_TRUE(at::allclose(pair.used.tensor, used - 0.5));
  EXPECT_TRUE(at::allclose(pair.idle.tensor, idle - 0.25));
  optimizer.update(DeviceUpdate{.lr_factor = number(2.0)});
  EXPECT_TRUE(at::allclose(pair.used.tensor, used - 2.5));
  EXPECT_TRUE(at::allclose(pair.idle.tensor, idle - 1.25));
  optimizer.set_lr(0.125);
  EXPECT_EQ(optimizer.lr(0), 0.125);
  EXPECT_EQ(optimizer.lr(1), 0.125);
}

/// Three updates of a parameter with more elements than one task takes, by the CPU's kernels and by
/// ATen's fused operator: both compute in fp32, so only the last bits may differ.
template <class Make>
void expect_kernels_move_as_aten(const Make& make, at::ScalarType gradient_dtype) {
  const Parameter by_kernel{"w", values({40000}, 0).cpu().requires_grad_()};
  const Parameter by_aten = parameter("w", {40000});
  auto kernel = make(one_group({by_kernel}));
  auto aten = make(one_group({by_aten}));
  for (int64_t step = 0; step < 3; ++step) {
    const at::Tensor gradient = values({40000}, 1000 * step).to(gradient_dtype);
    by_kernel.tensor.mutable_grad() = gradient.to(at::kCPU, gradient_dtype, false, /*copy=*/true);
    by_aten.tensor.mutable_grad() = gradient.to(at::kFloat);
    kernel.update(HostUpdate{.lr_factor = 0.5});
    aten.update(DeviceUpdate{.lr_factor = number(0.5)});
  }
  EXPECT_TRUE(at::allclose(by_kernel.tensor, by_aten.tensor.cpu(), 1e-6, 1e-7));
}

TEST(Optimizer, EveryPartOfALargeParameterMovesByItsOwnGradientAndState) {
  const auto adamw = [](Parameters parameters) {
    return AdamW(std::move(parameters), {.lr = 0.1, .amsgrad = true});
  };
  expect_kernels_move_as_aten(adamw, at::kFloat);
  expect_kernels_move_as_aten(adamw, at::kBFloat16);
  expect_kernels_move_as_aten(
      [](Parameters parameters) {
        return SGD(std::move(parameters), {.lr = 0.1, .momentum = 0.9});
      },
      at::kFloat);
}

TEST(Optimizer, AnUpdateClearsTheCacheOfCastWeights) {
  const Parameter weight = parameter("weight", {8, 8});
  const at::Tensor input = at::ones({1, 8}, on_device());
  SGD optimizer(one_group({weight}), {.lr = 1.0});
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(test::test_device().type(), true);
  const at::Tensor before = at::mm(input, weight.tensor).to(at::kFloat).detach();
  weight.tensor.mutable_grad() = at::ones({8, 8}, on_device());
  optimizer.update(HostUpdate{});
  const at::Tensor after = at::mm(input, weight.tensor).to(at::kFloat).detach();
  at::autocast::set_autocast_enabled(test::test_device().type(), false);
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  EXPECT_TRUE(at::allclose(after, before - 8.0, 0.0, 0.1));
}

TEST(Optimizer, AutogradNoticesAGraphThatStillNeedsTheOldWeights) {
  const Parameter weight = parameter("weight", {3});
  SGD optimizer(one_group({weight}));
  const at::Tensor loss = (weight.tensor * weight.tensor).sum();
  weight.tensor.mutable_grad() = at::ones({3}, on_device());
  optimizer.update(HostUpdate{});
  EXPECT_THAT(message_of<c10::Error>([&] { loss.backward(); }), HasSubstr("inplace operation"));
}

TEST(Optimizer, AModelMovedBeforeTheFirstUpdateIsFineAndAfterItIsNamed) {
  const Pair pair;
  AdamW optimizer(pair.parameters());
  pair.used.tensor.set_data(pair.used.tensor.detach().to(at::kDouble));
  pair.used.tensor.mutable_grad() = values({6, 4}, 1).to(at::kDouble);
  optimizer.update(HostUpdate{});
  EXPECT_EQ(optimizer.state_dict().at("exp_avg.used").scalar_type(), at::kDouble);
  pair.used.tensor.mutable_grad().reset();
  pair.used.tensor.set_data(pair.used.tensor.detach().to(at::kFloat));
  pair.used.tensor.mutable_grad() = values({6, 4}, 1);
  const std::string message = message_of<InvalidOption>([&] { optimizer.update(HostUpdate{}); });
  EXPECT_THAT(message,
              HasSubstr("state of \"used\" is Double [6, 4] on " + test::test_device().str()));
}

TEST(Optimizer, AGradientOfAnotherKindIsNamedAndNothingMoves) {
  if (test::needs_sparse_tensors()) {
    return;
  }
  const Pair pair;
  SGD optimizer(pair.parameters());
  const at::Tensor before = pair.used.tensor.detach().clone();
  pair.used.tensor.mutable_grad() = values({6, 4}, 1);
  pair.idle.tensor.mutable_grad() = test::sparse({1, 2}, {1.0F, 1.0F}, 5);
  EXPECT_THAT(message_of<Unsupported>([&] { optimizer.update(HostUpdate{}); }),
              HasSubstr("gradient of \"idle\" is sparse"));
  EXPECT_TRUE(same_bits(before, pair.used.tensor));
}

/// Rows that are touched in every step, in one, twice in one, and never; over chunks of 16,384.
TEST(Optimizer, AGradientByRowsIsTheDenseOneItStandsFor) {
  if (test::needs_cpu("gradients by rows")) {
    return;
  }
  const std::vector<std::vector<int64_t>> touched = {{3, 0, 999}, {3, 3, 500}, {}, {998, 3, 499}};
  for (const bool decoupled : {true, false}) {
    const Parameter by_rows = parameter("w", {1000, 50});
    const Parameter dense = parameter("w", {1000, 50});
    const auto make = [&](const Parameter& p) -> std::unique_ptr<Optimizer> {
      if (decoupled) {
        return std::make_unique<AdamW>(one_group({p}), AdamWOptions{.weight_decay = 0.1});
      }
      return std::make_unique<Adam>(one_group({p}), AdamOptions{.weight_decay = 0.1});
    };
    const auto a = make(by_rows);
    const auto b = make(dense);
    for (const std::vector<int64_t>& rows : touched) {
      const auto count = static_cast<int64_t>(rows.size());
      const at::Tensor gradient = at::sparse_coo_tensor(at::tensor(rows, at::kLong).unsqueeze(0),
                                                        values({count, 50}, 7 * count), {1000, 50});
      by_rows.tensor.mutable_grad() = gradient;
      dense.tensor.mutable_grad() = gradient.to_dense();
      a->update(HostUpdate{.grad_multiplier = 0.5, .gradients = GradientsAfter::kZeroed});
      b->update(HostUpdate{.grad_multiplier = 0.5});
      EXPECT_TRUE(same_bits(by_rows.tensor, dense.tensor)) << "rows: " << count;
      EXPECT_EQ(by_rows.tensor.grad()._nnz(), 0);
    }
    EXPECT_TRUE(same_bits(a->state_dict().at("exp_avg_sq.w"), b->state_dict().at("exp_avg_sq.w")));
  }
}

TEST(Optimizer, AGradientInBf16CountsAsItsFp32Value) {
  if (test::needs_cpu("gradients in bf16")) {
    return;
  }
  const Parameter in_bf16 = parameter("w", {50, 40});
  const Parameter in_fp32 = parameter("w", {50, 40});
  AdamW a(one_group({in_bf16}));
  AdamW b(one_group({in_fp32}));
  SGD sgd(one_group({in_bf16}));
  for (int step = 0; step < 3; ++step) {
    const at::Tensor gradient = values({50, 40}, step).to(at::kBFloat16);
    in_bf16.tensor.mutable_grad() = step == 1 ? gradient.t().contiguous().t() : gradient;
    in_fp32.tensor.mutable_grad() = gradient.to(at::kFloat);
    a.update(HostUpdate{.gradients = GradientsAfter::kZeroed});
    b.update(HostUpdate{});
    EXPECT_TRUE(same_bits(in_bf16.tensor, in_fp32.tensor));
    EXPECT_EQ(in_bf16.tensor.grad().abs().sum().item<float>(), 0.0F);
  }
  EXPECT_THAT(message_of<InvalidOption>([&] { sgd.update(HostUpdate{}); }),
              HasSubstr("gradient of \"w\" is BFloat16 [50, 40]"));
}

TEST(Optimizer, AGradientByRowsNeedsTheKernel) {
  if (test::needs_cpu("gradients by rows")) {
    return;
  }
  const Parameter w = parameter("w", {4, 3});
  const at::Tensor gradient =
      at::sparse_coo_tensor(at::tensor({1}, at::kLong).unsqueeze(0), values({1, 3}, 0), {4, 3});
  w.tensor.mutable_grad() = gradient;
  AdamW optimizer(one_group({w}));
  EXPECT_THAT(message_of<Unsupported>([&] { optimizer.update(DeviceUpdate{}); }),
              HasSubstr("gradient of \"w\" is sparse"));
  w.tensor.set_data(values({3, 4}, 0).t());
  EXPECT_THAT(message_of<Unsupported>([&] { optimizer.update(HostUpdate{}); }),
              HasSubstr("not contiguous"));
}

TEST(Optimizer, AParameterWithGapsIsRefusedByName) {
  const at::Tensor base = values({4, 6}, 0);
  const Parameter strip{"strip", base.slice(1, 0, 3).detach().requires_grad_()};
  SGD optimizer(one_group({strip}));
  strip.tensor.mutable_grad() = at::ones({4, 3}, on_device());
  EXPECT_THAT(message_of<Unsupported>([&] { optimizer.update(HostUpdate{}); }),
              HasSubstr("\"strip\" is a view with gaps"));
}

TEST(Optimizer, StateFollowsAParameterIntoAnotherLayout) {
  const Parameter plain = parameter("w", {6, 4});
  const Parameter turned = parameter("w", {6, 4});
  AdamW a(one_group({plain}));
  AdamW b(one_group({turned}));
  for (int step = 0; step < 4; ++step) {
    plain.tensor.mutable_grad() = values({6, 4}, step);
    turned.tensor.mutable_grad() = values({6, 4}, step);
    a.update(HostUpdate{});
    b.update(HostUpdate{});
    if (step == 1) {
      turned.tensor.set_data(turned.tensor.detach().t().contiguous().t());
    }
  }
  EXPECT_TRUE(same_bits(plain.tensor.detach(), turned.tensor.detach()));
}

TEST(Optimizer, ComplexParametersMoveAsTheirRealAndImaginaryParts) {
  const Parameter complex{"c", at::view_as_complex(values({5, 2}, 0)).clone().requires_grad_()};
  const Parameter real = parameter("r", {5, 2}, 0);
  AdamW a(one_group({complex}));
  AdamW b(one_group({real}));
  for (int step = 0; step < 3; ++step) {
    const at::Tensor gradient = at::view_as_complex(values({5, 2}, step)).clone();
    const bool lazily = step == 1;  // conjugated when it is read
    complex.tensor.mutable_grad() = lazily ? at::conj_physical(gradient).conj() : gradient;
    real.tensor.mutable_grad() = values({5, 2}, step);
    a.update(HostUpdate{});
    b.update(HostUpdate{});
  }
  EXPECT_TRUE(same_bits(at::view_as_real(complex.tensor.detach()), real.tensor.detach()));
}

TEST(Optimizer, OtherDtypesGoThroughTheFusedOperators) {
  const Parameter wide{"w", values({6}, 0).to(at::kDouble).requires_grad_()};
  const Parameter same{"w", values({6}, 0).to(at::kDouble).requires_grad_()};
  AdamW host(one_group({wide}));
  AdamW device(one_group({same}));
  wide.tensor.mutable_grad() = values({6}, 5).to(at::kDouble) * 4.0;
  same.tensor.mutable_grad() = values({6}, 5).to(at::kDouble);
  host.update(HostUpdate{.grad_multiplier = 0.25, .gradients = GradientsAfter::kZeroed});
  device.update(DeviceUpdate{});
  EXPECT_TRUE(same_bits(wide.tensor.detach(), same.tensor.detach()));
  EXPECT_TRUE(wide.tensor.grad().eq(0.0).all().item<bool>());
}

TEST(Optimizer, WeightsIn16BitBringOneWarningThatNamesTheFirst) {
  std::vector<std::string> warnings;
  const WarningHandler previous =
      set_warning_handler([&](const std::string& message) { warnings.push_back(message); });
  const Parameter low{"low", values({6}, 0).to(at::kBFloat16).requires_grad_()};
  const Parameter half{"half", values({6}, 0).to(at::kHalf).requires_grad_()};
  const AdamW optimizer(one_group({parameter("full", {2}), low, half}));
  set_warning_handler(previous);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("2 parameters are in 16 bit, the first is \"low\""));
}

TEST(Optimizer, ParametersThatCannotBeOptimizedAreRefusedByName) {
  const Parameter w = parameter("w", {2});
  const auto refusal = [](std::vector<Parameter> parameters) {
    return message_of<InvalidOption>([&] { SGD optimizer(one_group(std::move(parameters))); });
  };
  EXPECT_THAT(refusal({}), HasSubstr("there are no parameters"));
  EXPECT_THAT(refusal({{"w", {}}}), HasSubstr("\"w\" is undefined"));
  EXPECT_THAT(refusal({w, {"other", w.tensor}}), HasSubstr("\"w\" and \"other\" are one tensor"));
  EXPECT_THAT(refusal({w, parameter("w", {3})}), HasSubstr("two parameters are named \"w\""));
  EXPECT_THAT(refusal({{"count", at::zeros({2}, on_device(at::kLong))}}), HasSubstr("dtype=Long"));
  EXPECT_THAT(refusal({{"twice", w.tensor * 2}}),
              HasSubstr("\"twice\" is the result of an operation"));
}

TEST(Optimizer, OptionsOutOfRangeAreRefused) {
  const auto adam = [](const AdamWOptions& options) {
    AdamW optimizer(one_group({parameter("w", {2})}), options);
  };
  EXPECT_THROW(adam({.lr = -1.0}), InvalidOption);
  EXPECT_THROW(adam({.lr = NAN}), InvalidOption);
  EXPECT_THROW(adam({.beta1 = 1.0}), InvalidOption);
  EXPECT_THROW(adam({.beta2 = -0.1}), InvalidOption);
  EXPECT_THROW(adam({.beta2 = NAN}), InvalidOption);
  EXPECT_THROW(adam({.eps = -1e-8}), InvalidOption);
  EXPECT_THROW(adam({.weight_decay = INFINITY}), InvalidOption);
  EXPECT_NO_THROW(adam({.lr = 0.0, .beta1 = 0.0, .eps = 0.0}));
  const auto sgd = [](const SGDOptions& options) {
    SGD optimizer(one_group({parameter("w", {2})}), options);
  };
  EXPECT_NO_THROW(sgd({.momentum = 0.9, .nesterov = true}));
  EXPECT_THROW(sgd({.momentum = -0.1}), InvalidOption);
  EXPECT_THROW(sgd({.nesterov = true}), InvalidOption);
  EXPECT_THROW(sgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}), InvalidOption);
  SGD optimizer(one_group({parameter("w", {2})}));
  EXPECT_THROW(optimizer.set_lr(-1.0), InvalidOption);
  EXPECT_THROW(optimizer.set_lr(1, 0.1), InvalidOption);
}

}  // namespace
}  // namespace libtrain
