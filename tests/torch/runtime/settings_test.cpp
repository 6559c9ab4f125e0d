#include "libtrain/runtime/settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <utility>

#include "libtrain/runtime/torch_compat.hpp"

namespace libtrain {
namespace {

Plan cuda_plan() {
  Plan plan;
  plan.device.value = {DeviceType::kCuda, 0};
  plan.threads.value = 1;
  plan.fp32_matmul.value = MatmulPrecision::kTf32;
  plan.cudnn_benchmark.value = true;
  plan.attention.value = AttentionKind::kEfficient;
  return plan;
}

TEST(Settings, AreAppliedAndPutBack) {
  at::set_num_threads(2);
  const auto precision = compat::cuda_fp32_precision(at::Float32Op::MATMUL);
  const auto order = at::globalContext().sDPPriorityOrder();
  {
    const SettingsGuard guard = apply_settings(cuda_plan());
    EXPECT_EQ(at::get_num_threads(), 1);
    EXPECT_EQ(compat::cuda_fp32_precision(at::Float32Op::MATMUL), at::Float32Precision::TF32);
    EXPECT_TRUE(at::globalContext().benchmarkCuDNN());
    EXPECT_EQ(at::globalContext().sDPPriorityOrder().front(), at::SDPBackend::efficient_attention);
    EXPECT_EQ(at::globalContext().sDPPriorityOrder().size(), order.size());
  }
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(compat::cuda_fp32_precision(at::Float32Op::MATMUL), precision);
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
  EXPECT_EQ(at::globalContext().sDPPriorityOrder(), order);
}

TEST(Settings, GuardUndoesOnceWhenMoved) {
  int undone = 0;
  {
    SettingsGuard outer;
    {
      SettingsGuard inner;
      inner.on_exit([&] { ++undone; });
      outer = std::move(inner);
    }
    EXPECT_EQ(undone, 0);
  }
  EXPECT_EQ(undone, 1);
}

}  // namespace
}  // namespace libtrain
