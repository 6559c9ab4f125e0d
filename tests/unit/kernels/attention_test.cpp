#include "libtrain/kernels/attention.hpp"

#include "tests/unit/kernels/attention_reference.hpp"
#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

constexpr float kGuard = 12345.0F;

BFloat16 from_float(float x, BFloat16) { return nearest_bfloat16(x); }
float from_float(float x, float) { return x; }

template <class T>
std::vector<T> convert(const std::vector<float>& x) {
  std::vector<T> out;
  for (const float value : x) {
    out.push_back(from_float(value, T{}));
  }
  return out;
}

/// Rows of head_dim numbers, each followed by `gap` guards that no kernel may touch.
template <class T>
struct Rows {
  Rows(int64_t rows, int64_t columns, int64_t gap, std::vector<float> values = {})
      : columns(columns),
        stride(columns + gap),
        data(static_cast<size_t>(rows * stride), from_float(kGuard, T{})) {
    for (size_t i = 0; i < values.size(); ++i) {
      at(i) = from_float(values[i], T{});
    }
  }
  T& at(size_t i) {
    const auto index = static_cast<int64_t>(i);
    return data[static_cast<size_t>(index / columns * stride + index % columns)];
  }
  std::vector<float> values() {
    std::vector<float> out;
    for (size_t i = 0; i < data.size() / static_cast<size_t>(stride) * static_cast<size_t>(columns);
         ++i) {
      out.push_back(widen(at(i)));
    }
    return out;
  }
  bool gaps_untouched() const {
    for (size_t i = 0; i < data.size(); ++i) {
      if (static_cast<int64_t>(i) % stride >= columns &&
          widen(data[i]) != widen(from_float(kGuard, T{}))) {
        return false;
      }
    }
    return true;
  }

  int64_t columns;
  int64_t stride;
  std::vector<T> data;
};

/// Inputs, and what forward and backward of one head make of them.
template <class T>
struct Head {
  explicit Head(AttentionArgs a, uint32_t seed = 1, float spread = 1.0F)
      : args(a),
        q(a.length, a.head_dim, 3, numbers(seed, spread)),
        k(a.length, a.head_dim, 1, numbers(seed + 1, spread)),
        v(a.length, a.head_dim, 0, numbers(seed + 2, 1.0F)),
        grad_out(a.length, a.head_dim, 2, numbers(seed + 3, 1.0F)),
        out(a.length, a.head_dim, 2),
        grad_q(a.length, a.head_dim, 1),
        grad_k(a.length, a.head_dim, 2),
        grad_v(a.length, a.head_dim, 5),
        log_sum_exp(static_cast<size_t>(a.length), kGuard) {
    args.q_stride = q.stride;
    args.k_stride = k.stride;
    args.v_stride = v.stride;
    args.out_stride = out.stride;
    args.grad_q_stride = grad_q.stride;
    args.grad_k_stride = grad_k.stride;
    args.grad_v_stride = grad_v.stride;
  }

  std::vector<float> numbers(uint32_t seed, float spread) const {
    std::vector<float> x = random_floats(static_cast<size_t>(args.length * args.head_dim), seed);
    for (float& value : x) {
      value *= spread;
    }
    return x;
  }

  /// The scratch memory holds NaN before, is not aligned, and ends in guards.
  void run(AttentionForward<T> forward, AttentionBackward<T> backward) {
    const auto size = static_cast<size_t>(attention_workspace(args.length, args.head_dim));
    std::vector<float> memory(size + 9, kGuard);
    std::fill_n(memory.begin() + 1, size, NAN);
    if (forward != nullptr) {
      forward(q.data.data(), k.data.data(), v.data.data(), out.data.data(), log_sum_exp.data(),
              memory.data() + 1, args);
    }
    if (backward != nullptr) {
      backward(q.data.data(), k.data.data(), v.data.data(), out.data.data(), log_sum_exp.data(),
               grad_out.data.data(), grad_q.data.data(), grad_k.data.data(), grad_v.data.data(),
               memory.data() + 1, args);
    }
    EXPECT_EQ(memory[0], kGuard);
    EXPECT_EQ(
        std::count(memory.begin() + 1 + static_cast<std::ptrdiff_t>(size), memory.end(), kGuard), 8)
        << "wrote behind the workspace";
    EXPECT_TRUE(out.gaps_untouched() && grad_q.gaps_untouched() && grad_k.gaps_untouched() &&
                grad_v.gaps_untouched())
        << "wrote between rows";
  }

  AttentionReference reference() {
    const auto doubles = [](const std::vector<float>& x) {
      return AttentionReference::Matrix(x.begin(), x.end());
    };
    AttentionReference r(args, doubles(q.values()), doubles(k.values()), doubles(v.values()));
    r.backward(doubles(grad_out.values()));
    return r;
  }

  AttentionArgs args;
  Rows<T> q, k, v, grad_out, out, grad_q, grad_k, grad_v;
  std::vector<float> log_sum_exp;
};

void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                 double tolerance, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 1.0;
  for (const double x : expected) {
    largest = std::max(largest, std::abs(x));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * largest) << what << " element " << i;
  }
}

class AttentionTest : public KernelTest {
 protected:
  void run(Head<float>& head) const {
    head.run(kernels().attention_forward_f32, kernels().attention_backward_f32);
  }
  void run(Head<BFloat16>& head) const {
    head.run(kernels().attention_forward_bf16, kernels().attention_backward_bf16);
  }
  void expect_reference(Head<float>& head, double tolerance) const {
    run(head);
    const AttentionReference expected = head.reference();
    expect_near(head.out.values(), expected.out, tolerance, "out");
    expect_near(head.log_sum_exp, expected.log_sum_exp, tolerance, "log_sum_exp");
    expect_near(head.grad_q.values(), expected.grad_q, tolerance, "grad_q");
    expect_near(head.grad_k.values(), expected.grad_k, tolerance, "grad_k");
    expect_near(head.grad_v.values(), expected.grad_v, tolerance, "grad_v");
  }
};

LT_FOR_EVERY_ISA(AttentionTest);

AttentionArgs make_args(int64_t length, int64_t head_dim, double dropout) {
  return {.length = length,
          .head_dim = head_dim,
          .head = 3,
          .scale = 1 / std::sqrt(static_cast<double>(head_dim)),
          .dropout = dropout,
          .stream = {.seed = 0x123456789ABCDEF, .step = 4, .site = 5, .sample = 6}};
}

TEST_P(AttentionTest, EqualsTheDoubleReferenceForAllShapes) {
  for (const int64_t length : {0, 1, 2, 3, 5, 8, 16, 17, 31, 40, 63, 64, 65, 129, 200}) {
    for (const int64_t head_dim : {1, 3, 8, 32, 33, 64, 80, 256}) {
      for (const double dropout : {0.0, 0.1, 0.7}) {
        if (length > 100 && head_dim > 64) {
          continue;
        }
        SCOPED_TRACE("length=" + std::to_string(length) + " head_dim=" + std::to_string(head_dim) +
                     " dropout=" + std::to_string(dropout));
        Head<float> head(make_args(length, head_dim, dropout));
        expect_reference(head, 1e-5);
      }
    }
  }
}

TEST_P(AttentionTest, EqualsTheDoubleReferenceForALongSequence) {
  Head<float> head(make_args(1111, 16, 0.1));
  expect_reference(head, 1e-5);
}

TEST_P(AttentionTest, LargeScoresNeitherOverflowNorLoseTheirRow) {
  Head<float> head(make_args(70, 32, 0.0), 1, 40.0F);  // scores up to several thousand
  expect_reference(head, 1e-3);                        // fp32 scores of 5000 are good to 5e-4
}

/// Central differences of the reference's forward pass, which knows no gradient formula; their own
/// error is of order 1e-8.
TEST_P(AttentionTest, GradientsAreTheSlopesOfTheForwardPass) {
  const double dropout = 0.3;
  Head<float> head(make_args(6, 5, dropout));
  run(head);
  using Matrix = AttentionReference::Matrix;
  const auto doubles = [](const std::vector<float>& x) { return Matrix(x.begin(), x.end()); };
  Matrix inputs[] = {doubles(head.q.values()), doubles(head.k.values()), doubles(head.v.values())};
  const std::vector<float> weights = head.grad_out.values();
  const auto loss = [&] {
    const AttentionReference r(head.args, inputs[0], inputs[1], inputs[2]);
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += double{weights[i]} * r.out[i];
    }
    return sum;
  };
  const std::vector<float> grads[] = {head.grad_q.values(), head.grad_k.values(),
                                      head.grad_v.values()};
  for (size_t input = 0; input < 3; ++input) {
    for (size_t i = 0; i < inputs[input].size(); ++i) {
      const double value = inputs[input][i];
      inputs[input][i] = value + 1e-4;
      const double above = loss();
      inputs[input][i] = value - 1e-4;
      const double below = loss();
      inputs[input][i] = value;
      EXPECT_NEAR(grads[input][i], (above - below) / 2e-4, 1e-5) << "input " << input << " [" << i;
    }
  }
}

/// Arithmetic is fp32 for both types, so bf16 results are the fp32 ones rounded.
TEST_P(AttentionTest, Bfloat16IsTheFp32ResultRounded) {
  for (const int64_t length : {1, 7, 40, 100}) {
    SCOPED_TRACE("length=" + std::to_string(length));
    Head<BFloat16> half(make_args(length, 33, 0.1));
    run(half);
    Head<float> full(make_args(length, 33, 0.1));
    const auto copy = [](Rows<BFloat16>& from, Rows<float>& to) {
      const std::vector<float> values = from.values();
      for (size_t i = 0; i < values.size(); ++i) {
        to.at(i) = values[i];
      }
    };
    copy(half.q, full.q);
    copy(half.k, full.k);
    copy(half.v, full.v);
    copy(half.grad_out, full.grad_out);
    full.run(kernels().attention_forward_f32, nullptr);
    EXPECT_TRUE(
        all_same_bits(convert<BFloat16>(full.out.values()), convert<BFloat16>(half.out.values())));
    copy(half.out, full.out);
    full.run(nullptr, kernels().attention_backward_f32);
    EXPECT_TRUE(all_same_bits(convert<BFloat16>(full.grad_q.values()),
                              convert<BFloat16>(half.grad_q.values())));
    EXPECT_TRUE(all_same_bits(convert<BFloat16>(full.grad_k.values()),
                              convert<BFloat16>(half.grad_k.values())));
    EXPECT_TRUE(all_same_bits(convert<BFloat16>(full.grad_v.values()),
                              convert<BFloat16>(half.grad_v.values())));
  }
}

/// Two keys, the second scoring x more: its probability is e^x / (1 + e^x). The exponential's 2
/// ulp, the sum, a division and a product add up to 4 ulp.
TEST_P(AttentionTest, ExponentialIsGoodToTwoUlp) {
  const AttentionForward<float> forward = kernels().attention_forward_f32;
  AttentionArgs args = make_args(2, 1, 0.0);
  args.q_stride = args.k_stride = args.v_stride = args.out_stride = 1;
  args.scale = 1.0;
  std::vector<float> memory(static_cast<size_t>(attention_workspace(2, 1)));
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> any(-87.0F, 0.0F);
  for (int i = 0; i < 100000; ++i) {
    const float x = any(generator);
    const float q[] = {1.0F, 1.0F};
    const float k[] = {0.0F, x};
    const float v[] = {0.0F, 1.0F};
    float out[2];
    float log_sum_exp[2];
    forward(q, k, v, out, log_sum_exp, memory.data(), args);
    const double expected = std::exp(double{x}) / (1 + std::exp(double{x}));
    ASSERT_NEAR(out[0] / expected, 1.0, 4 * 0x1p-23) << "x=" << x;
  }
}

TEST_P(AttentionTest, NotANumberInAQueryStaysInItsRow) {
  Head<float> head(make_args(70, 32, 0.0));
  head.q.at(32 * 66 + 4) = NAN;
  run(head);
  const std::vector<float> out = head.out.values();
  for (size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(std::isnan(out[i]), i / 32 == 66) << "row " << i / 32;
  }
  EXPECT_TRUE(std::isnan(head.log_sum_exp[66]));
  for (const float grad : head.grad_k.values()) {
    EXPECT_TRUE(std::isnan(grad));
  }
}

TEST_P(AttentionTest, KeysScoredMinusInfinityGetNothing) {
  Head<float> head(make_args(130, 1, 0.0));
  for (size_t t = 0; t < 130; ++t) {
    head.q.at(t) = 1.0F;
    head.k.at(t) = t < 129 ? -INFINITY : 2.0F;  // the first two blocks hold nothing else
  }
  head.run(kernels().attention_forward_f32, nullptr);
  for (const float x : head.out.values()) {
    EXPECT_EQ(x, head.v.at(129));
  }
}

TEST(AttentionWorkspaceTest, StaysSmall) {
  EXPECT_LE(attention_workspace(40, 32) * 4, 80 * 1024);
  EXPECT_LE(attention_workspace(2048, 64) * 4, 1024 * 1024);
}

}  // namespace
}  // namespace libtrain::kernels
