// The training step on a simulated device: the CPU's values, no wait of the host, no race.

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <limits>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/torch/simulation/simulated_machine.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;

std::vector<at::Tensor> weights_after(Runtime& runtime, int64_t steps, bool skips) {
  torch::nn::Sequential model = runtime.prepare(make_mlp());
  AdamW optimizer(parameters_of(*model), {.lr = 1e-2});
  Trainer trainer(
      runtime, optimizer,
      {.clip_norm = 0.5, .schedule = linear_warmup(10, steps), .values_on_device = true});
  std::vector<Batch> batches;
  for (const Batch& batch : make_batches(4, 10)) {
    batches.push_back(batch.to(runtime.device()));
  }
  const int64_t waits = runtime.simulation() != nullptr ? runtime.simulation()->host_waits() : 0;
  for (int64_t step = 0; step < steps; ++step) {
    trainer.step(batches[static_cast<size_t>(step % 4)], [&](const Batch& part) {
      const at::Tensor loss = mlp_loss(model, part);
      return skips && step % 9 == 4 ? loss * std::numeric_limits<float>::infinity() : loss;
    });
  }
  if (runtime.simulation() != nullptr) {
    const SimulationReport report = runtime.simulation()->report();
    EXPECT_EQ(report.host_waits - waits, 0) << report.waits.back();
    EXPECT_TRUE(report.races.empty()) << report.races.front();
    EXPECT_GT(report.peak_bytes, 0);
  }
  EXPECT_EQ(trainer.applied_steps(), skips ? steps - steps / 9 : steps);
  return copies(model->parameters());
}

TEST(SimulatedStep, InFp32IsTheCpusBitForBit) {
  const PlanOptions options = {.precision = PrecisionMode::kFp32, .accumulate = 4, .seed = 3};
  Runtime simulated = Runtime::simulated(options, recorded_machine("t4-x1"));
  const std::vector<at::Tensor> on_device = weights_after(simulated, 30, false);
  Runtime cpu(options, MachineFacts{});
  const std::vector<at::Tensor> expected = weights_after(cpu, 30, false);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(at::equal(on_device[i].cpu(), expected[i])) << "parameter " << i;
  }
}

TEST(SimulatedStep, NeverWaitsWithScalerClipAccumulationScheduleAndSkips) {
  Runtime v100 = simulated_runtime("v100-sxm2-x8", {.accumulate = 3});
  ASSERT_TRUE(v100.plan().loss_scaling.value);
  weights_after(v100, 100, true);
}

TEST(SimulatedStep, NeverWaitsInBf16) {
  Runtime h100 = simulated_runtime("h100-slurm-one-gpu");
  weights_after(h100, 40, false);
}

}  // namespace
}  // namespace libtrain
