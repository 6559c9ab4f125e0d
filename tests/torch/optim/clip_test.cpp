#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libtrain/core/error.hpp"
#include "libtrain/optim/clip.hpp"
#include "libtrain/optim/clip_on_device.hpp"
#include "libtrain/optim/gradient_norm.hpp"
#include "optimizer_support.hpp"

namespace libtrain {
namespace {

using test::on_device;
using test::same_bits;
using test::values;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor with_gradient(const at::Tensor& gradient) {
  at::Tensor parameter = at::zeros(gradient.sizes(), gradient.options().layout(at::kStrided));
  parameter.requires_grad_();
  parameter.mutable_grad() = gradient;
  return parameter;
}

/// As this device's optimizers take it.
double norm_of(const std::vector<at::Tensor>& gradients) {
  return test::on_cpu() ? gradient_norm(gradients)
                        : gradient_norm_on_device(gradients).item<double>();
}

/// The norm by its definition, in double.
double plain_norm(const std::vector<at::Tensor>& tensors, double p) {
  double sum = 0.0;
  double largest = 0.0;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor magnitudes = tensor.to(at::kDouble).abs().cpu().contiguous();
    for (int64_t i = 0; i < magnitudes.numel(); ++i) {
      const double value = magnitudes.const_data_ptr<double>()[i];
      sum += std::pow(value, p);
      largest = std::max(largest, value);
    }
  }
  return std::isinf(p) ? largest : std::pow(sum, 1.0 / p);
}

TEST(GradientNorm, IsThatOfItsDefinitionForEveryDtypeAndLayout) {
  const std::vector<at::Tensor> gradients{values({100, 301}, 0),
                                          values({40001}, 5).to(at::kBFloat16),
                                          values({40002}, 6).to(at::kHalf),
                                          values({40003}, 7).to(at::kDouble),
                                          values({8, 6}, 8).t(),
                                          values({8, 6}, 9).slice(1, 1, 4),
                                          at::Tensor(),
                                          at::empty({0}, on_device())};
  std::vector<at::Tensor> defined;
  for (const at::Tensor& gradient : gradients) {
    if (gradient.defined()) {
      defined.push_back(gradient);
    }
  }
  const double expected = plain_norm(defined, 2.0);
  EXPECT_NEAR(norm_of(gradients), expected, 1e-12 * expected);
  EXPECT_NEAR(gradient_norm_on_device(gradients).item<double>(), expected, 1e-12 * expected);
  EXPECT_EQ(norm_of({}), 0.0);
  EXPECT_EQ(gradient_norm_on_device({}).item<double>(), 0.0);
}

TEST(GradientNorm, DoesNotOverflowWhereFp32SquaresDo) {
  const std::vector<at::Tensor> gradients{at::full({3}, 1e20F, on_device()),
                                          at::full({1}, 1e20F, on_device())};
  EXPECT_NEAR(norm_of(gradients), 2e20, 1e14);
  EXPECT_NEAR(gradient_norm_on_device(gradients).item<double>(), 2e20, 1e14);
}

TEST(GradientNorm, IsNotFiniteWhenAnElementIsNot) {
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    at::Tensor gradient = values({40000}, 0);
    gradient[39999] = bad;
    EXPECT_FALSE(std::isfinite(norm_of({values({5}, 0), gradient})));
    EXPECT_FALSE(std::isfinite(gradient_norm_on_device({values({5}, 0), gradient}).item<double>()));
  }
}

TEST(GradientNorm, TakesTheMagnitudeOfComplexElements) {
  const at::Tensor gradient = test::complex(3.0F, 4.0F);
  EXPECT_EQ(norm_of({gradient}), 5.0);
  EXPECT_EQ(gradient_norm_on_device({gradient}).item<double>(), 5.0);
  EXPECT_EQ(norm_of({gradient.conj()}), 5.0);
}

TEST(GradientNorm, SumsDuplicatesOfASparseGradientFirst) {
  if (test::needs_sparse_tensors()) {
    return;
  }
  const at::Tensor gradient = test::sparse({0, 0, 2}, {1.0F, 2.0F, 4.0F}, 4);
  EXPECT_EQ(norm_of({gradient}), 5.0);
  const at::Tensor half = test::sparse({0, 0}, {4e4F, 4e4F}, 4).to(at::kHalf);
  EXPECT_FALSE(std::isfinite(norm_of({half})));
}

TEST(GradientNorm, HasTheSameBitsForAnyNumberOfThreads) {
  if (test::needs_cpu("threads of its kernels")) {
    return;
  }
  const int threads = at::get_num_threads();
  std::vector<at::Tensor> gradients;
  for (int i = 0; i < 40; ++i) {
    gradients.push_back(values({1 + 3777 * i}, i));
  }
  at::set_num_threads(1);
  const double one = norm_of(gradients);
  at::set_num_threads(2);
  const double two = norm_of(gradients);
  at::set_num_threads(threads);
  EXPECT_EQ(one, two);
}

class Clip : public testing::TestWithParam<double> {};

TEST_P(Clip, ScalesToTheLimitAndReturnsTheNormBefore) {
  const double p = GetParam();
  const std::vector<at::Tensor> gradients{values({300}, 0), values({7, 5}, 5)};
  const double norm = plain_norm(gradients, p);
  std::vector<at::Tensor> parameters{with_gradient(gradients[0].clone()),
                                     at::zeros({2}, on_device()),
                                     with_gradient(gradients[1].clone())};
  const at::Tensor returned = clip_grad_norm_(parameters, 0.25, p);
  EXPECT_EQ(returned.scalar_type(), at::kFloat);
  EXPECT_NEAR(returned.item<double>(), norm, 1e-6 * norm);
  const double coefficient = 0.25 / (norm + 1e-6);
  EXPECT_TRUE(at::allclose(parameters[0].grad(), gradients[0] * coefficient, 1e-6, 1e-9));
  EXPECT_TRUE(at::allclose(parameters[2].grad(), gradients[1] * coefficient, 1e-6, 1e-9));
}

INSTANTIATE_TEST_SUITE_P(NormTypes, Clip, testing::Values(1.0, 2.0, 3.0, kInfinity),
                         [](const auto& info) {
                           return std::isinf(info.param)
                                      ? std::string("Infinity")
                                      : std::to_string(static_cast<int>(info.param));
                         });

TEST(ClipGradNorm, LeavesSmallGradientsAlone) {
  const at::Tensor parameter = with_gradient(values({300}, 0));
  const at::Tensor before = parameter.grad().clone();
  clip_grad_norm_({parameter}, 1e6);
  EXPECT_TRUE(same_bits(before, parameter.grad()));
}

TEST(ClipGradNorm, LeavesGradientsAloneWhenTheNormIsNotFinite) {
  at::Tensor gradient = values({300}, 0);
  gradient[7] = INFINITY;
  const at::Tensor parameter = with_gradient(gradient.clone());
  const at::Tensor norm = clip_grad_norm_({parameter}, 1.0);
  EXPECT_TRUE(std::isinf(norm.item<float>()));
  EXPECT_TRUE(same_bits(gradient, parameter.grad()));
  EXPECT_THROW(clip_grad_norm_({parameter}, 1.0, 2.0, /*error_if_nonfinite=*/true), Error);
}

TEST(ClipGradNorm, ClipsGradientsWhoseSquaresOverflow) {
  const at::Tensor parameter = with_gradient(at::full({4}, 1e20F, on_device()));
  EXPECT_NEAR(clip_grad_norm_({parameter}, 1.0).item<double>(), 2e20, 1e14);
  EXPECT_TRUE(at::allclose(parameter.grad(), at::full({4}, 0.5F, on_device())));
}

TEST(ClipGradNorm, ClipsSparseGradientsInPlace) {
  if (test::needs_sparse_tensors()) {
    return;
  }
  const at::Tensor sparse = with_gradient(test::sparse({0, 0, 2}, {1.0F, 2.0F, 4.0F}, 4));
  EXPECT_EQ(clip_grad_norm_({sparse}, 1.0).item<float>(), 5.0F);
  EXPECT_TRUE(at::allclose(sparse.grad().to_dense(),
                           at::tensor(std::vector<float>{0.6F, 0.0F, 0.8F, 0.0F}, on_device())));
}

TEST(ClipGradNorm, ClipsComplexAndStridedGradientsInPlace) {
  const at::Tensor complex = with_gradient(test::complex(3.0F, 4.0F));
  clip_grad_norm_({complex}, 1.0);
  EXPECT_NEAR(norm_of({complex.grad()}), 1.0, 1e-6);
  const at::Tensor strided = with_gradient(values({8, 6}, 0).slice(1, 1, 4));
  clip_grad_norm_({strided}, 0.5);
  EXPECT_NEAR(norm_of({strided.grad()}), 0.5, 1e-6);
}

TEST(ClipGradNorm, ReturnsZeroWithoutGradientsAndRefusesBadLimits) {
  EXPECT_EQ(clip_grad_norm_({at::zeros({2}, on_device())}, 1.0).item<float>(), 0.0F);
  EXPECT_THROW(clip_grad_norm_(std::vector<at::Tensor>(), -1.0), InvalidOption);
  EXPECT_THROW(clip_grad_norm_(std::vector<at::Tensor>(), NAN), InvalidOption);
  EXPECT_THROW(clip_grad_norm_(std::vector<at::Tensor>(), 1.0, 0.0), InvalidOption);
}

TEST(ClipOnDevice, DoesWhatTheFormForTheCpuDoes) {
  at::Tensor infinite = values({300}, 0);
  infinite[7] = INFINITY;
  for (const at::Tensor& gradient : {values({300}, 0), infinite}) {
    for (const double max_norm : {0.25, 1e6}) {
      const at::Tensor parameter = with_gradient(gradient.to(at::kCPU, at::kFloat, false, true));
      const at::Tensor clipped = gradient.clone();
      const at::Tensor norm = clip_grad_norm_({parameter}, max_norm);
      EXPECT_TRUE(same_bits(norm, clip_on_device({clipped}, max_norm, 2.0, false)));
      EXPECT_TRUE(at::allclose(parameter.grad(), clipped.cpu(), 1e-6, 0.0)) << max_norm;
    }
  }
  EXPECT_THROW(clip_on_device({infinite}, 1.0, 2.0, /*error_if_nonfinite=*/true), Error);
}

TEST(ClipGradNorm, TakesNamedParameters) {
  Parameter parameter = test::parameter("w", {300});
  parameter.tensor.mutable_grad() = values({300}, 0);
  clip_grad_norm_(test::one_group({parameter}), 0.5);
  EXPECT_NEAR(norm_of({parameter.tensor.grad()}), 0.5, 1e-6);
}

}  // namespace
}  // namespace libtrain
