#include "libtrain/nn/embedding.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "libtrain/core/error.hpp"
#include "libtrain/runtime/gradient_forms.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::leaf;
using test::needs_cpu;
using test::ThreadCount;

class Embedding : public testing::Test {
 protected:
  void SetUp() override {
    at::manual_seed(41);
    ids_ = at::randint(50, {200}, at::kLong).to(test::test_device());
    weight_ = leaf(test::randn({50, 19}), at::kFloat);
    grad_out_ = test::randn({200, 19});
    twin_ = leaf(weight_, at::kDouble);
    at::embedding(twin_, ids_, kPadding).backward(grad_out_.to(at::kDouble));
  }

  static constexpr int64_t kPadding = 7;
  // A row is met about four times, each sum rounds by 2^-24 of values up to about 10.
  static constexpr double kTolerance = 5e-6;
  at::Tensor ids_, weight_, grad_out_, twin_;
};

TEST_F(Embedding, FirstGradientIsDenseAndEqualsAtens) {
  at::Tensor out;
  {
    const test::NoHostWait while_running;
    out = libtrain::embedding(weight_, ids_, kPadding);
    out.backward(grad_out_);
  }
  expect_same_bits(out, weight_.index_select(0, ids_));
  EXPECT_EQ(weight_.grad().layout(), at::kStrided);
  expect_near(weight_.grad(), twin_.grad(), kTolerance);
}

TEST_F(Embedding, LaterGradientsAreAddedInPlaceToTouchedRows) {
  if (needs_cpu("gradients by rows")) {
    return;
  }
  weight_.mutable_grad() = at::zeros_like(weight_);
  const void* memory = weight_.grad().const_data_ptr();
  bool seen_sparse = false;
  weight_.register_hook([&](const at::Tensor& grad) {
    seen_sparse = grad.is_sparse();
    EXPECT_TRUE(grad.is_coalesced());
  });
  libtrain::embedding(weight_, ids_, kPadding).backward(grad_out_);
  EXPECT_TRUE(seen_sparse);
  EXPECT_EQ(weight_.grad().const_data_ptr(), memory);
  expect_near(weight_.grad(), twin_.grad(), kTolerance);
  libtrain::embedding(weight_, ids_, kPadding).backward(grad_out_);
  expect_near(weight_.grad(), twin_.grad().mul(2), 2 * kTolerance);
}

TEST_F(Embedding, GradientsAreRowsWhereTheReaderTakesThem) {
  if (needs_cpu("gradients by rows")) {
    return;
  }
  const GradientFormsScope rows({.rows = true});
  for (int times = 1; times <= 2; ++times) {
    libtrain::embedding(weight_, ids_, kPadding).backward(grad_out_);
    EXPECT_TRUE(weight_.grad().is_sparse());
    expect_near(weight_.grad().to_dense(), twin_.grad().mul(times), times * kTolerance);
  }
  const at::Tensor out = libtrain::embedding(weight_, ids_, kPadding);
  EXPECT_EQ(torch::autograd::grad({out}, {weight_}, {grad_out_})[0].layout(), at::kStrided);
  {
    const GradientFormsScope inner({});
    weight_.mutable_grad().reset();
    libtrain::embedding(weight_, ids_, kPadding).backward(grad_out_);
    EXPECT_EQ(weight_.grad().layout(), at::kStrided);
  }
  EXPECT_TRUE(gradient_forms().rows);
}

TEST_F(Embedding, GradientsAreTheSameForAnyNumberOfThreads) {
  if (needs_cpu("threads of its kernels")) {
    return;
  }
  const auto gradient = [&](int threads) {
    const ThreadCount count(threads);
    weight_.mutable_grad() = at::zeros_like(weight_);
    libtrain::embedding(weight_, ids_).backward(grad_out_);
    return weight_.grad().clone();
  };
  expect_same_bits(gradient(3), gradient(1));
}

TEST_F(Embedding, AskedGradientsAreDenseEvenWithAGradientInPlace) {
  weight_.mutable_grad() = at::zeros_like(weight_);
  const at::Tensor out = libtrain::embedding(weight_, ids_, kPadding);
  const at::Tensor grad = torch::autograd::grad({out}, {weight_}, {grad_out_})[0];
  EXPECT_EQ(grad.layout(), at::kStrided);
  expect_near(grad, twin_.grad(), kTolerance);
  EXPECT_EQ(weight_.grad().abs().max().item<float>(), 0.0F);
}

TEST_F(Embedding, TiedWeightsGetBothGradients) {
  weight_.mutable_grad() = at::zeros_like(weight_);
  libtrain::embedding(weight_, ids_, kPadding).mul(grad_out_).sum().add(weight_.sum()).backward();
  expect_near(weight_.grad(), twin_.grad().add(1), 2 * kTolerance);
}

TEST_F(Embedding, AnUpdateBetweenForwardAndBackwardIsNoFault) {
  const at::Tensor out = libtrain::embedding(weight_, ids_, kPadding);
  weight_.detach().add_(1.0);
  out.backward(grad_out_);
  expect_near(weight_.grad(), twin_.grad(), kTolerance);
}

TEST_F(Embedding, NoIdsAndOnlyPaddingGiveNoGradient) {
  weight_.mutable_grad() = at::zeros_like(weight_);
  libtrain::embedding(weight_, ids_.slice(0, 0, 0)).sum().backward();
  libtrain::embedding(weight_, ids_.mul(0).add(kPadding), kPadding).sum().backward();
  EXPECT_EQ(weight_.grad().abs().max().item<float>(), 0.0F);
}

TEST_F(Embedding, OtherWeightsTakeAtensWay) {
  const auto wide = leaf(weight_, at::kDouble);
  wide.mutable_grad() = at::zeros_like(wide);
  libtrain::embedding(wide, ids_, kPadding).backward(grad_out_.to(at::kDouble));
  expect_same_bits(wide.grad(), twin_.grad());
  const at::Tensor derived = libtrain::embedding(weight_.mul(2.0), ids_);
  derived.sum().backward();
  EXPECT_EQ(weight_.grad().layout(), at::kStrided);
}

TEST_F(Embedding, BadIdsAreRefused) {
  EXPECT_THROW(libtrain::embedding(weight_, ids_.to(at::kInt)), InvalidOption);
  EXPECT_THROW(libtrain::embedding(weight_, ids_.reshape({2, 100})), InvalidOption);
  if (!test::test_device().is_cuda()) {  // there a bad index ends the process
    EXPECT_ANY_THROW(libtrain::embedding(weight_, ids_.add(50)));
    EXPECT_ANY_THROW(libtrain::embedding(weight_, ids_.sub(51)));
  }
}

}  // namespace
}  // namespace libtrain
