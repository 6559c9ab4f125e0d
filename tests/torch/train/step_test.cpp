#include <ATen/autocast_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/embedding.h>

#include <limits>
#include <stdexcept>

#include "libtrain/core/error.hpp"
#include "libtrain/nn/dropout.hpp"
#include "libtrain/nn/embedding.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/sgd.hpp"
#include "libtrain/runtime/gradient_forms.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;
using testing::HasSubstr;

/// Every test runs with the step's values in tensors, on the CPU also on the host.
class Step : public testing::TestWithParam<bool> {
 protected:
  Trainer make_trainer(TrainerOptions options = {}) {
    options.values_on_device = GetParam();
    return Trainer(runtime_, optimizer_, std::move(options));
  }
  StepValues step(Trainer& trainer, const LossFunction& loss) {
    return trainer.values(take_step(trainer, loss));
  }
  StepReport take_step(Trainer& trainer, const LossFunction& loss) {
    const NoHostWait while_stepping;
    return trainer.step(batch_, loss);
  }
  LossFunction loss() {
    return [this](const Batch& part) { return mlp_loss(model_, part); };
  }
  LossFunction infinite_loss() {
    return [this](const Batch& part) {
      return mlp_loss(model_, part) * std::numeric_limits<float>::infinity();
    };
  }
  void expect_same(const std::vector<at::Tensor>& weights) {
    for (size_t i = 0; i < weights.size(); ++i) {
      EXPECT_TRUE(at::equal(model_->parameters()[i], weights[i])) << "parameter " << i;
    }
  }

  Runtime runtime_ = make_runtime();
  torch::nn::Sequential model_ = make_mlp();
  AdamW optimizer_{parameters_of(*model_), {.lr = 1e-2}};
  Batch batch_ = make_batches(1, 8).front();
};

TEST_P(Step, LeavesNoGradients) {
  Trainer trainer = make_trainer();
  step(trainer, loss());
  for (const at::Tensor& parameter : model_->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
}

TEST_P(Step, ThatIsNotFiniteMovesNothing) {
  Trainer trainer = make_trainer({.schedule = linear_warmup(0, 4)});
  step(trainer, loss());
  const std::vector<at::Tensor> weights = copies(model_->parameters());
  const OptimizerState state = optimizer_.state_dict();
  const at::Tensor moment = state.at("exp_avg.0.weight").clone();

  const StepValues skipped = step(trainer, infinite_loss());
  EXPECT_FALSE(skipped.applied);
  EXPECT_EQ(skipped.skipped_in_row, 1);
  expect_same(weights);
  EXPECT_TRUE(at::equal(optimizer_.state_dict().at("exp_avg.0.weight"), moment));
  EXPECT_EQ(optimizer_.state_dict().at("step.0.weight").item<float>(), 1.0F);

  const StepValues next = step(trainer, loss());
  EXPECT_TRUE(next.applied);
  EXPECT_EQ(next.lr_factor, 0.75) << "the schedule must not have moved with the skipped step";
  EXPECT_EQ(next.skipped_in_row, 0);
  EXPECT_EQ(trainer.applied_steps(), 2);
  EXPECT_EQ(trainer.steps(), 3);
}

TEST_P(Step, GivesUpAfterTooManySkipsAndNamesTheParameter) {
  EXPECT_THROW(make_trainer({.max_skips_in_row = 0}), InvalidOption);
  Trainer trainer = make_trainer({.max_skips_in_row = 3});
  step(trainer, infinite_loss());
  step(trainer, infinite_loss());
  try {
    step(trainer, infinite_loss());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 steps in a row"));
    EXPECT_THAT(error.what(), HasSubstr("0.weight"));
  }
}

TEST_P(Step, NamesAParameterWhoseGradientIsSparse) {
  torch::nn::Embedding table(40, 8);
  table->to(test_device());
  AdamW optimizer(parameters_of(*table));
  Trainer trainer(runtime_, optimizer, {.max_skips_in_row = 1, .values_on_device = GetParam()});
  const Batch batch = Batch::stacked({{"ids", at::arange(6, on_device(at::kLong))}});
  try {
    trainer.step(batch, [&](const Batch& part) {
      return libtrain::embedding(table->weight, part.at("ids")).sum() *
             std::numeric_limits<float>::infinity();
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("now in weight"));
  }
}

TEST_P(Step, TheScheduleReachesPastTheFirstTableOfADevice) {
  at::Tensor a = at::full({}, 1.0, on_device()).set_requires_grad(true);
  SGD sgd({{{{{"a", a}}, {}}}, {}});
  constexpr int64_t kSteps = 4100;
  Trainer trainer(runtime_, sgd,
                  {.schedule = linear_warmup(0, 2 * kSteps), .values_on_device = GetParam()});
  StepReport report;
  for (int64_t i = 0; i < kSteps; ++i) {
    report = trainer.step(batch_, [&](const Batch&) { return a * 1e-3; });
  }
  EXPECT_NEAR(trainer.values(report).lr_factor, 0.5, 1e-3);
}

TEST_P(Step, ExceptionFromTheLossLeavesEverythingAsItWas) {
  Trainer trainer = make_trainer();
  const std::vector<at::Tensor> weights = copies(model_->parameters());
  EXPECT_THROW(trainer.step(batch_,
                            [&](const Batch& part) -> at::Tensor {
                              mlp_loss(model_, part).backward();
                              throw std::runtime_error("no data");
                            }),
               std::runtime_error);
  expect_same(weights);
  for (const at::Tensor& parameter : model_->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
  }
  EXPECT_EQ(trainer.steps(), 0);
  EXPECT_TRUE(step(trainer, loss()).applied);
}

TEST_P(Step, RefusesALossThatCannotBeTrained) {
  Trainer trainer = make_trainer();
  EXPECT_THROW(step(trainer, [](const Batch&) { return at::Tensor(); }), InvalidOption);
  try {
    step(trainer, [&](const Batch& part) { return model_->forward(part.at("x")); });
    FAIL() << "no error";
  } catch (const InvalidOption& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a floating-point scalar"));
  }
  EXPECT_THROW(step(trainer, [&](const Batch& part) { return mlp_loss(model_, part).detach(); }),
               InvalidOption);
}

TEST_P(Step, WithoutAnyGradientMovesNothing) {
  const at::Tensor other = at::full({}, 1.0, on_device()).set_requires_grad(true);
  Trainer trainer = make_trainer({.schedule = linear_warmup(0, 4)});
  const std::vector<at::Tensor> weights = copies(model_->parameters());
  EXPECT_FALSE(step(trainer, [&](const Batch&) { return other * 2; }).applied);
  expect_same(weights);
  EXPECT_EQ(trainer.applied_steps(), 0);
}

TEST_P(Step, ClipsByTheNormOfAllGradientsTogether) {
  at::Tensor a = at::full({1}, 1.0, on_device()).set_requires_grad(true);
  at::Tensor b = at::full({1}, 1.0, on_device()).set_requires_grad(true);
  SGD sgd({{{{{"a", a}, {"b", b}}, {}}}, {}}, {.lr = 1.0});
  Trainer trainer(runtime_, sgd, {.clip_norm = 1.0, .values_on_device = GetParam()});
  const StepValues values =
      trainer.values(trainer.step(batch_, [&](const Batch&) { return (3 * a + 4 * b).squeeze(); }));
  EXPECT_NEAR(values.grad_norm, 5.0, 1e-6);
  EXPECT_NEAR(a.item<double>(), 1.0 - 3.0 / 5.0, 1e-5);
  EXPECT_NEAR(b.item<double>(), 1.0 - 4.0 / 5.0, 1e-5);
  EXPECT_THROW(Trainer(runtime_, sgd, {.clip_norm = 0.0}), InvalidOption);
}

TEST_P(Step, LeavesAGradientBelowTheLimitAndUnscalesWhatItApplies) {
  for (const PrecisionMode precision : {PrecisionMode::kFp32, PrecisionMode::kFp16}) {
    const Runtime runtime = make_runtime(precision);
    at::Tensor a = at::full({}, 1.0, on_device()).set_requires_grad(true);
    SGD sgd({{{{{"a", a}}, {}}}, {}}, {.lr = 1.0});
    Trainer trainer(runtime, sgd, {.clip_norm = 10.0, .values_on_device = GetParam()});
    const StepValues values =
        trainer.values(trainer.step(batch_, [&](const Batch&) { return 3 * a; }));
    EXPECT_EQ(values.grad_norm, 3.0);
    EXPECT_EQ(a.item<double>(), 1.0 - 3.0);
  }
}

TEST_P(Step, DrawsOtherNumbersInEveryStep) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const auto drawn = [&](int64_t steps) {
    std::vector<at::Tensor> seen;
    Trainer trainer = make_trainer();
    for (int64_t i = 0; i < steps; ++i) {
      trainer.step(batch_, [&](const Batch& part) {
        seen.push_back(libtrain::dropout(at::ones({8, 16}, on_device()), 0.5, true));
        return mlp_loss(model_, part);
      });
    }
    return seen;
  };
  const std::vector<at::Tensor> first = drawn(2);
  const std::vector<at::Tensor> again = drawn(2);
  EXPECT_FALSE(at::equal(first[0], first[1]));
  EXPECT_TRUE(at::equal(first[0], again[0]) && at::equal(first[1], again[1]));
}

TEST_P(Step, AsksForGradientsAsComputedForOneMicroBatchOnTheHostAlone) {
  for (const int64_t accumulate : {1, 2}) {
    const Runtime runtime = make_runtime(PrecisionMode::kBf16, accumulate);
    Trainer trainer(runtime, optimizer_, {.values_on_device = GetParam()});
    std::vector<bool> asked;
    trainer.step(batch_, [&](const Batch& part) {
      asked.push_back(gradient_forms().computed);
      return mlp_loss(model_, part);
    });
    EXPECT_EQ(asked,
              std::vector<bool>(static_cast<size_t>(accumulate), accumulate == 1 && !GetParam()));
  }
}

TEST_P(Step, MovesAnEmbeddingAsItsDenseGradientWould) {
  const auto train = [&](const auto& lookup) {
    at::manual_seed(4);
    torch::nn::Embedding table(40, 8);
    table->to(test_device());
    AdamW optimizer(parameters_of(*table), {.lr = 1e-2, .weight_decay = 0.1});
    const Runtime runtime = make_runtime(PrecisionMode::kFp32, /*accumulate=*/2);
    Trainer trainer(runtime, optimizer, {.clip_norm = 0.05, .values_on_device = GetParam()});
    for (int64_t step = 0; step < 5; ++step) {
      const Batch batch =
          Batch::stacked({{"ids", at::randint(40, {6}, at::kLong)}}).to(test_device());
      trainer.step(batch, [&](const Batch& part) {
        return lookup(table->weight, part.at("ids")).square().sum();
      });
    }
    return table->weight.detach().clone();
  };
  const at::Tensor ours = train([](const at::Tensor& weight, const at::Tensor& ids) {
    return libtrain::embedding(weight, ids);
  });
  const at::Tensor atens = train(
      [](const at::Tensor& weight, const at::Tensor& ids) { return at::embedding(weight, ids); });
  // The norm sums in another order; AdamW's first steps move by lr whatever the gradient's size.
  EXPECT_TRUE(at::allclose(ours, atens, 0.0, 1e-6));
}

TEST_P(Step, WeighsMicroBatchesByTheirShareOfTheWindow) {
  Runtime runtime = make_runtime(PrecisionMode::kFp32, 4);
  batch_.set_weights({1, 7, 3, 0, 2, 0, 0, 0});
  std::vector<double> weights;
  Trainer trainer(runtime, optimizer_, {.values_on_device = GetParam()});
  const at::Tensor one = at::full({}, 1.0, on_device()).set_requires_grad(true);
  const StepReport report = trainer.step(batch_, [&](const Batch& part) {
    weights.push_back(part.weight());
    return mlp_loss(model_, part) * 0 + part.weight();
  });
  EXPECT_EQ(weights, (std::vector<double>{8, 3, 2})) << "a part without weight is not run";
  EXPECT_NEAR(trainer.values(report).loss, (64.0 + 9.0 + 4.0) / 13.0, 1e-6);
}

TEST_P(Step, AWindowWithoutWeightMovesNothing) {
  Trainer trainer = make_trainer();
  batch_.set_weights(std::vector<double>(8, 0.0));
  const StepValues values = step(trainer, loss());
  EXPECT_FALSE(values.applied);
  EXPECT_EQ(values.loss, 0.0);
}

TEST_P(Step, RunsBackwardAndUpdateOutsideAutocast) {
  const Runtime runtime = make_runtime(PrecisionMode::kBf16);
  Trainer trainer(runtime, optimizer_, {.values_on_device = GetParam()});
  bool in_forward = false;
  bool in_backward = true;
  trainer.step(batch_, [&](const Batch& part) {
    in_forward = at::autocast::is_autocast_enabled(test_device().type());
    const at::Tensor value = mlp_loss(model_, part);
    value.register_hook([&](const at::Tensor&) {
      in_backward = at::autocast::is_autocast_enabled(test_device().type());
    });
    return value;
  });
  EXPECT_TRUE(in_forward);
  EXPECT_FALSE(in_backward);
}

TEST_P(Step, DropoutDoesNotDependOnTheMicroBatches) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  std::vector<std::vector<at::Tensor>> results;
  for (const int64_t accumulate : {1, 4}) {
    const Runtime runtime = make_runtime(PrecisionMode::kFp32, accumulate);
    torch::nn::Sequential model = make_mlp();
    AdamW optimizer(parameters_of(*model), {.lr = 1e-2});
    Trainer trainer(runtime, optimizer, {.values_on_device = GetParam()});
    for (const Batch& batch : make_batches(3, 10)) {
      trainer.step(batch, [&](const Batch& part) {
        const at::Tensor x = libtrain::dropout(part.at("x"), 0.5, true);
        return torch::nn::functional::cross_entropy(model->forward(x), part.at("y"));
      });
    }
    results.push_back(copies(model->parameters()));
  }
  for (size_t i = 0; i < results[0].size(); ++i) {
    // Only the order of sums differs; another mask would move a weight by about lr = 1e-2.
    EXPECT_LT((results[0][i] - results[1][i]).abs().max().item<double>(), 1e-4);
  }
}

TEST_P(Step, Fp16BacksOffAndGrowsTheScaleAsTheGradientsSay) {
  const Runtime runtime = make_runtime(PrecisionMode::kFp16);
  EXPECT_TRUE(runtime.plan().loss_scaling.value);
  Trainer trainer(
      runtime, optimizer_,
      {.loss_scale = {.initial = 1024.0, .growth_interval = 2}, .values_on_device = GetParam()});
  std::vector<double> scales;
  for (int i = 0; i < 5; ++i) {
    scales.push_back(step(trainer, i == 1 ? infinite_loss() : loss()).loss_scale);
  }
  EXPECT_EQ(scales, (std::vector<double>{1024, 1024, 512, 512, 1024}));
}

INSTANTIATE_TEST_SUITE_P(Values, Step, testing::ValuesIn(values_on_device()), [](const auto& info) {
  return std::string(info.param ? "device" : "host");
});

}  // namespace
}  // namespace libtrain
