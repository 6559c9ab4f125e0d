#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "libtrain/kernels/table.hpp"

namespace libtrain::kernels {

/// A test that runs once for every ISA this CPU has.
class KernelTest : public testing::TestWithParam<Isa> {
 protected:
  const Table& kernels() const { return table(GetParam()); }
};

inline std::string isa_name(const testing::TestParamInfo<Isa>& info) {
  return std::string(to_text(info.param));
}

#define LT_FOR_EVERY_ISA(suite) \
  INSTANTIATE_TEST_SUITE_P(Isas, suite, testing::ValuesIn(available_isas()), isa_name)

inline uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
inline float widen(BFloat16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }
inline float widen(float x) { return x; }

/// Nearest bfloat16, ties to even, found by comparing distances in double.
inline BFloat16 nearest_bfloat16(float x) {
  if (std::isnan(x)) {
    return {0x7FC0};
  }
  const uint16_t low = static_cast<uint16_t>(bits(x) >> 16);
  const float below = widen(BFloat16{low});
  if (below == x) {
    return {low};
  }
  const uint16_t high = static_cast<uint16_t>(low + 1);  // away from zero
  const double above =
      std::isinf(widen(BFloat16{high})) ? std::copysign(0x1p128, x) : double{widen(BFloat16{high})};
  const double to_below = std::abs(double{x} - double{below});
  const double to_above = std::abs(above - double{x});
  if (to_below == to_above) {
    return {low % 2 == 0 ? low : high};
  }
  return {to_below < to_above ? low : high};
}

/// Normal numbers with a few specials when asked: zeros, denormals, largest, infinities, NaN.
inline std::vector<float> random_floats(size_t count, uint32_t seed, double specials = 0.0) {
  constexpr float kSpecials[] = {0.0F,     -0.0F,     1e-45F,
                                 -3e-39F,  3.4e38F,   -3.4e38F,
                                 INFINITY, -INFINITY, std::numeric_limits<float>::quiet_NaN()};
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::bernoulli_distribution is_special(specials);
  std::uniform_int_distribution<size_t> which(0, std::size(kSpecials) - 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = is_special(generator) ? kSpecials[which(generator)] : normal(generator);
  }
  return values;
}

/// Equal in every bit, any NaN counting as NaN (which NaN an operation gives is the CPU's choice).
inline bool same_bits(float a, float b) {
  return bits(a) == bits(b) || (std::isnan(a) && std::isnan(b));
}
inline bool same_bits(BFloat16 a, BFloat16 b) { return a.bits == b.bits; }

template <class T>
testing::AssertionResult all_same_bits(const std::vector<T>& actual,
                                       const std::vector<T>& expected) {
  if (actual.size() != expected.size()) {
    return testing::AssertionFailure() << actual.size() << " elements, not " << expected.size();
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!same_bits(actual[i], expected[i])) {
      return testing::AssertionFailure() << "element " << i << " of " << actual.size() << ": "
                                         << widen(actual[i]) << ", not " << widen(expected[i]);
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace libtrain::kernels
