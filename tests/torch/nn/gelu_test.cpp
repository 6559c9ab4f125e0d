#include "libtrain/nn/gelu.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

#include "libtrain/core/error.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::leaf;
using test::needs_cpu;
using test::ThreadCount;

class GeluTypes : public testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(All, GeluTypes, testing::Values(at::kFloat, at::kBFloat16));

std::vector<at::Tensor> run(const at::Tensor& input, const at::Tensor& grad_out,
                            at::Tensor (*function)(const at::Tensor&)) {
  const test::NoHostWait while_running;
  const auto x = leaf(input, input.scalar_type());
  const at::Tensor out = function(x);
  return {out, torch::autograd::grad({out}, {x}, {grad_out})[0]};
}

at::Tensor by_aten(const at::Tensor& input) { return at::gelu(input); }

/// Values and gradients are at most 8: one rounding to bf16 is 4 * 2^-8 of that.
TEST_P(GeluTypes, EqualsAtenInDouble) {
  at::manual_seed(50);
  const at::Tensor x = test::randn({37, 45}).to(GetParam());
  const at::Tensor grad = test::randn({37, 45}).to(GetParam());
  const auto actual = run(x, grad, &libtrain::gelu);
  const auto expected = run(x.to(at::kDouble), grad.to(at::kDouble), &by_aten);
  const double tolerance = GetParam() == at::kFloat ? 2e-6 : 4 * 0x1p-8;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(actual[i].scalar_type(), GetParam());
    expect_near(actual[i], expected[i], tolerance);
  }
}

TEST_P(GeluTypes, HasTheSameBitsForAnyNumberOfThreads) {
  if (needs_cpu("threads of its kernels")) {
    return;
  }
  at::manual_seed(51);
  const at::Tensor x = test::randn({100'003}).to(GetParam());
  const at::Tensor grad = test::randn({100'003}).to(GetParam());
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
  const at::Tensor x = test::randn({5, 7});
  const at::Tensor grad = test::randn({7, 5});
  const auto transposed = run(x.t(), grad.t().contiguous().t(), &libtrain::gelu);
  const auto plain = run(x.t().contiguous(), grad, &libtrain::gelu);
  const double tolerance = test::on_cpu() ? 0.0 : 1e-6;  // at::gelu promises no bits
  expect_near(transposed[0], plain[0], tolerance);
  expect_near(transposed[1], plain[1], tolerance);
  EXPECT_EQ(libtrain::gelu(at::empty({0, 4}, test::on_device())).sizes(),
            (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(libtrain::gelu(test::randn({})).dim(), 0);
}

TEST(Gelu, OtherTypesAreAtens) {
  const auto x = leaf(test::randn({20}), at::kDouble);
  const at::Tensor out = libtrain::gelu(x);
  expect_same_bits(out, at::gelu(x));
  torch::autograd::grad({out}, {x}, {at::ones_like(out)}, std::nullopt, /*create_graph=*/true);
}

TEST(Gelu, RefusesASecondDerivativeWithWhatToCallInstead) {
  if (needs_cpu("what its kernels cannot")) {
    return;
  }
  const auto x = leaf(test::randn({20}), at::kFloat);
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
