#include "libtrain/kernels/gelu.hpp"

#include <algorithm>
#include <numbers>

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

class GeluTest : public KernelTest {
 protected:
  void forward(const float* in, float* out, size_t count) const {
    kernels().gelu_forward_f32(in, out, static_cast<int64_t>(count));
  }
  void forward(const BFloat16* in, BFloat16* out, size_t count) const {
    kernels().gelu_forward_bf16(in, out, static_cast<int64_t>(count));
  }
  void backward(const float* grad, const float* in, float* out, size_t count) const {
    kernels().gelu_backward_f32(grad, in, out, static_cast<int64_t>(count));
  }
  void backward(const BFloat16* grad, const BFloat16* in, BFloat16* out, size_t count) const {
    kernels().gelu_backward_bf16(grad, in, out, static_cast<int64_t>(count));
  }
};

LT_FOR_EVERY_ISA(GeluTest);

double distribution(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double derivative(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return distribution(x) + x * density;
}

/// A grid over where the function bends, every power of two beyond, and their neighbours.
std::vector<float> arguments() {
  std::vector<float> x;
  for (int i = -80'000; i <= 80'000; ++i) {
    x.push_back(static_cast<float>(i) * 1e-4F);
  }
  for (int power = -149; power < 128; ++power) {
    for (const float value :
         {std::ldexp(1.0F, power), std::nextafter(std::ldexp(1.0F, power), 0.0F)}) {
      x.push_back(value);
      x.push_back(-value);
    }
  }
  return x;
}

/// 4 units of 2^-24 of |x|: half a unit the fit, the rest roundings of P, which lies in [0, 1]. For
/// positive x, where P is at least 1/2, that is at most 4 ulp of the result.
TEST_P(GeluTest, IsXTimesTheNormalDistributionFunction) {
  const std::vector<float> x = arguments();
  std::vector<float> out(x.size());
  forward(x.data(), out.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double tolerance = 4 * 0x1p-24 * std::abs(x[i]) + 0x1p-149;
    ASSERT_NEAR(out[i], x[i] * distribution(x[i]), tolerance) << "x=" << x[i];
  }
}

/// 16 units of 2^-24 (1e-6): 1.1 the fit, the rest roundings of sums that cancel near |x| = 6.
TEST_P(GeluTest, BackwardMultipliesByTheDerivative) {
  const std::vector<float> x = arguments();
  const std::vector<float> grad = random_floats(x.size(), 4);
  std::vector<float> out(x.size());
  backward(grad.data(), x.data(), out.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double tolerance = 16 * 0x1p-24 * std::abs(grad[i]);
    ASSERT_NEAR(out[i], grad[i] * derivative(x[i]), tolerance) << "x=" << x[i];
  }
}

TEST_P(GeluTest, FarOutItIsExact) {
  const std::vector<float> x{-6.0F, -100.0F, -3e38F, 6.0F, 100.0F, 3e38F, INFINITY};
  std::vector<float> out(x.size());
  forward(x.data(), out.data(), x.size());
  EXPECT_EQ(out, (std::vector<float>{-0.0F, -0.0F, -0.0F, 6.0F, 100.0F, 3e38F, INFINITY}));
}

TEST_P(GeluTest, NotANumberStaysOne) {
  for (const bool negative : {false, true}) {
    const std::vector<float> x(40, negative ? -NAN : NAN);
    const std::vector<BFloat16> y(40, BFloat16{static_cast<uint16_t>(negative ? 0xFF81 : 0x7FFF)});
    const std::vector<float> ones(40, 1.0F);
    const std::vector<BFloat16> bf16_ones(40, nearest_bfloat16(1.0F));
    std::vector<float> out(40);
    std::vector<BFloat16> bf16_out(40);
    const auto all_nan = [](const auto& values) {
      return std::all_of(values.begin(), values.end(), [](auto v) { return std::isnan(widen(v)); });
    };
    forward(x.data(), out.data(), 40);
    EXPECT_TRUE(all_nan(out));
    backward(ones.data(), x.data(), out.data(), 40);
    EXPECT_TRUE(all_nan(out));
    backward(x.data(), ones.data(), out.data(), 40);
    EXPECT_TRUE(all_nan(out));
    forward(y.data(), bf16_out.data(), 40);
    EXPECT_TRUE(all_nan(bf16_out));
    backward(bf16_ones.data(), y.data(), bf16_out.data(), 40);
    EXPECT_TRUE(all_nan(bf16_out));
    backward(y.data(), bf16_ones.data(), bf16_out.data(), 40);
    EXPECT_TRUE(all_nan(bf16_out));
  }
}

/// Every bf16, each against the fp32 form rounded here.
TEST_P(GeluTest, Bfloat16IsTheFp32FormRoundedToNearestEven) {
  std::vector<BFloat16> x;
  std::vector<float> wide;
  for (uint32_t i = 0; i < 65536; ++i) {
    x.push_back({static_cast<uint16_t>(i)});
    wide.push_back(widen(x.back()));
  }
  const std::vector<float> random = random_floats(x.size(), 5);
  std::vector<BFloat16> grad;
  std::vector<float> wide_grad;
  for (const float value : random) {
    grad.push_back(nearest_bfloat16(value));
    wide_grad.push_back(widen(grad.back()));
  }
  std::vector<BFloat16> out(x.size());
  std::vector<float> expected(x.size());
  const auto check = [&] {
    for (size_t i = 0; i < x.size(); ++i) {
      const BFloat16 rounded = nearest_bfloat16(expected[i]);
      ASSERT_TRUE(std::isnan(widen(rounded)) ? std::isnan(widen(out[i]))
                                             : out[i].bits == rounded.bits)
          << "x=" << wide[i] << ": " << widen(out[i]) << ", not " << widen(rounded);
    }
  };
  forward(x.data(), out.data(), x.size());
  forward(wide.data(), expected.data(), wide.size());
  check();
  backward(grad.data(), x.data(), out.data(), x.size());
  backward(wide_grad.data(), wide.data(), expected.data(), wide.size());
  check();
}

TEST_P(GeluTest, TakesAnyCountAndAlignmentInPlaceToo) {
  const std::vector<float> all = random_floats(300, 6);
  std::vector<float> expected(300);
  std::vector<float> expected_grad(300);
  forward(all.data(), expected.data(), 300);
  backward(all.data(), all.data(), expected_grad.data(), 300);
  for (size_t count = 0; count < 70; ++count) {
    const size_t shift = count % 5;
    const float* const x = all.data() + shift;
    const std::vector<float> wanted(expected.begin() + shift, expected.begin() + shift + count);
    std::vector<float> out(count + 1, 77.0F);
    forward(x, out.data(), count);
    EXPECT_EQ(out[count], 77.0F) << "wrote behind the output";
    EXPECT_TRUE(all_same_bits({out.begin(), out.end() - 1}, wanted));
    std::vector<float> in_place(x, x + count);
    forward(in_place.data(), in_place.data(), count);
    EXPECT_TRUE(all_same_bits(in_place, wanted));
    in_place.assign(x, x + count);
    backward(in_place.data(), x, in_place.data(), count);
    EXPECT_TRUE(all_same_bits(
        in_place, {expected_grad.begin() + shift, expected_grad.begin() + shift + count}));
  }
}

}  // namespace
}  // namespace libtrain::kernels
