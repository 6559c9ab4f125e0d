// A runtime for a recorded machine, on a simulated device.

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/amp/planned_autocast.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/optim/sgd.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/torch/simulation/simulated_machine.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::HasSubstr;

/// The dtype of a matrix product in the planned autocast.
at::ScalarType product_dtype(const Runtime& runtime) {
  const Autocast cast(planned_autocast(runtime));
  const at::Tensor x = at::ones({2, 2}, at::TensorOptions().device(runtime.device()));
  return at::matmul(x, x).scalar_type();
}

TEST(SimulatedRuntime, RunsWhatTheMachinesPlanSays) {
  const Runtime h100 = simulated_runtime("h100-slurm-one-gpu");
  EXPECT_EQ(h100.plan().precision.value, PrecisionMode::kBf16);
  EXPECT_FALSE(h100.plan().loss_scaling.value);
  EXPECT_EQ(product_dtype(h100), at::kBFloat16);

  const Runtime v100 = simulated_runtime("v100-sxm2-x8");
  EXPECT_EQ(v100.plan().precision.value, PrecisionMode::kFp16);
  EXPECT_TRUE(v100.plan().loss_scaling.value);
  EXPECT_EQ(product_dtype(v100), at::kHalf);

  const Runtime t4 = simulated_runtime("t4-x1");
  EXPECT_EQ(t4.plan().precision.value, PrecisionMode::kFp16) << "a T4 has no bf16";
}

TEST(SimulatedRuntime, IsNoDeviceOfTheRealMachine) {
  EXPECT_EQ(make_runtime().simulation(), nullptr);
  const Runtime runtime = simulated_runtime("t4-x1");
  EXPECT_EQ(runtime.device().str(), "sim:0");
  EXPECT_EQ(runtime.simulation()->report().machine, "Tesla T4");
  EXPECT_EQ(runtime.simulation()->report().limit_bytes, 16106127360);
}

TEST(SimulatedRuntime, RefusesAMachineWhosePlanIsTheCpus) {
  try {
    simulated_runtime("v100-torch-2.15");
    FAIL() << "no error";
  } catch (const Unsupported& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("[runtime.simulate]"), HasSubstr("V100"),
                                    HasSubstr("7.0"), HasSubstr("sm_75")));
  }
}

TEST(SimulatedRuntime, RandomNumbersOfTheDeviceFollowTheSeed) {
  const auto draw = [](uint64_t seed) {
    const Runtime runtime = Runtime::simulated({.seed = seed}, recorded_machine("t4-x1"));
    return at::empty({8}, at::TensorOptions().device(runtime.device())).uniform_().cpu();
  };
  EXPECT_TRUE(at::equal(draw(5), draw(5)));
  EXPECT_FALSE(at::equal(draw(5), draw(6)));
}

TEST(SimulatedRuntime, AStepThatDoesNotFitSaysWhatToDoAndMovesNothing) {
  Runtime runtime = simulated_runtime("h100-pcie-mig-pod", {.accumulate = 2});
  at::Tensor weight = at::ones({4}, at::TensorOptions().device(runtime.device()));
  weight.set_requires_grad(true);
  SGD optimizer({{{{{"weight", weight}}, {}}}, {}});
  Trainer trainer(runtime, optimizer);
  const Batch batch = Batch::stacked({{"x", at::ones({6, 1})}});
  try {
    trainer.step(batch, [&](const Batch& part) {
      constexpr int64_t kFloatsOf12Gb = 3'000'000'000;
      return part.samples() == 3 ? at::empty({kFloatsOf12Gb}, weight.options()).sum() * weight.sum()
                                 : weight.sum();
    });
    FAIL() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("[trainer.step] out of memory on sim:0"), HasSubstr("samples=6"),
                      HasSubstr("accumulate=2"), HasSubstr("raise accumulate")));
  }
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_TRUE(at::equal(weight.cpu(), at::ones({4})));
}

}  // namespace
}  // namespace libtrain
