#include "libtrain/runtime/eval_scope.hpp"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/dropout.h>

#include <stdexcept>

namespace libtrain {
namespace {

TEST(EvalScope, PutsEveryLayersOwnModeBack) {
  torch::nn::Dropout dropout(0.5);
  torch::nn::BatchNorm1d frozen_norm(4);
  torch::nn::Sequential model(dropout, frozen_norm);
  frozen_norm->eval();
  try {
    const EvalScope eval(model.ptr());
    EXPECT_FALSE(dropout->is_training());
    EXPECT_FALSE(at::GradMode::is_enabled());
    throw std::runtime_error("evaluation failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_TRUE(dropout->is_training());
  EXPECT_FALSE(frozen_norm->is_training());
  EXPECT_TRUE(at::GradMode::is_enabled());
}

}  // namespace
}  // namespace libtrain
