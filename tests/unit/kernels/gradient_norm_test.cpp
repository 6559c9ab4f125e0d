#include "libtrain/kernels/gradient_norm.hpp"

#include "tests/unit/kernels/kernel_test.hpp"

namespace libtrain::kernels {
namespace {

class GradientNormTest : public KernelTest {
 protected:
  double run(std::span<const float> x) const {
    return kernels().sum_of_squares_f32(x.data(), static_cast<int64_t>(x.size()));
  }
  double run(std::span<const BFloat16> x) const {
    return kernels().sum_of_squares_bf16(x.data(), static_cast<int64_t>(x.size()));
  }
};

LT_FOR_EVERY_ISA(GradientNormTest);

/// The order promised in gradient_norm.hpp.
template <class T>
double by_definition(std::span<const T> x) {
  double sums[32] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    sums[i % 32] += double{widen(x[i])} * double{widen(x[i])};
  }
  for (int width = 16; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      sums[i] += sums[i + width];
    }
  }
  return sums[0];
}

TEST_P(GradientNormTest, HasTheBitsOfItsDefinition) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed=" + std::to_string(seed));
    const size_t count = seed < 100 ? seed : 37 * seed;
    const std::vector<float> x = random_floats(count + 3, seed);
    const std::span<const float> part = std::span(x).subspan(seed % 4, count);
    EXPECT_EQ(run(part), by_definition(part));
    std::vector<BFloat16> y;
    for (const float value : part) {
      y.push_back(nearest_bfloat16(value));
    }
    EXPECT_EQ(run(std::span<const BFloat16>(y)), by_definition(std::span<const BFloat16>(y)));
  }
}

/// 512 rounding errors a sum and 5 levels: relative error below 517 * 2^-53.
TEST_P(GradientNormTest, IsTheSumOfSquares) {
  const std::vector<float> x = random_floats(kNormChunk, 3);
  long double sum = 0;
  for (const float value : x) {
    sum += static_cast<long double>(value) * value;
  }
  EXPECT_NEAR(run(x), static_cast<double>(sum), static_cast<double>(sum) * 6e-14);
}

TEST_P(GradientNormTest, IsFiniteExactlyWhenEveryElementIs) {
  for (size_t count : {1, 31, 32, 33, 100}) {
    std::vector<float> x(count, 3.4e38F);
    EXPECT_NEAR(run(x) / (static_cast<double>(count) * 1.156e77), 1.0, 1e-6);
    for (size_t i = 0; i < count; ++i) {
      for (const float bad : {INFINITY, -INFINITY, NAN}) {
        x[i] = bad;
        EXPECT_FALSE(std::isfinite(run(x))) << "element " << i << " of " << count;
        x[i] = 1e-45F;
      }
    }
    EXPECT_EQ(run(x), static_cast<double>(count) * 0x1p-298) << "denormals are not flushed";
  }
}

TEST_P(GradientNormTest, OfNothingIsZero) { EXPECT_EQ(run(std::span<const float>()), 0.0); }

}  // namespace
}  // namespace libtrain::kernels
