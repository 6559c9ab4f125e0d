// The planned step against the loop a user would write with LibTorch alone: the same losses and
// weights.

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <tuple>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;

constexpr int64_t kSteps = 10;
constexpr int64_t kSamples = 10;  // with 4 micro-batches: 3, 3, 2, 2
constexpr double kLr = 1e-2;
constexpr double kWeightDecay = 0.1;
constexpr double kClip = 0.5;

struct Trace {
  std::vector<double> losses;
  std::vector<at::Tensor> weights;
};

at::Tensor plain_forward(torch::nn::Sequential& model, const Batch& batch,
                         PrecisionMode precision) {
  const bool low = precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16;
  at::autocast::set_autocast_enabled(test_device().type(), low);
  at::autocast::set_autocast_dtype(test_device().type(),
                                   precision == PrecisionMode::kFp16 ? at::kHalf : at::kBFloat16);
  at::autocast::increment_nesting();
  const at::Tensor loss = mlp_loss(model, batch);
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(test_device().type(), false);
  return loss.to(at::kFloat);
}

/// Whole batches, one backward each: what accumulation must equal.
Trace plain_loop(PrecisionMode precision) {
  torch::nn::Sequential model = make_mlp();
  torch::optim::AdamW optimizer(model->parameters(),
                                torch::optim::AdamWOptions(kLr).weight_decay(kWeightDecay));
  const double scale = precision == PrecisionMode::kFp16 ? 65536.0 : 1.0;
  Trace trace;
  for (const Batch& batch : make_batches(kSteps, kSamples)) {
    optimizer.zero_grad();
    const at::Tensor loss = plain_forward(model, batch, precision);
    (loss * scale).backward();
    for (at::Tensor& parameter : model->parameters()) {
      parameter.mutable_grad().div_(scale);
    }
    torch::nn::utils::clip_grad_norm_(model->parameters(), kClip);
    optimizer.step();
    trace.losses.push_back(loss.item<double>());
  }
  trace.weights = copies(model->parameters());
  return trace;
}

Trace planned_loop(PrecisionMode precision, int64_t accumulate, bool values_on_device) {
  const Runtime runtime = make_runtime(precision, accumulate);
  torch::nn::Sequential model = make_mlp();
  AdamW optimizer(parameters_of(*model), {.lr = kLr, .weight_decay = kWeightDecay});
  Trainer trainer(runtime, optimizer, {.clip_norm = kClip, .values_on_device = values_on_device});
  const std::vector<Batch> batches = make_batches(kSteps, kSamples);
  std::vector<StepReport> reports;
  {
    const NoHostWait while_training;
    for (const Batch& batch : batches) {
      reports.push_back(
          trainer.step(batch, [&](const Batch& part) { return mlp_loss(model, part); }));
    }
  }
  Trace trace;
  for (const StepReport& report : reports) {
    trace.losses.push_back(trainer.values(report).loss);
  }
  trace.weights = copies(model->parameters());
  return trace;
}

using Case = std::tuple<PrecisionMode, int64_t, bool>;

class StepParity : public testing::TestWithParam<Case> {};

// fp32 differs by the order of sums: some 1e-7 a step, which Adam's division can multiply. In 16
// bits splitting a batch also moves where products of weight gradients are rounded: 2^-9 (bf16) or
// 2^-12 (fp16) of a gradient.
TEST_P(StepParity, LossesAndWeightsEqualThePlainLoop) {
  const auto& [precision, accumulate, values_on_device] = GetParam();
  const bool low = precision == PrecisionMode::kBf16 || precision == PrecisionMode::kFp16;
  const double tolerance = low ? (accumulate == 1 ? 2e-3 : 2e-2) : 2e-5;
  const Trace plain = plain_loop(precision);
  const Trace planned = planned_loop(precision, accumulate, values_on_device);
  for (size_t i = 0; i < plain.losses.size(); ++i) {
    EXPECT_NEAR(planned.losses[i], plain.losses[i], tolerance) << "step " << i;
  }
  for (size_t i = 0; i < plain.weights.size(); ++i) {
    EXPECT_LT((planned.weights[i] - plain.weights[i]).abs().max().item<double>(), tolerance)
        << "parameter " << i;
  }
  EXPECT_LT(plain.losses.back(), plain.losses.front());
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const auto& [precision, accumulate, values_on_device] = info.param;
  return std::string(to_text(precision)) + (accumulate == 1 ? "_whole" : "_accumulated") +
         (values_on_device ? "_device" : "_host");
}

INSTANTIATE_TEST_SUITE_P(All, StepParity,
                         testing::Combine(testing::Values(PrecisionMode::kFp32,
                                                          PrecisionMode::kBf16,
                                                          PrecisionMode::kFp16),
                                          testing::Values(1, 4),
                                          testing::ValuesIn(values_on_device())),
                         name_of);

}  // namespace
}  // namespace libtrain
