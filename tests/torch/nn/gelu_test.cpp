#include "libtrain/nn/gelu.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include "libtrain/core/error.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::leaf;
using test::ThreadCount;

class GeluTypes : public testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(All, GeluTypes, testing::Values(at::kFloat, at::kBFloat16));

std::vector<at::Tensor> run(const at::Tensor& input, const at::Tensor& grad_out,
                            at::Tensor (*function)(const at::Tensor&)) {
  const auto x = leaf(input, input.scalar_type());
  const at::Tensor out = function(x);
  return {out, torch::autograd::grad({out}, {x}, {grad_out})[0]};
}

at::Tensor by_aten(const at::Tensor& input) { return at::gelu(input); }

/// Values and gradients are at most 8: one rounding to bf16 is 4 * 2^-8 of that.
TEST_P(GeluTypes, EqualsAtenInDouble) {
  at::manual_seed(50);
  const at::Tensor x = at::randn({37, 45}).to(GetParam());
  const at::Tensor grad = at::randn({37, 45}).to(GetParam());
  const auto actual = run(x, grad, &libtrain::gelu);
  const auto expected = run(x.to(at::kDouble), grad.to(at::kDouble), &by_aten);
  const double tolerance = GetParam() == at::kFloat ? 2e-6 : 4 * 0x1p-8;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(actual[i].scalar_type(), GetParam());
    expect_near(actual[i], expected[i], tolerance);
  }
}

TEST_P(GeluTypes, HasTheSameBitsForAnyNumberOfThreads) {
  at::manual_seed(51);
  const at::Tensor x = at::randn({100'003}).to(GetParam());
  const at::Tensor grad = at::randn({100'003}).to(GetParam());
  const auto with_threads = [&](int count) {
    const ThreadCount threads(count);
    return run(x, grad, &libtrain::gelu);
  };
  const auto single = with_threads(1);
  for (const int count : {2, 3}) {
    const auto several = with_threads(count);
    expect_same_bits(several[0], single[0]);
    expect_same_bits(several[1], single[1]);
  }
}

TEST(Gelu, TakesAnyShapeAndStrides) {
  at::manual_seed(52);
  const at::Tensor x = at::randn({5, 7});
  const at::Tensor grad = at::randn({7, 5});
  const auto transposed = run(x.t(), grad.t().contiguous().t(), &libtrain::gelu);
  const auto plain = run(x.t().contiguous(), grad, &libtrain::gelu);
  expect_same_bits(transposed[0], plain[0]);
  expect_same_bits(transposed[1], plain[1]);
  EXPECT_EQ(libtrain::gelu(at::empty({0, 4})).sizes(), at::empty({0, 4}).sizes());
  EXPECT_EQ(libtrain::gelu(at::randn({})).dim(), 0);
}

TEST(Gelu, OtherTypesAreAtens) {
  const auto x = leaf(at::randn({20}), at::kDouble);
  const at::Tensor out = libtrain::gelu(x);
  expect_same_bits(out, at::gelu(x));
  torch::autograd::grad({out}, {x}, {at::ones_like(out)}, std::nullopt, /*create_graph=*/true);
}

TEST(Gelu, RefusesASecondDerivativeWithWhatToCallInstead) {
  const auto x = leaf(at::randn({20}), at::kFloat);
  const at::Tensor out = libtrain::gelu(x);
  try {
    torch::autograd::grad({out}, {x}, {at::ones_like(out)}, std::nullopt, /*create_graph=*/true);
    FAIL() << "no error";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("at::gelu(input)"), std::string::npos);
  }
}

}  // namespace
}  // namespace libtrain
