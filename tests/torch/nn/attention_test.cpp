#include "libtrain/nn/attention.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <random>

#include "libtrain/core/error.hpp"
#include "tests/support/resident_bytes.hpp"
#include "tests/torch/nn/tensors.hpp"

namespace libtrain {
namespace {

using test::expect_near;
using test::expect_same_bits;
using test::layout_of;
using test::leaf;
using test::needs_cpu;
using test::resident_bytes;

/// The textbook formula on each sample alone.
at::Tensor reference(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const PackedLayout& layout, int64_t heads, double scale) {
  std::vector<at::Tensor> parts{q.slice(0, 0, 0)};
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    const auto split = [&](const at::Tensor& packed) {
      return packed.slice(0, layout.begin(sample), layout.begin(sample + 1))
          .reshape({layout.length(sample), heads, q.size(1) / heads})
          .transpose(0, 1);
    };
    const at::Tensor weights =
        at::softmax(at::matmul(split(q), split(k).transpose(1, 2)).mul(scale), -1);
    parts.push_back(
        at::matmul(weights, split(v)).transpose(0, 1).reshape({layout.length(sample), q.size(1)}));
  }
  return at::cat(parts);
}

struct Inputs {
  at::Tensor q, k, v, grad_out;
};

Inputs random_inputs(int64_t rows, int64_t columns) {
  return {test::randn({rows, columns}), test::randn({rows, columns}), test::randn({rows, columns}),
          test::randn({rows, columns})};
}

struct Case {
  AttentionForm form;
  at::ScalarType dtype;
  double tolerance;  // of values and gradients, for entries of about N(0, 1)
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << (value.form == AttentionForm::kShort ? "short " : "padded ") << value.dtype;
}

class AttentionForms : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { at::manual_seed(11); }
};

// fp32: sums of up to 70 products and their softmax, 70 * 2^-24 = 4e-6 a sum, gradients chain
// three. 16 bits: inputs are exact in the reference; rounding the result (2^-9, 2^-12) and, in
// backward, the saved result, for values up to about 8.
std::vector<Case> cases() {
  std::vector<Case> out{Case{AttentionForm::kPadded, at::kDouble, 1e-12},
                        Case{AttentionForm::kPadded, at::kFloat, 3e-5},
                        Case{AttentionForm::kPadded, at::kBFloat16, 0.12},
                        Case{AttentionForm::kPadded, at::kHalf, 0.02}};
  if (test::on_cpu()) {
    out.push_back({AttentionForm::kShort, at::kFloat, 3e-5});
    out.push_back({AttentionForm::kShort, at::kBFloat16, 0.06});
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, AttentionForms, testing::ValuesIn(cases()));

TEST_P(AttentionForms, EqualsTheFormulaOnEachSample) {
  const auto layout = layout_of({5, 1, 0, 17, 70, 32, 0});
  constexpr int64_t kHeads = 3;
  for (const int64_t head_dim : {1, 8, 32, 40}) {
    SCOPED_TRACE(head_dim);
    const Inputs in = random_inputs(layout->rows(), kHeads * head_dim);
    const at::ScalarType dtype = GetParam().dtype;
    const auto q = leaf(in.q, dtype);
    const auto k = leaf(in.k, dtype);
    const auto v = leaf(in.v, dtype);
    at::Tensor out;
    {
      const test::NoHostWait while_running;
      out = attention(q, k, v, layout, {.heads = kHeads, .scale = 0.3, .form = GetParam().form});
      out.backward(in.grad_out.to(dtype));
    }

    const auto q64 = leaf(q, at::kDouble);
    const auto k64 = leaf(k, at::kDouble);
    const auto v64 = leaf(v, at::kDouble);
    const at::Tensor expected = reference(q64, k64, v64, *layout, kHeads, 0.3);
    expected.backward(in.grad_out.to(dtype).to(at::kDouble));

    EXPECT_EQ(out.scalar_type(), dtype);
    expect_near(out, expected, GetParam().tolerance);
    expect_near(q.grad(), q64.grad(), GetParam().tolerance);
    expect_near(k.grad(), k64.grad(), GetParam().tolerance);
    expect_near(v.grad(), v64.grad(), GetParam().tolerance);
  }
}

TEST_P(AttentionForms, SideBySideIsTheSameAsApart) {
  const auto layout = layout_of({5, 0, 17});
  const Inputs in = random_inputs(layout->rows(), 16);
  const AttentionOptions options{.heads = 2, .form = GetParam().form};
  const auto apart = std::vector<at::Tensor>{
      leaf(in.q, GetParam().dtype), leaf(in.k, GetParam().dtype), leaf(in.v, GetParam().dtype)};
  const auto qkv = leaf(at::cat({in.q, in.k, in.v}, 1), GetParam().dtype);
  const at::Tensor expected = attention(apart[0], apart[1], apart[2], layout, options);
  const at::Tensor actual = attention_qkvpacked(qkv, layout, options);
  expect_same_bits(actual, expected);
  expected.backward(in.grad_out.to(GetParam().dtype));
  actual.backward(in.grad_out.to(GetParam().dtype));
  expect_same_bits(qkv.grad(), at::cat({apart[0].grad(), apart[1].grad(), apart[2].grad()}, 1));
}

TEST_P(AttentionForms, BatchWithoutRowsGivesNoRows) {
  for (const auto& layout : {layout_of({}), layout_of({0, 0})}) {
    const auto q = leaf(test::randn({0, 6}), GetParam().dtype);
    const at::Tensor out = attention(q, q, q, layout, {.heads = 2, .form = GetParam().form});
    out.sum().backward();
    EXPECT_EQ(out.sizes(), (std::vector<int64_t>{0, 6}));
    EXPECT_EQ(q.grad().sizes(), out.sizes());
  }
}

TEST_P(AttentionForms, HugeLogitsStayFinite) {
  const auto layout = layout_of({4, 9});
  const Inputs in = random_inputs(layout->rows(), 32);
  const auto q = leaf(in.q.sign().mul(80.0), GetParam().dtype);
  const auto k = leaf(in.k.sign().mul(80.0), GetParam().dtype);  // logits up to 6.4e3 * 16
  const auto v = leaf(in.v, GetParam().dtype);
  const at::Tensor out =
      attention(q, k, v, layout, {.heads = 2, .scale = 0.6, .form = GetParam().form});
  out.sum().backward();
  for (const at::Tensor& tensor : {out, q.grad(), k.grad(), v.grad()}) {
    EXPECT_TRUE(tensor.isfinite().all().item<bool>());
  }
}

TEST_P(AttentionForms, KeepsTheInputsDtypeUnderAutocastAndOutsideInBackward) {
  const auto layout = layout_of({3, 2});
  const auto q = leaf(test::randn({5, 8}), GetParam().dtype);
  const AttentionOptions options{.heads = 2, .form = GetParam().form};
  const at::Tensor plain = attention(q, q, q, layout, options);
  at::autocast::set_autocast_enabled(test::test_device().type(), true);
  const at::Tensor out = attention(q, q, q, layout, options);
  at::autocast::set_autocast_enabled(test::test_device().type(), false);
  at::autocast::clear_cache();
  expect_same_bits(out, plain);
  out.sum().backward();
  EXPECT_EQ(q.grad().scalar_type(), GetParam().dtype);
}

TEST(Attention, ReadsColumnSlicesInPlaceAndReturnsTheirGradients) {
  at::manual_seed(12);
  const auto layout = layout_of({6, 11});
  const auto joint = leaf(test::randn({17, 3 * 16}), at::kFloat);
  const auto parts = joint.chunk(3, 1);
  const AttentionOptions options{.heads = 2};
  const at::Tensor out = attention(parts[0], parts[1], parts[2], layout, options);
  expect_same_bits(out, attention(parts[0].contiguous(), parts[1].contiguous(),
                                  parts[2].contiguous(), layout, options));
  out.sum().backward();  // an expanded gradient: stride 0
  const auto apart = leaf(joint, at::kFloat);
  const auto pieces = apart.chunk(3, 1);
  reference(pieces[0], pieces[1], pieces[2], *layout, 2, 1 / std::sqrt(8.0)).sum().backward();
  expect_near(joint.grad(), apart.grad(), 1e-5);
}

TEST(Attention, TransposedInputsAndGradientsAreUnderstood) {
  at::manual_seed(13);
  const auto layout = layout_of({5});
  const auto q = leaf(test::randn({8, 5}), at::kFloat);
  const AttentionOptions options{.heads = 2};
  const at::Tensor weights = test::randn({8, 5});
  const at::Tensor out = attention(q.t(), q.t(), q.t(), layout, options);
  out.t().mul(weights).sum().backward();
  const auto same = leaf(q, at::kFloat);
  reference(same.t(), same.t(), same.t(), *layout, 2, 0.5).t().mul(weights).sum().backward();
  expect_near(q.grad(), same.grad(), 1e-5);
}

TEST(Attention, DerivativeEqualsFiniteDifferences) {
  at::manual_seed(14);
  const auto layout = layout_of({3, 0, 4});
  const auto direction = test::randn({7, 6}, at::kDouble);
  const auto weights = test::randn({7, 6}, at::kDouble);
  const auto x = leaf(test::randn({7, 6}), at::kDouble);
  const auto f = [&](const at::Tensor& in) {
    return attention(in, in.sin(), in.cos(), layout, {.heads = 2}).mul(weights).sum();
  };
  f(x).backward();
  constexpr double kStep = 1e-5;  // error of a central difference: kStep^2
  const auto moved = [&](double step) { return f(x.detach().add(direction, step)).item<double>(); };
  EXPECT_NEAR(x.grad().mul(direction).sum().item<double>(),
              (moved(kStep) - moved(-kStep)) / (2 * kStep), 1e-8);
}

TEST(Attention, AutoTakesTheShortFormForFloatAndThePaddedOneForDouble) {
  if (needs_cpu("its short form")) {
    return;
  }
  at::manual_seed(15);
  const auto layout = layout_of({4, 7});
  for (const auto& [dtype, form] : {std::pair{at::kFloat, AttentionForm::kShort},
                                    std::pair{at::kBFloat16, AttentionForm::kShort},
                                    std::pair{at::kDouble, AttentionForm::kPadded},
                                    std::pair{at::kHalf, AttentionForm::kPadded}}) {
    const auto q = test::randn({11, 8}).to(dtype);
    expect_same_bits(attention(q, q, q, layout, {.heads = 2}),
                     attention(q, q, q, layout, {.heads = 2, .form = form}));
  }
}

TEST(Attention, WideHeadsFallBackToThePaddedForm) {
  const auto q = test::randn({3, 512});
  EXPECT_EQ(attention(q, q, q, layout_of({3}), {.heads = 1}).size(1), 512);
  EXPECT_THROW(attention(q, q, q, layout_of({3}), {.heads = 1, .form = AttentionForm::kShort}),
               Unsupported);
}

TEST(Attention, SecondDerivativeOfTheShortFormIsRefused) {
  if (needs_cpu("its short form")) {
    return;
  }
  const auto q = leaf(test::randn({3, 4}), at::kFloat);
  const at::Tensor out = attention(q, q, q, layout_of({3}), {.heads = 1});
  EXPECT_THROW(torch::autograd::grad({out.sum()}, {q}, {}, std::nullopt, /*create_graph=*/true),
               Unsupported);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidOption& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Attention, ArgumentsThatDoNotFitAreNamed) {
  const auto q = test::randn({3, 4});
  const auto layout = layout_of({3});
  const auto run = [&](const at::Tensor& key, const PackedLayoutPtr& rows,
                       const AttentionOptions& options) {
    return message_of([&] { attention(q, key, q, rows, options); });
  };
  EXPECT_NE(run(q, layout_of({4}), {}).find("query.size(0)=3, expected 4"), std::string::npos);
  EXPECT_NE(run(q, layout, {.heads = 3}).find("heads=3"), std::string::npos);
  EXPECT_NE(run(q, layout, {.heads = 0}).find("heads=0"), std::string::npos);
  EXPECT_NE(run(q, layout, {.dropout = 1.0}).find("dropout=1"), std::string::npos);
  EXPECT_NE(run(q, layout, {.dropout = std::nan("")}).find("dropout=nan"), std::string::npos);
  EXPECT_NE(run(q, layout, {.scale = INFINITY}).find("scale=inf"), std::string::npos);
  EXPECT_NE(run(q.to(at::kDouble), layout, {}).find("Float, Double, Float"), std::string::npos);
  EXPECT_NE(run(test::randn({3, 5}), layout, {}).find("shape"), std::string::npos);
  EXPECT_NE(run(q, nullptr, {}).find("layout is null"), std::string::npos);
}

TEST(Attention, MemoryDoesNotGrowWithVaryingLengths) {
  constexpr int kSeed = 16;
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<int64_t> length(0, 60);
  const auto step = [&] {
    std::vector<int64_t> lengths(16);
    for (int64_t& value : lengths) {
      value = length(random);
    }
    const auto layout = layout_of(lengths);
    const auto q = leaf(test::randn({layout->rows(), 64}), at::kFloat);
    attention(q, q, q, layout, {.heads = 2, .dropout = 0.1, .training = true}).sum().backward();
  };
  for (int i = 0; i < 100; ++i) {
    step();
  }
  const int64_t before = resident_bytes();
  for (int i = 0; i < 300; ++i) {
    step();
  }
  // A leaked output alone would be 300 * 480 rows * 256 bytes = 37 MB.
  EXPECT_LT(resident_bytes() - before, 8 << 20) << "seed " << kSeed;
}

}  // namespace
}  // namespace libtrain
