#include "libtrain/kernels/sgd.hpp"

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

struct State {
  std::vector<float> param, grad, buffer;
};

State make_state(size_t count, uint32_t seed) {
  return {random_floats(count, seed), random_floats(count, seed + 1),
          std::vector<float>(count, NAN)};
}

class SgdTest : public KernelTest {
 protected:
  void run(State& s, const SgdArgs& args, size_t first, size_t count) const {
    kernels().sgd_f32(s.param.data() + first, s.grad.data() + first,
                      args.momentum == 0 ? nullptr : s.buffer.data() + first,
                      static_cast<int64_t>(count), args);
  }
  void run(State& s, const SgdArgs& args) const { run(s, args, 0, s.param.size()); }
};

LT_FOR_EVERY_ISA(SgdTest);

struct Element {
  double param, buffer;
};

/// The algorithm box of torch.optim.SGD in double.
Element by_definition(const State& s, size_t i, const SgdArgs& a) {
  const double theta = s.param[i];
  double g = double{s.grad[i]} * double{a.grad_multiplier} * (a.maximize ? -1 : 1);
  g += a.weight_decay * theta;
  double b = 0;
  if (a.momentum != 0) {
    b = a.first_step ? g : a.momentum * s.buffer[i] + (1 - a.dampening) * g;
    g = a.nesterov ? g + a.momentum * b : b;
  }
  return {theta - a.lr * g, b};
}

SgdArgs variant(unsigned i) {
  const bool nesterov = i % 3 == 2;
  return {.lr = 0.05,
          .momentum = i % 3 == 0 ? 0.0 : 0.9,
          .dampening = nesterov || (i & 8) == 0 ? 0.0 : 0.2,
          .weight_decay = (i & 1) != 0 ? 0.1 : 0.0,
          .nesterov = nesterov,
          .maximize = (i & 2) != 0,
          .grad_multiplier = (i & 4) != 0 ? 0.37F : 1.0F,
          .zero_grad = (i & 16) != 0};
}

/// Tolerance: a few roundings of 2^-24 of the terms of one step. The buffer starts as NaN: the
/// first step must not read it.
TEST_P(SgdTest, FollowsTheDocumentedAlgorithmForFiftySteps) {
  for (unsigned i = 0; i < 48; ++i) {
    SCOPED_TRACE("variant=" + std::to_string(i));
    SgdArgs args = variant(i);
    State state = make_state(67, i);
    for (uint32_t step = 0; step < 50; ++step) {
      args.first_step = step == 0;
      state.grad = random_floats(67, 1000 * i + step);
      const State before = state;
      run(state, args);
      for (size_t e = 0; e < state.param.size(); ++e) {
        const Element expected = by_definition(before, e, args);
        const double terms =
            std::abs(before.grad[e]) + std::abs(before.param[e]) +
            (args.first_step || args.momentum == 0 ? 0 : std::abs(before.buffer[e]));
        ASSERT_NEAR(state.param[e], expected.param, 4e-7 * terms);
        if (args.momentum != 0) {
          ASSERT_NEAR(state.buffer[e], expected.buffer, 4e-7 * terms);
        }
        ASSERT_EQ(bits(state.grad[e]), bits(args.zero_grad ? 0.0F : before.grad[e]));
      }
    }
  }
}

TEST_P(SgdTest, HasTheBitsOfEveryOtherIsaForAnyValues) {
  for (unsigned i = 0; i < 48; ++i) {
    SCOPED_TRACE("variant=" + std::to_string(i));
    const SgdArgs args = variant(i);
    State ours = make_state(131, i);
    ours.grad = random_floats(131, i, 0.1);
    ours.buffer = random_floats(131, i + 50, 0.1);
    State scalar = ours;
    run(ours, args);
    table(Isa::kScalar)
        .sgd_f32(scalar.param.data(), scalar.grad.data(), scalar.buffer.data(), 131, args);
    EXPECT_TRUE(all_same_bits(ours.param, scalar.param));
    EXPECT_TRUE(all_same_bits(ours.buffer, scalar.buffer));
  }
}

TEST_P(SgdTest, PartsGiveTheSameAsTheWhole) {
  SgdArgs args = variant(2);
  args.first_step = true;
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
  EXPECT_TRUE(all_same_bits(parts.buffer, whole.buffer));
}

TEST_P(SgdTest, InfiniteParameterStaysInfiniteWithoutWeightDecay) {
  State state = make_state(9, 9);
  state.param[2] = INFINITY;
  run(state, {.weight_decay = 0.0});
  EXPECT_EQ(state.param[2], INFINITY);
}

}  // namespace
}  // namespace libtrain::kernels
