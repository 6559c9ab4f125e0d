// Runs the device paths on meta tensors, whose numbers cannot be read: see
// support/meta_operators.cpp.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "libtrain/amp/grad_scaler.hpp"
#include "libtrain/optim/adamw.hpp"

namespace libtrain {
namespace {

TEST(GradScaler, OnADeviceReadsNoNumberAndLeavesTheDecisionThere) {
  const at::Tensor weight = at::empty({3}, at::kMeta).requires_grad_();
  AdamW optimizer({{{{{"weight", weight}}, {}}}, {}});
  GradScaler scaler(at::kMeta);
  for (const bool explicitly : {false, true}) {
    optimizer.zero_grad();
    scaler.scale((weight * weight).sum()).backward();
    if (explicitly) {
      scaler.unscale_(optimizer);
    }
    EXPECT_EQ(scaler.step(optimizer), StepOutcome::kDecidedOnDevice);
    scaler.update();
  }
  scaler.update(8.0);
  scaler.update(at::full({}, 4.0F));
  EXPECT_THROW(scaler.get_scale(), c10::Error);
}

}  // namespace
}  // namespace libtrain
