#include "libtrain/nn/dropout.hpp"

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "libtrain/core/error.hpp"
#include "libtrain/kernels/random.hpp"
#include "libtrain/runtime/random_scope.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_same_bits;
using test::layout_of;
using test::leaf;
using test::needs_cpu;
using test::ThreadCount;

constexpr RandomPosition kPosition{.seed = 99, .step = 2, .first_sample = 10};

at::Tensor run(const at::Tensor& input, double probability, RandomPosition position = kPosition,
               const PackedLayoutPtr& layout = nullptr) {
  const test::NoHostWait while_running;
  const RandomScope scope(position);
  return libtrain::dropout(input, probability, true, layout);
}

class DropoutTypes : public testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(All, DropoutTypes, testing::Values(at::kFloat, at::kBFloat16));

TEST_P(DropoutTypes, DropsTheElementsTheStreamNames) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const auto layout = layout_of({3, 0, 2});
  const at::Tensor out = run(test::ones({5, 7}, GetParam()), 0.5, kPosition, layout);
  for (int64_t row = 0; row < 5; ++row) {
    const int64_t sample = row < 3 ? 0 : 2;
    for (int64_t column = 0; column < 7; ++column) {
      const int64_t element = (row - layout->begin(sample)) * 7 + column;
      const auto words = kernels::philox4x32(
          {static_cast<uint32_t>(element / 4), static_cast<uint32_t>(10 + sample), 0, 2}, {99, 0});
      const bool drop = words[static_cast<size_t>(element % 4)] < kernels::dropout_threshold(0.5);
      EXPECT_EQ(out[row][column].item<double>(), drop ? 0.0 : 2.0) << row << ' ' << column;
    }
  }
}

TEST_P(DropoutTypes, KeepsTheAskedShareAndTheMean) {
  const at::Tensor out = run(test::ones({100, 1000}, GetParam()), 0.1).to(at::kDouble);
  // 1e5 draws: the share's standard deviation is 9.5e-4; bf16 rounds 1 / 0.9 by 2^-9.
  EXPECT_NEAR(out.eq(0).to(at::kDouble).mean().item<double>(), 0.1, 5e-3);
  EXPECT_NEAR(out.mean().item<double>(), 1.0, 8e-3);
}

TEST_P(DropoutTypes, UsesTheSameMaskInBackwardAndInDoubleBackward) {
  const auto x = leaf(test::ones({8, 33}), GetParam());
  const at::Tensor out = run(x, 0.4);
  const auto grad_out = leaf(test::ones({8, 33}), GetParam());
  const at::Tensor grad = torch::autograd::grad({out}, {x}, {grad_out}, std::nullopt, true)[0];
  expect_same_bits(grad, out);
  grad.sum().backward();
  expect_same_bits(grad_out.grad(), out);
}

TEST_P(DropoutTypes, IsTheSameForAnyNumberOfThreads) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  at::manual_seed(31);
  const at::Tensor x = test::randn({37, 3001}).to(GetParam());
  const auto layout = layout_of({20, 0, 1, 16});
  at::Tensor packed;
  at::Tensor stacked;
  {
    const ThreadCount single(1);
    packed = run(x, 0.3, kPosition, layout);
    stacked = run(x, 0.3);
  }
  const ThreadCount several(3);
  expect_same_bits(run(x, 0.3, kPosition, layout), packed);
  expect_same_bits(run(x, 0.3), stacked);
}

TEST(Dropout, IsTheSameForMicroBatchesAndForPackedAndStackedSamples) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  at::manual_seed(32);
  const at::Tensor x = test::randn({6, 5, 4});
  const at::Tensor whole = run(x, 0.5);
  RandomPosition later = kPosition;
  later.first_sample += 2;
  expect_same_bits(run(x.slice(0, 2), 0.5, later), whole.slice(0, 2));
  const auto layout = layout_of({5, 5, 5, 5, 5, 5});
  expect_same_bits(run(x.reshape({30, 4}), 0.5, kPosition, layout).reshape({6, 5, 4}), whole);
}

TEST(Dropout, AShorterSampleHasTheSameMaskAsItsLongerTwin) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const at::Tensor longer = run(test::ones({9, 4}), 0.5, kPosition, layout_of({9}));
  const at::Tensor shorter = run(test::ones({6, 4}), 0.5, kPosition, layout_of({6}));
  expect_same_bits(shorter, longer.slice(0, 0, 6));
}

TEST(Dropout, DifferentSitesStepsAndSeedsDiffer) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const RandomScope scope(kPosition);
  const at::Tensor x = test::ones({4, 64});
  const at::Tensor first = libtrain::dropout(x, 0.5, true);
  EXPECT_FALSE(at::equal(libtrain::dropout(x, 0.5, true), first));
  RandomPosition other = kPosition;
  other.step = 3;
  EXPECT_FALSE(at::equal(run(x, 0.5, other), first));
  expect_same_bits(run(x, 0.5), first);
}

void seed_generators(uint64_t seed) {
  at::manual_seed(seed);
  if (!test::on_cpu()) {
    at::Generator generator = at::globalContext().defaultGenerator(test::test_device());
    generator.set_current_seed(seed);
  }
}

TEST(Dropout, OutsideAScopeTheGeneratorsSeedFixesIt) {
  const at::Tensor x = test::ones({4, 64});
  seed_generators(33);
  const at::Tensor first = libtrain::dropout(x, 0.5, true);
  EXPECT_FALSE(at::equal(libtrain::dropout(x, 0.5, true), first));
  seed_generators(33);
  expect_same_bits(libtrain::dropout(x, 0.5, true), first);
}

TEST(Dropout, ReturnsTheInputItselfWhenThereIsNothingToDrop) {
  const at::Tensor x = test::ones({3});
  EXPECT_TRUE(libtrain::dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(libtrain::dropout(x, 0.0, true).is_same(x));
}

TEST(Dropout, TakesAnyShape) {
  EXPECT_EQ(run(test::ones({}), 0.5).dim(), 0);
  EXPECT_EQ(run(test::ones({0, 3}), 0.5).size(0), 0);
  EXPECT_EQ(run(test::ones({3, 0}), 0.5).size(1), 0);
  EXPECT_EQ(run(test::ones({0, 3}), 0.5, kPosition, layout_of({0, 0})).size(0), 0);
  expect_same_bits(run(test::ones({3, 5}), 1.0), test::ones({3, 5}).mul(0.0));
}

TEST(Dropout, IsTheSameForAnyStrides) {
  if (needs_cpu("dropout by counter")) {
    return;
  }
  const at::Tensor transposed = at::arange(1.0, 16.0).to(at::kFloat).reshape({5, 3}).t();
  expect_same_bits(run(transposed, 0.5), run(transposed.contiguous(), 0.5));
}

TEST(Dropout, OtherTypesTakeTheDevicesGenerator) {
  at::manual_seed(34);
  const auto x = leaf(test::ones({100, 100}), at::kDouble);
  const at::Tensor out = libtrain::dropout(x, 0.25, true);
  out.sum().backward();
  EXPECT_NEAR(out.eq(0).to(at::kDouble).mean().item<double>(), 0.25, 0.03);
  expect_same_bits(x.grad(), out);
}

TEST(Dropout, RefusesABadProbabilityAndAnotherLayout) {
  const at::Tensor x = test::ones({3, 2});
  EXPECT_THROW(libtrain::dropout(x, -0.1, true), InvalidOption);
  EXPECT_THROW(libtrain::dropout(x, 1.1, false), InvalidOption);
  EXPECT_THROW(libtrain::dropout(x, std::nan(""), true), InvalidOption);
  EXPECT_THROW(libtrain::dropout(x, 0.1, true, layout_of({2})), InvalidOption);
  EXPECT_THROW(libtrain::dropout(test::ones({}), 0.1, true, layout_of({1})), InvalidOption);
}

}  // namespace
}  // namespace libtrain
