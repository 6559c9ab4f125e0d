#include "libtrain/amp/grad_scaler.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "libtrain/core/error.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/clip.hpp"
#include "libtrain/optim/sgd.hpp"
#include "tests/support/test_device.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing_support::NoHostWait;
using testing_support::on_cpu;
using testing_support::on_device;
using testing_support::outcome;
using testing_support::test_device;

Parameters named(std::vector<Parameter> parameters) { return {{{std::move(parameters), {}}}, {}}; }

at::Tensor weight(std::vector<float> numbers = {1.0F, 2.0F, 3.0F}) {
  return at::tensor(numbers, on_device()).requires_grad_();
}

template <class Fn>
std::string refusal(const Fn& fn) {
  try {
    fn();
  } catch (const InvalidOption& error) {
    return error.what();
  }
  return "nothing was thrown";
}

struct Training {
  at::Tensor w = weight();
  SGD optimizer{named({{"w", w}}), {.lr = 1.0}};
  GradScaler scaler{test_device(), {.initial = 8.0}};

  void backward(float factor) {
    optimizer.zero_grad();
    scaler.scale((w * factor).sum()).backward();
  }
};

TEST(GradScaler, StepMovesTheWeightsByTheUnscaledGradient) {
  Training training;
  training.backward(0.5F);
  EXPECT_TRUE(training.w.grad().eq(4.0).all().item<bool>());
  EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kApplied));
  EXPECT_TRUE(at::equal(training.w.detach(),
                        at::tensor(std::vector<float>{0.5F, 1.5F, 2.5F}, on_device())));
  EXPECT_TRUE(training.w.grad().eq(0.5).all().item<bool>());
}

TEST(GradScaler, AnOverflowSkipsBacksOffAndIsReportedEvenAtTheBounds) {
  Training training;
  training.scaler = GradScaler(test_device(), {.initial = 1.0, .min_scale = 1.0});
  training.backward(INFINITY);
  const at::Tensor before = training.w.detach().clone();
  EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kSkipped));
  training.scaler.update();
  EXPECT_TRUE(at::equal(before, training.w.detach()));
  EXPECT_EQ(training.scaler.get_scale(), 1.0);
  EXPECT_EQ(training.scaler.skips_in_row(), 1);
  training.backward(1.0F);
  EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kApplied));
  training.scaler.update();
  EXPECT_EQ(training.scaler.skips_in_row(), 0);
}

TEST(GradScaler, AnOptimizerWithoutGradientsIsReportedAndTheScaleStays) {
  Training training;
  training.scaler.set_growth_interval(1);
  training.scaler.scale(at::ones({}, on_device()));
  EXPECT_EQ(training.scaler.step(training.optimizer), StepOutcome::kNoGradients);
  training.scaler.update();
  EXPECT_EQ(training.scaler.get_scale(), 8.0);
  training.backward(1.0F);
  EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kApplied));
}

TEST(GradScaler, UnscalingTwiceIsNamedAndAUserMaySkipTheStep) {
  Training training;
  training.backward(1.0F);
  training.scaler.unscale_(training.optimizer);
  EXPECT_THAT(refusal([&] { training.scaler.unscale_(training.optimizer); }),
              HasSubstr("[amp.unscale] unscale_() was already called"));
  training.scaler.update();
  training.backward(1.0F);
  training.scaler.unscale_(training.optimizer);
  EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kApplied));
  EXPECT_THAT(refusal([&] { training.scaler.step(training.optimizer); }),
              HasSubstr("[amp.step] step() was already called"));
  EXPECT_THAT(refusal([&] { training.scaler.unscale_(training.optimizer); }),
              HasSubstr("unscale_() after step()"));
  training.scaler.update();
  EXPECT_THAT(refusal([&] { training.scaler.update(); }),
              HasSubstr("neither step() nor unscale_()"));
}

TEST(GradScaler, CallsBeforeAnyScaleAreRefused) {
  Training training;
  training.w.mutable_grad() = at::ones({3}, on_device());
  EXPECT_THAT(refusal([&] { training.scaler.step(training.optimizer); }),
              HasSubstr("scale() was never"));
  EXPECT_THAT(refusal([&] { training.scaler.unscale_(training.optimizer); }),
              HasSubstr("scale() was never"));
  EXPECT_THAT(refusal([&] { training.scaler.update(); }), HasSubstr("scale() was never"));
}

TEST(GradScaler, HalfParametersAreRefusedByNameAndNoGradientChanges) {
  const at::Tensor full = weight();
  const at::Tensor half = at::ones({2}, on_device(at::kHalf)).requires_grad_();
  SGD optimizer(named({{"full", full}, {"low", half}}));
  for (const bool explicitly : {false, true}) {
    GradScaler scaler(test_device());
    scaler.scale(at::ones({}, on_device()));
    full.mutable_grad() = at::full({3}, 64.0F, on_device());
    half.mutable_grad() = at::ones({2}, on_device(at::kHalf));
    const std::string message = refusal([&] {
      if (explicitly) {
        scaler.unscale_(optimizer);
      } else {
        scaler.step(optimizer);
      }
    });
    EXPECT_THAT(message, HasSubstr("fp16 cannot be unscaled: \"low\""));
    EXPECT_TRUE(full.grad().eq(64.0).all().item<bool>());
  }
}

TEST(GradScaler, SeesAnInfinityInAnImaginaryPart) {
  const at::Tensor z = at::zeros({2}, on_device(at::kComplexFloat)).requires_grad_();
  SGD optimizer(named({{"z", z}}));
  GradScaler scaler(test_device(), {.initial = 4.0});
  scaler.scale(at::ones({}, on_device()));
  z.mutable_grad() = at::full({2}, c10::complex<float>(4.0F, 8.0F), on_device(at::kComplexFloat));
  scaler.unscale_(optimizer);
  EXPECT_TRUE(at::equal(
      z.grad(), at::full({2}, c10::complex<float>(1.0F, 2.0F), on_device(at::kComplexFloat))));
  scaler.update();
  z.mutable_grad() =
      at::full({2}, c10::complex<float>(1.0F, INFINITY), on_device(at::kComplexFloat));
  EXPECT_EQ(scaler.step(optimizer), outcome(StepOutcome::kSkipped));
}

TEST(GradScaler, SeesAnInfinityInAGradientOfAnyDtype) {
  for (const bool in_double : {false, true}) {
    const at::Tensor single = weight();
    const at::Tensor wide = at::zeros({2}, on_device(at::kDouble)).requires_grad_();
    SGD optimizer(named({{"single", single}, {"wide", wide}}));
    GradScaler scaler(test_device());
    scaler.scale(at::ones({}, on_device()));
    single.mutable_grad() = at::full({3}, in_double ? 1.0F : INFINITY, on_device());
    wide.mutable_grad() = at::full({2}, in_double ? INFINITY : 1.0, on_device(at::kDouble));
    EXPECT_EQ(scaler.step(optimizer), outcome(StepOutcome::kSkipped)) << in_double;
  }
}

TEST(GradScaler, SumsDuplicatesOfASparseGradientBeforeItLooks) {
  if (testing_support::needs_sparse_tensors()) {
    return;
  }
  const at::Tensor w = weight();
  SGD optimizer(named({{"w", w}}));
  GradScaler scaler(test_device(), {.initial = 1.0});
  scaler.scale(at::ones({}, on_device()));
  const at::Tensor row = at::zeros({1, 2}, on_device(at::kLong));
  w.mutable_grad() = at::sparse_coo_tensor(row, at::full({2}, 3e38F, on_device()), {3});
  EXPECT_EQ(scaler.step(optimizer), outcome(StepOutcome::kSkipped));
}

TEST(GradScaler, AnInfinityInOneOptimizerSkipsThatOneAndBacksOffForAll) {
  const at::Tensor a = weight();
  const at::Tensor b = weight();
  SGD first(named({{"a", a}}));
  SGD second(named({{"b", b}}));
  GradScaler scaler(test_device(), {.initial = 8.0});
  scaler.scale(at::ones({}, on_device()));
  a.mutable_grad() = at::ones({3}, on_device());
  b.mutable_grad() = at::full({3}, NAN, on_device());
  EXPECT_EQ(scaler.step(first), outcome(StepOutcome::kApplied));
  EXPECT_EQ(scaler.step(second), outcome(StepOutcome::kSkipped));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4.0);
}

TEST(GradScaler, AClippedUpdateIsTheSameForEveryScale) {
  std::vector<at::Tensor> results;
  for (int exponent = 0; exponent <= 20; ++exponent) {
    const at::Tensor w = weight();
    AdamW optimizer(named({{"w", w}}), {.lr = 0.1});
    GradScaler scaler(test_device(), {.initial = std::ldexp(1.0, exponent)});
    const NoHostWait while_training;
    for (int step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      scaler.scale((w * w).sum()).backward();
      scaler.unscale_(optimizer);
      clip_grad_norm_({w}, 0.7);
      scaler.step(optimizer);
      scaler.update();
    }
    results.push_back(w.detach().clone());
  }
  for (const at::Tensor& result : results) {
    EXPECT_TRUE(at::equal(result, results[0]));
  }
}

TEST(GradScaler, DisabledItPassesLossesAndStepsThrough) {
  const at::Tensor w = weight();
  SGD optimizer(named({{"w", w}}), {.lr = 1.0});
  GradScaler scaler(test_device(), {}, /*enabled=*/false);
  const at::Tensor loss = w.sum();
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  loss.backward();
  scaler.unscale_(optimizer);
  EXPECT_EQ(scaler.step(optimizer), outcome(StepOutcome::kApplied));
  scaler.update();
  EXPECT_TRUE(at::equal(w.detach(), at::tensor(std::vector<float>{0.0F, 1.0F, 2.0F}, on_device())));
  EXPECT_EQ(scaler.get_scale(), 1.0);
  EXPECT_TRUE(scaler.state_dict().empty());
  EXPECT_NO_THROW(scaler.load_state_dict({{"anything", 1.0}}));
}

TEST(GradScaler, ScalesListsAndSetsTheScaleItIsGiven) {
  GradScaler scaler(test_device(), {.initial = 8.0});
  const std::vector<at::Tensor> scaled = scaler.scale(
      std::vector<at::Tensor>{at::ones({}, on_device()), at::full({2}, 2.0, on_device())});
  EXPECT_EQ(scaled[0].item<float>(), 8.0F);
  EXPECT_TRUE(scaled[1].eq(16.0).all().item<bool>());
  scaler.update(32.0);
  EXPECT_EQ(scaler.get_scale(), 32.0);
  at::Tensor given = at::full({1}, 64.0F);
  scaler.update(given);
  given.fill_(1.0);
  EXPECT_EQ(scaler.get_scale(), 64.0);
  EXPECT_THROW(scaler.update(0.0), InvalidOption);
  EXPECT_THROW(scaler.update(std::nan("")), InvalidOption);
  EXPECT_THROW(scaler.update(at::ones({2}, on_device())), InvalidOption);
}

TEST(GradScaler, StopsAfterTooManySkipsInARow) {
  Training training;
  training.scaler.scale(at::ones({}, on_device()));
  for (int64_t i = 1; i <= kMaxSkipsInRow; ++i) {
    training.w.mutable_grad() = at::full({3}, NAN, on_device());
    EXPECT_EQ(training.scaler.step(training.optimizer), outcome(StepOutcome::kSkipped));
    if (i < kMaxSkipsInRow || !on_cpu()) {  // on a device nothing waits for the number
      EXPECT_NO_THROW(training.scaler.update());
    } else {
      EXPECT_THROW(training.scaler.update(), Error);
    }
    EXPECT_EQ(training.scaler.skips_in_row(), i);
  }
}

TEST(GradScaler, FollowsThePureRule) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    LossScaleOptions options;
    options.initial = std::ldexp(1.0, static_cast<int>(random() % 20));
    options.growth_factor = 1.0 + static_cast<double>(1 + random() % 8) / 4.0;
    options.backoff_factor = static_cast<double>(1 + random() % 7) / 8.0;
    options.growth_interval = 1 + random() % 4;
    const at::Tensor w = weight();
    SGD optimizer(named({{"w", w}}));
    GradScaler scaler(test_device(), options);
    scaler.scale(at::ones({}, on_device()));
    LossScale expected{options.initial, 0};
    for (int step = 0; step < 60; ++step) {
      const bool found_inf = random() % 4 == 0;
      w.mutable_grad() = at::full({3}, found_inf ? INFINITY : 1.0F, on_device());
      scaler.step(optimizer);
      scaler.update();
      expected = next(options, expected, found_inf);
      ASSERT_EQ(scaler.get_scale(), expected.scale);
      ASSERT_EQ(scaler.state_dict().at("_growth_tracker"),
                static_cast<double>(expected.growth_tracker));
    }
  }
}

TEST(GradScaler, ALoadedStateGoesOnAndABadOneChangesNothing) {
  Training training;
  training.scaler.set_growth_interval(3);
  for (int i = 0; i < 2; ++i) {
    training.backward(1.0F);
    training.scaler.step(training.optimizer);
    training.scaler.update();
  }
  const GradScalerState saved = training.scaler.state_dict();
  EXPECT_EQ(saved.at("_growth_tracker"), 2.0);
  training.scaler = GradScaler(test_device());
  training.backward(INFINITY);
  training.scaler.step(training.optimizer);
  training.scaler.update();
  EXPECT_EQ(training.scaler.skips_in_row(), 1);
  training.scaler.load_state_dict(saved);
  EXPECT_EQ(training.scaler.skips_in_row(), 0);
  training.backward(1.0F);
  training.scaler.step(training.optimizer);
  training.scaler.update();
  EXPECT_EQ(training.scaler.get_scale(), 16.0);
  const GradScalerState before = training.scaler.state_dict();
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, double>>{{"scale", -1.0},
                                                   {"scale", NAN},
                                                   {"growth_factor", 1.0},
                                                   {"backoff_factor", 1.0},
                                                   {"growth_interval", 2.5},
                                                   {"_growth_tracker", -1.0},
                                                   {"other", 1.0}}) {
    GradScalerState bad = before;
    bad[name] = value;
    EXPECT_THROW(training.scaler.load_state_dict(bad), InvalidOption) << name;
  }
  GradScalerState incomplete = before;
  incomplete.erase("scale");
  EXPECT_THROW(training.scaler.load_state_dict(incomplete), InvalidOption);
  EXPECT_THROW(training.scaler.load_state_dict({}), InvalidOption);
  EXPECT_EQ(training.scaler.state_dict(), before);
}

TEST(GradScaler, OptionsOutOfRangeAreRefused) {
  GradScaler scaler(test_device());
  EXPECT_THROW(GradScaler(test_device(), {.initial = 0.0}), InvalidOption);
  EXPECT_THROW(GradScaler(test_device(), {.growth_interval = 0}), InvalidOption);
  EXPECT_THROW(scaler.set_growth_factor(1.0), InvalidOption);
  EXPECT_THROW(scaler.set_backoff_factor(1.0), InvalidOption);
  EXPECT_THROW(scaler.set_growth_interval(0), InvalidOption);
  EXPECT_EQ(scaler.get_growth_factor(), 2.0);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.5);
  EXPECT_EQ(scaler.get_growth_interval(), 2000);
}

}  // namespace
}  // namespace libtrain
