#include "libtrain/kernels/adamw.hpp"

#include <cstring>

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

struct State {
  std::vector<float> param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq;
};

State make_state(size_t count, uint32_t seed) {
  const std::vector<float> zeros(count, 0.0F);
  return {random_floats(count, seed), random_floats(count, seed + 1), zeros, zeros, zeros};
}

class AdamWTest : public KernelTest {
 protected:
  void run(State& s, const AdamWArgs& args, size_t first, size_t count) const {
    kernels().adamw_f32(s.param.data() + first, s.grad.data() + first, s.exp_avg.data() + first,
                        s.exp_avg_sq.data() + first,
                        args.amsgrad ? s.max_exp_avg_sq.data() + first : nullptr,
                        static_cast<int64_t>(count), args);
  }
  void run(State& s, const AdamWArgs& args) const { run(s, args, 0, s.param.size()); }
};

LT_FOR_EVERY_ISA(AdamWTest);

struct Element {
  double param, exp_avg, exp_avg_sq, max_exp_avg_sq;
};

/// The algorithm boxes of torch.optim.Adam and torch.optim.AdamW in double, but for the gradient
/// itself: fp32 as in PyTorch, because decay may cancel most of it.
Element by_definition(const State& s, size_t i, const AdamWArgs& a) {
  double theta = s.param[i];
  float scaled = s.grad[i] * (a.maximize ? -a.grad_multiplier : a.grad_multiplier);
  if (a.decoupled_weight_decay) {
    theta -= a.lr * a.weight_decay * theta;
  } else {
    scaled += static_cast<float>(a.weight_decay) * s.param[i];
  }
  const double g = scaled;
  const double m = a.beta1 * s.exp_avg[i] + (1 - a.beta1) * g;
  const double v = a.beta2 * s.exp_avg_sq[i] + (1 - a.beta2) * g * g;
  const double largest = std::max(double{s.max_exp_avg_sq[i]}, v);
  const auto step = static_cast<double>(a.step);
  const double m_hat = m / (1 - std::pow(a.beta1, step));
  const double v_hat = (a.amsgrad ? largest : v) / (1 - std::pow(a.beta2, step));
  return {theta - a.lr * m_hat / (std::sqrt(v_hat) + a.eps), m, v, largest};
}

AdamWArgs variant(unsigned i) {
  return {.lr = 0.01,
          .beta1 = i % 7 == 0 ? 0.3 : 0.9,
          .weight_decay = i % 3 == 0 ? 0.0 : 0.1,
          .decoupled_weight_decay = (i & 1) != 0,
          .amsgrad = (i & 2) != 0,
          .maximize = (i & 4) != 0,
          .grad_multiplier = (i & 8) != 0 ? 0.37F : 1.0F,
          .zero_grad = (i & 16) != 0};
}

/// Each step starts from the fp32 state the kernel left, so that the tolerance covers one step: a
/// few roundings of 2^-24 of each value's own terms.
TEST_P(AdamWTest, FollowsTheDocumentedAlgorithmForFiftySteps) {
  for (unsigned i = 0; i < 32; ++i) {
    SCOPED_TRACE("variant=" + std::to_string(i));
    AdamWArgs args = variant(i);
    State state = make_state(67, i);
    for (args.step = 1; args.step <= 50; ++args.step) {
      state.grad = random_floats(67, 1000 * i + static_cast<uint32_t>(args.step));
      const State before = state;
      run(state, args);
      for (size_t e = 0; e < state.param.size(); ++e) {
        const Element expected = by_definition(before, e, args);
        ASSERT_NEAR(state.param[e], expected.param, 3e-7 * (std::abs(expected.param) + args.lr));
        const double terms =
            std::abs(before.exp_avg[e]) + std::abs(before.grad[e]) + std::abs(before.param[e]);
        ASSERT_NEAR(state.exp_avg[e], expected.exp_avg, 2e-7 * terms);
        ASSERT_NEAR(state.exp_avg_sq[e], expected.exp_avg_sq, 4e-7 * expected.exp_avg_sq);
        if (args.amsgrad) {
          ASSERT_NEAR(state.max_exp_avg_sq[e], expected.max_exp_avg_sq,
                      4e-7 * expected.max_exp_avg_sq);
        }
        ASSERT_EQ(bits(state.grad[e]), bits(args.zero_grad ? 0.0F : before.grad[e]));
      }
    }
  }
}

TEST_P(AdamWTest, HasTheBitsOfEveryOtherIsaForAnyValues) {
  for (unsigned i = 0; i < 32; ++i) {
    SCOPED_TRACE("variant=" + std::to_string(i));
    AdamWArgs args = variant(i);
    args.step = 1 + 7 * i;
    State ours = make_state(131, i);
    ours.grad = random_floats(131, i, 0.1);
    ours.param = random_floats(131, i + 50, 0.05);
    ours.max_exp_avg_sq = random_floats(131, i + 60, 0.05);
    State scalar = ours;
    run(ours, args);
    table(Isa::kScalar)
        .adamw_f32(scalar.param.data(), scalar.grad.data(), scalar.exp_avg.data(),
                   scalar.exp_avg_sq.data(), scalar.max_exp_avg_sq.data(), 131, args);
    EXPECT_TRUE(all_same_bits(ours.param, scalar.param));
    EXPECT_TRUE(all_same_bits(ours.exp_avg, scalar.exp_avg));
    EXPECT_TRUE(all_same_bits(ours.exp_avg_sq, scalar.exp_avg_sq));
    EXPECT_TRUE(all_same_bits(ours.max_exp_avg_sq, scalar.max_exp_avg_sq));
  }
}

TEST_P(AdamWTest, PartsGiveTheSameAsTheWhole) {
  const AdamWArgs args = variant(15);
  State whole = make_state(1000, 4);
  State parts = whole;
  run(whole, args);
  std::mt19937 generator(4);
  for (size_t done = 0; done < 1000;) {
    const size_t count = std::min<size_t>(1000 - done, generator() % 50);
    run(parts, args, done, count);
    done += count;
  }
  EXPECT_TRUE(all_same_bits(parts.param, whole.param));
  EXPECT_TRUE(all_same_bits(parts.exp_avg_sq, whole.exp_avg_sq));
}

/// Of 1,000 elements the first 600 have never had a gradient.
TEST_P(AdamWTest, NoGradientIsAGradientOfZeros) {
  for (unsigned i = 0; i < 16; ++i) {
    for (const double eps : {1e-8, 0.0}) {
      SCOPED_TRACE("variant=" + std::to_string(i) + " eps=" + std::to_string(eps));
      AdamWArgs args = variant(i);
      args.eps = eps;
      args.step = 3;
      State zeros = make_state(1000, i);
      std::fill(zeros.grad.begin(), zeros.grad.end(), 0.0F);
      std::copy_n(random_floats(400, i + 70).begin(), 400, zeros.exp_avg.begin() + 600);
      zeros.exp_avg_sq[999] = 0.25F;
      State none = zeros;
      run(zeros, args);
      kernels().adamw_f32(none.param.data(), nullptr, none.exp_avg.data(), none.exp_avg_sq.data(),
                          args.amsgrad ? none.max_exp_avg_sq.data() : nullptr, 1000, args);
      EXPECT_TRUE(all_same_bits(none.param, zeros.param));
      EXPECT_TRUE(all_same_bits(none.exp_avg, zeros.exp_avg));
      EXPECT_TRUE(all_same_bits(none.exp_avg_sq, zeros.exp_avg_sq));
    }
  }
}

TEST_P(AdamWTest, GradientInBf16CountsAsItsValue) {
  for (unsigned i = 0; i < 32; ++i) {
    SCOPED_TRACE("variant=" + std::to_string(i));
    const AdamWArgs args = variant(i);
    State fp32 = make_state(67, i);
    std::vector<BFloat16> grad(67);
    for (size_t e = 0; e < grad.size(); ++e) {
      grad[e] = {static_cast<uint16_t>(bits(fp32.grad[e]) >> 16)};
      const uint32_t wide = static_cast<uint32_t>(grad[e].bits) << 16;
      std::memcpy(&fp32.grad[e], &wide, sizeof(wide));
    }
    State bf16 = fp32;
    run(fp32, args);
    kernels().adamw_bf16(bf16.param.data(), grad.data(), bf16.exp_avg.data(),
                         bf16.exp_avg_sq.data(),
                         args.amsgrad ? bf16.max_exp_avg_sq.data() : nullptr, 67, args);
    EXPECT_TRUE(all_same_bits(bf16.param, fp32.param));
    EXPECT_TRUE(all_same_bits(bf16.exp_avg_sq, fp32.exp_avg_sq));
    EXPECT_EQ(grad[1].bits, args.zero_grad ? 0 : bits(bf16.grad[1]) >> 16);
  }
}

#ifdef __SSE2__
TEST_P(AdamWTest, StateBelowTheSmallestNormalNumberBecomesZero) {
  State state = make_state(40, 5);
  std::fill(state.grad.begin(), state.grad.end(), 0.0F);
  state.exp_avg.assign(40, 1e-39F);
  state.exp_avg_sq.assign(40, 1.176e-38F);
  run(state, {});
  EXPECT_EQ(state.exp_avg, std::vector<float>(40, 0.0F));
  EXPECT_EQ(state.exp_avg_sq, std::vector<float>(40, 0.0F));
  const volatile float denormal = 1e-39F;
  EXPECT_GT(denormal * 0.5F, 0.0F) << "the caller's arithmetic is as before";
}
#endif

TEST_P(AdamWTest, NotANumberInTheLargestSquareStays) {
  State state = make_state(20, 9);
  state.max_exp_avg_sq[3] = NAN;
  state.grad[5] = NAN;
  run(state, {.amsgrad = true});
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(std::isnan(state.max_exp_avg_sq[i]), i == 3 || i == 5);
    EXPECT_EQ(std::isnan(state.param[i]), i == 3 || i == 5);
  }
}

TEST_P(AdamWTest, InfiniteParameterStaysInfiniteWithoutWeightDecay) {
  State state = make_state(9, 9);
  state.param[2] = INFINITY;
  run(state, {.weight_decay = 0.0, .decoupled_weight_decay = false});
  EXPECT_EQ(state.param[2], INFINITY);
}

}  // namespace
}  // namespace libtrain::kernels
