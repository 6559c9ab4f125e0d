// The planned step on a GPU: the same training as on the CPU.

#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cstdlib>
#include <string_view>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/train/trainer.hpp"
#include "tests/torch/train/mlp.hpp"

namespace libtrain {
namespace {

using namespace testing_support;

std::vector<double> losses_on(const std::string& device, PrecisionMode precision) {
  Runtime runtime({.device = device, .precision = precision, .seed = 3});
  torch::nn::Sequential model = make_mlp();
  runtime.prepare(model);
  AdamW optimizer(parameters_of(*model), {.lr = 1e-2});
  Trainer trainer(runtime, optimizer, {.clip_norm = 1.0});
  std::vector<double> losses;
  for (const Batch& batch : make_batches(10, 8)) {
    const StepReport report = trainer.step(
        batch.to(runtime.device()), [&](const Batch& part) { return mlp_loss(model, part); });
    losses.push_back(trainer.values(report).loss);
  }
  return losses;
}

class GpuStep : public testing::TestWithParam<PrecisionMode> {
 protected:
  void SetUp() override {
    if (torch::cuda::is_available()) {
      return;
    }
    const char* required = std::getenv("FASTTRAIN_REQUIRE_GPU");
    if (required != nullptr && std::string_view(required) == "1") {
      FAIL() << "FASTTRAIN_REQUIRE_GPU=1, but CUDA is not available";
    }
    GTEST_SKIP() << "no GPU";
  }
};

// 16-bit losses differ by the rounding of logits, some 2^-8 of them; fp32 by TF32's 2^-10 where it
// is on.
TEST_P(GpuStep, TrainsAsTheCpuDoes) {
  const std::vector<double> cpu = losses_on("cpu", PrecisionMode::kFp32);
  const std::vector<double> gpu = losses_on("cuda", GetParam());
  for (size_t i = 0; i < cpu.size(); ++i) {
    EXPECT_NEAR(gpu[i], cpu[i], 3e-2) << "step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, GpuStep,
                         testing::Values(PrecisionMode::kFp32, PrecisionMode::kBf16,
                                         PrecisionMode::kFp16),
                         [](const auto& info) { return std::string(to_text(info.param)); });

}  // namespace
}  // namespace libtrain
