#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>

#include "libtrain/kernels/random.hpp"
#include "libtrain/nn/attention.hpp"
#include "libtrain/runtime/random_scope.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::layout_of;
using test::leaf;
using test::needs_cpu;
using test::ThreadCount;

constexpr RandomPosition kPosition{.seed = 0x123456789abcdefULL, .step = 7, .first_sample = 3};

AttentionOptions with_dropout(int64_t heads, double probability) {
  return {.heads = heads, .dropout = probability, .training = true, .form = AttentionForm::kShort};
}

at::Tensor run(const at::Tensor& q, const PackedLayoutPtr& layout, RandomPosition position) {
  const RandomScope scope(position);
  return attention(q, q, q, layout, with_dropout(2, 0.25));
}

/// Equal queries and keys and V = I show the dropped weights themselves.
TEST(AttentionDropout, DropsTheElementsTheStreamNamesInForwardAndBackward) {
  if (needs_cpu("its short form")) {
    return;
  }
  constexpr int64_t kLength = 16;
  constexpr double kDropout = 0.3;
  const auto layout = layout_of({kLength, kLength});
  const at::Tensor zero = at::zeros({2 * kLength, 2 * kLength});
  const at::Tensor identity = at::eye(kLength).repeat({2, 2});  // both samples, both heads
  const auto v = leaf(identity, at::kFloat);
  RandomPosition position = kPosition;
  position.next_site = 5;
  const RandomScope scope(position);
  const at::Tensor out = attention(zero, zero, v, layout, with_dropout(2, kDropout));
  out.backward(identity);

  const uint64_t threshold = kernels::dropout_threshold(kDropout);
  int64_t dropped = 0;
  for (int64_t sample = 0; sample < 2; ++sample) {
    for (int64_t head = 0; head < 2; ++head) {
      for (int64_t query = 0; query < kLength; ++query) {
        for (int64_t key = 0; key < kLength; ++key) {
          const int64_t element = (head * kLength + query) * kLength + key;
          const auto words = kernels::philox4x32(
              {static_cast<uint32_t>(element / 4), static_cast<uint32_t>(3 + sample), 5, 7},
              {0x89abcdefU, 0x01234567U});
          const bool drop = words[static_cast<size_t>(element % 4)] < threshold;
          dropped += drop ? 1 : 0;
          const double weight = drop ? 0.0 : 1.0 / (kLength * (1 - kDropout));
          const int64_t row = sample * kLength;
          const int64_t column = head * kLength;
          EXPECT_NEAR(out[row + query][column + key].item<double>(), weight, 1e-6);
          EXPECT_NEAR(v.grad()[row + key][column + query].item<double>(), weight, 1e-6);
        }
      }
    }
  }
  // 1024 draws: 0.3 within five standard deviations of 0.0143.
  EXPECT_NEAR(static_cast<double>(dropped) / 1024, kDropout, 0.072);
}

TEST(AttentionDropout, DerivativeEqualsFiniteDifferencesUnderOneMask) {
  if (needs_cpu("its short form")) {
    return;
  }
  at::manual_seed(21);
  const auto layout = layout_of({5, 9});
  const auto x = leaf(test::randn({14, 8}), at::kFloat);
  const auto direction = test::randn({14, 8});
  const auto weights = test::randn({14, 8});
  const auto f = [&](const at::Tensor& in) {
    const RandomScope scope(kPosition);
    return attention(in, in.sin(), in.cos(), layout, with_dropout(2, 0.25))
        .to(at::kDouble)
        .mul(weights)
        .sum();
  };
  f(x).backward();
  // fp32 noise 14 * 8 * 2^-24 / step against step^2 of curvature: best near 1e-2, both about 1e-3.
  constexpr double kStep = 1e-2;
  const auto moved = [&](double step) { return f(x.detach().add(direction, step)).item<double>(); };
  EXPECT_NEAR(x.grad().mul(direction).sum().item<double>(),
              (moved(kStep) - moved(-kStep)) / (2 * kStep), 1e-2);
}

TEST(AttentionDropout, IsTheSameForAnyNumberOfThreads) {
  if (needs_cpu("its short form")) {
    return;
  }
  at::manual_seed(22);
  const auto layout = layout_of({9, 30, 2, 17, 0, 25});
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const auto one = leaf(test::randn({83, 32}), dtype);
    const auto two = leaf(one, dtype);
    const ThreadCount single(1);
    const at::Tensor expected = run(one, layout, kPosition);
    expected.sum().backward();
    const ThreadCount several(4);
    const at::Tensor out = run(two, layout, kPosition);
    out.sum().backward();
    expect_same_bits(out, expected);
    expect_same_bits(two.grad(), one.grad());
  }
}

TEST(AttentionDropout, IsTheSameForAMicroBatch) {
  if (needs_cpu("its short form")) {
    return;
  }
  at::manual_seed(23);
  const auto whole = layout_of({9, 4, 6});
  const at::Tensor q = test::randn({19, 16});
  RandomPosition later = kPosition;
  later.first_sample += 1;
  expect_same_bits(run(q.slice(0, 9, 19), layout_of({4, 6}), later),
                   run(q, whole, kPosition).slice(0, 9, 19));
}

TEST(AttentionDropout, IsOffOutsideTraining) {
  at::manual_seed(24);
  const auto layout = layout_of({6});
  const at::Tensor q = test::randn({6, 8});
  for (const auto form : {AttentionForm::kAuto, AttentionForm::kPadded}) {
    expect_same_bits(attention(q, q, q, layout, {.heads = 2, .dropout = 0.5, .form = form}),
                     attention(q, q, q, layout, {.heads = 2, .form = form}));
  }
}

TEST(AttentionDropout, PaddedFormDropsTheAskedShare) {
  at::manual_seed(25);
  const auto layout = layout_of({64, 32});
  const at::Tensor zero = at::zeros({96, 64}, test::on_device());
  const at::Tensor ones = at::zeros({96, 64}, test::on_device()).add(1.0);
  const at::Tensor out =
      attention(zero, zero, ones, layout,
                {.heads = 1, .dropout = 0.25, .training = true, .form = AttentionForm::kPadded});
  // Each row is a mean of 32 or 64 weights of variance 1/3; 96 rows: five standard deviations.
  EXPECT_NEAR(out.mean().item<double>(), 1.0, 0.045);
  EXPECT_GT(out.std().item<double>(), 0.01);
}

}  // namespace
}  // namespace libtrain
