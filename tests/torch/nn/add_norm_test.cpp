#include "libtrain/nn/add_norm.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "libtrain/core/error.hpp"
#include "libtrain/nn/dropout.hpp"
#include "libtrain/runtime/random_scope.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::layout_of;
using test::leaf;
using test::needs_cpu;
using test::on_cpu;
using test::ThreadCount;

constexpr RandomPosition kPosition{.seed = 99, .step = 2, .first_sample = 10};

torch::nn::LayerNorm make_norm(int64_t width) {
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({width}).eps(1e-12));
  const at::NoGradGuard no_grad;
  norm->weight.normal_();
  norm->bias.normal_();
  norm->to(test::test_device());
  return norm;
}

/// Output, and gradients of input, residual, weight and bias.
using Results = std::vector<at::Tensor>;

Results run(const torch::nn::LayerNorm& norm, const at::Tensor& input, const at::Tensor& residual,
            const at::Tensor& grad_out, double probability, const PackedLayoutPtr& layout) {
  const test::NoHostWait while_running;
  const RandomScope scope(kPosition);
  const auto x = leaf(input, input.scalar_type());
  const auto r = leaf(residual, at::kFloat);
  const at::Tensor out = add_norm(*norm, x, r, probability, true, layout);
  Results results = torch::autograd::grad({out}, {x, r, norm->weight, norm->bias}, {grad_out});
  results.insert(results.begin(), out);
  return results;
}

/// The formula in double by ATen, with dropout()'s own mask.
Results by_formula(const torch::nn::LayerNorm& norm, const at::Tensor& input,
                   const at::Tensor& residual, const at::Tensor& grad_out, double probability,
                   const PackedLayoutPtr& layout) {
  const RandomScope scope(kPosition);
  const at::Tensor kept = dropout(test::ones(input.sizes()), probability, true, layout).ne(0);
  const auto x = leaf(input, at::kDouble);
  const auto r = leaf(residual, at::kDouble);
  const auto weight = leaf(norm->weight, at::kDouble);
  const auto bias = leaf(norm->bias, at::kDouble);
  const at::Tensor out =
      at::layer_norm(x * kept / (1 - probability) + r, {input.size(-1)}, weight, bias, 1e-12);
  Results results = torch::autograd::grad({out}, {x, r, weight, bias}, {grad_out.to(at::kDouble)});
  results.insert(results.begin(), out);
  return results;
}

/// The formula knows the mask of dropout by counter alone, which only the CPU has.
std::vector<double> dropout_probabilities() {
  return on_cpu() ? std::vector<double>{0.0, 0.1, 0.7} : std::vector<double>{0.0};
}

class AddNormTypes : public testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(All, AddNormTypes, testing::Values(at::kFloat, at::kBFloat16));

/// Values are about 1 and sums over 57 rows about 8, with fp32's 2^-24; a gradient in bf16, at most
/// about 8, is rounded once, by 2^-8.
TEST_P(AddNormTypes, EqualsTheFormulaInDouble) {
  at::manual_seed(40);
  const auto norm = make_norm(45);
  const at::Tensor residual = test::randn({57, 45});
  const at::Tensor input = test::randn({57, 45}).to(GetParam());
  const at::Tensor grad_out = test::randn({57, 45});
  const double rounding = GetParam() == at::kFloat ? 4e-6 : 8 * 0x1p-8;
  for (const double probability : dropout_probabilities()) {
    for (const auto& layout : {PackedLayoutPtr(), layout_of({20, 0, 1, 36})}) {
      const Results actual = run(norm, input, residual, grad_out, probability, layout);
      const Results expected = by_formula(norm, input, residual, grad_out, probability, layout);
      EXPECT_EQ(actual[0].scalar_type(), at::kFloat);
      EXPECT_EQ(actual[1].scalar_type(), GetParam());
      expect_near(actual[0], expected[0], 4e-6);
      expect_near(actual[1], expected[1], rounding);
      expect_near(actual[2], expected[2], 4e-6);
      expect_near(actual[3], expected[3], 2e-5);
      expect_near(actual[4], expected[4], 2e-5);
    }
  }
}

TEST_P(AddNormTypes, HasTheSameBitsForAnyNumberOfThreads) {
  if (needs_cpu("threads of its kernels")) {
    return;
  }
  at::manual_seed(41);
  const auto norm = make_norm(384);
  const at::Tensor residual = test::randn({333, 384});
  const at::Tensor input = test::randn({333, 384}).to(GetParam());
  const at::Tensor grad_out = test::randn({333, 384});
  const auto layout = layout_of({100, 0, 1, 232});
  const auto with_threads = [&](int count) {
    const ThreadCount threads(count);
    return run(norm, input, residual, grad_out, 0.1, layout);
  };
  const Results single = with_threads(1);
  for (const int count : {2, 3}) {
    const Results several = with_threads(count);
    for (size_t i = 0; i < single.size(); ++i) {
      expect_same_bits(several[i], single[i]);
    }
  }
}

TEST(AddNorm, TakesASiteWhereDropoutWould) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const auto norm = make_norm(8);
  const at::Tensor x = test::randn({4, 8});
  const auto next_after = [&](double probability, bool training) {
    const RandomScope scope(kPosition);
    add_norm(*norm, x, x, probability, training);
    return next_random_stream().site;
  };
  EXPECT_EQ(next_after(0.5, true), 1U);
  EXPECT_EQ(next_after(1.0, true), 1U);
  EXPECT_EQ(next_after(0.0, true), 0U);
  EXPECT_EQ(next_after(0.5, false), 0U);
}

TEST(AddNorm, HasTheSameOutputWhenNothingIsKeptForBackward) {
  const auto norm = make_norm(40);
  const at::Tensor x = test::randn({5, 40});
  const at::Tensor out = add_norm(*norm, x, x, 0.0, true);
  EXPECT_TRUE(out.requires_grad());
  const at::NoGradGuard no_grad;
  expect_same_bits(add_norm(*norm, x, x, 0.0, true), out);
}

TEST(AddNorm, TakesMoreDimensionsAnyStridesAndNoRows) {
  at::manual_seed(42);
  const auto norm = make_norm(6);
  const at::Tensor x = test::randn({3, 6, 5}).transpose(1, 2);
  const at::Tensor residual = test::randn({6, 3, 5}).permute({1, 2, 0});
  const at::Tensor grad_out = test::ones({3, 5, 6});
  const double probability = dropout_probabilities().back();
  const Results actual = run(norm, x, residual, grad_out, probability, nullptr);
  const Results expected = by_formula(norm, x, residual, grad_out, probability, nullptr);
  for (size_t i = 0; i < actual.size(); ++i) {
    expect_near(actual[i], expected[i], 1e-5);
  }
  const at::Tensor none = test::ones({0, 6});
  const Results empty = run(norm, none, none, none, 0.5, layout_of({0, 0}));
  EXPECT_EQ(empty[0].sizes(), none.sizes());
  EXPECT_EQ(empty[3].abs().sum().item<double>(), 0.0);
}

TEST(AddNorm, GivesGradientsToWhatAsksForThem) {
  const auto norm = make_norm(8);
  const auto residual = leaf(test::randn({4, 8}), at::kFloat);
  const at::Tensor input = test::randn({4, 8});
  norm->weight.set_requires_grad(false);
  add_norm(*norm, input, residual, 0.0, true).sum().backward();
  EXPECT_TRUE(residual.grad().defined());
  EXPECT_TRUE(norm->bias.grad().defined());
  EXPECT_FALSE(norm->weight.grad().defined());
}

TEST(AddNorm, IsTheFormulaForWhatItDoesNotComputeItself) {
  at::manual_seed(43);
  const at::Tensor x = test::randn({4, 8});
  auto norm = make_norm(8);
  const auto formula = [&](const at::Tensor& input, const at::Tensor& residual, double p = 0.0) {
    return norm(libtrain::dropout(input, p, true) + residual);
  };
  expect_near(add_norm(*norm, x, x[0], 0.0, true), formula(x, x[0]), 1e-6);
  expect_near(add_norm(*norm, x[0], x[1], 0.0, true), formula(x[0], x[1]), 1e-6);
  expect_near(add_norm(*norm, x, x, 1.0, true), formula(x, x, 1.0), 1e-6);
  norm->to(at::kDouble);
  EXPECT_EQ(add_norm(*norm, x.to(at::kDouble), x, 0.0, true).scalar_type(), at::kDouble);
  norm = torch::nn::LayerNorm(torch::nn::LayerNormOptions({4, 8}));
  norm->to(test::test_device());
  expect_near(add_norm(*norm, x, x, 0.0, true), formula(x, x), 1e-6);
  norm = torch::nn::LayerNorm(torch::nn::LayerNormOptions({8}).elementwise_affine(false));
  expect_near(add_norm(*norm, x, x, 0.0, true), formula(x, x), 1e-6);
}

TEST(AddNorm, RefusesASecondDerivativeWithWhatToWriteInstead) {
  if (needs_cpu("what its kernels cannot")) {
    return;
  }
  const auto norm = make_norm(8);
  const auto x = leaf(test::randn({4, 8}), at::kFloat);
  const at::Tensor out = add_norm(*norm, x, x, 0.0, true);
  try {
    torch::autograd::grad({out}, {x}, {at::ones_like(out)}, std::nullopt, /*create_graph=*/true);
    FAIL() << "no error";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("norm(dropout(input, ...) + residual)"),
              std::string::npos);
  }
}

TEST(AddNorm, RefusesABadProbabilityAndAnotherLayout) {
  const auto norm = make_norm(8);
  const at::Tensor x = test::ones({4, 8});
  EXPECT_THROW(add_norm(*norm, x, x, 1.5, true), InvalidOption);
  EXPECT_THROW(add_norm(*norm, x, x, -0.5, false), InvalidOption);
  EXPECT_THROW(add_norm(*norm, x, x, 0.5, true, layout_of({3})), InvalidOption);
}

}  // namespace
}  // namespace libtrain
