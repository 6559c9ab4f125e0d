#include "libtrain/runtime/settings.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
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

std::array<at::Float32Precision, 3> fp32_precisions() {
  return {compat::cuda_fp32_precision(at::Float32Op::MATMUL),
          compat::cuda_fp32_precision(at::Float32Op::CONV),
          compat::cuda_fp32_precision(at::Float32Op::RNN)};
}

TEST(Settings, AreAppliedAndPutBack) {
  at::set_num_threads(2);
  const auto precisions = fp32_precisions();
  const auto order = at::globalContext().sDPPriorityOrder();
  {
    const SettingsGuard guard = apply_settings(cuda_plan());
    EXPECT_EQ(at::get_num_threads(), 1);
    constexpr auto kTf32 = at::Float32Precision::TF32;
    EXPECT_EQ(fp32_precisions(), (std::array{kTf32, kTf32, kTf32}));
    EXPECT_TRUE(at::globalContext().benchmarkCuDNN());
    EXPECT_EQ(at::globalContext().sDPPriorityOrder().front(), at::SDPBackend::efficient_attention);
    EXPECT_EQ(at::globalContext().sDPPriorityOrder().size(), order.size());
  }
  EXPECT_EQ(at::get_num_threads(), 2);
  EXPECT_EQ(fp32_precisions(), precisions);
  EXPECT_FALSE(at::globalContext().benchmarkCuDNN());
  EXPECT_EQ(at::globalContext().sDPPriorityOrder(), order);
}

TEST(Settings, OneFp32PrecisionIsForProductsConvolutionsAndRnns) {
  const auto precisions = fp32_precisions();
  Plan plan = cuda_plan();
  plan.fp32_matmul.value = MatmulPrecision::kIeee;
  {
    const SettingsGuard guard = apply_settings(plan);
    constexpr auto kIeee = at::Float32Precision::IEEE;
    EXPECT_EQ(fp32_precisions(), (std::array{kIeee, kIeee, kIeee}));
  }
  EXPECT_EQ(fp32_precisions(), precisions);
}

// LibTorch refuses programs that use both of its interfaces for TF32, at the first look at the old.
TEST(Settings, LeaveTheOldInterfaceForTf32ToTheProgram) {
  { const SettingsGuard guard = apply_settings(cuda_plan()); }
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
  EXPECT_TRUE(at::globalContext().allowTF32CuDNN());
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
