#pragma once

#include <cstdint>
#include <utility>

#include "libtrain/kernels/bfloat16.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/// One register's worth of numbers for the ISA this file is compiled for (the compilers' vector
/// extension: operators work lane by lane, comparisons give masks of all ones).
namespace libtrain::kernels::LT_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
constexpr int kLanes = kVectorBytes / 4;

typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
typedef int32_t Ints __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));
typedef uint64_t Longs __attribute__((vector_size(kVectorBytes)));
typedef float HalfFloats __attribute__((vector_size(kVectorBytes / 2)));
typedef uint16_t HalfShorts __attribute__((vector_size(kVectorBytes / 2)));

/// Any address, any type behind it.
template <class V>
[[gnu::always_inline]] inline V load(const void* address) {
  V value;
  __builtin_memcpy(&value, address, sizeof(V));
  return value;
}

template <class V>
[[gnu::always_inline]] inline void store(void* address, V value) {
  __builtin_memcpy(address, &value, sizeof(V));
}

[[gnu::always_inline]] inline Floats load_floats(const float* address) {
  return load<Floats>(address);
}

[[gnu::always_inline]] inline Floats load_floats(const BFloat16* address) {
  return Floats(__builtin_convertvector(load<HalfShorts>(address), Words) << 16);
}

[[gnu::always_inline]] inline void store_floats(float* address, Floats value) {
  store(address, value);
}

/// Rounds to nearest even; every NaN becomes 0x7FC0, as in c10::BFloat16.
[[gnu::always_inline]] inline void store_floats(BFloat16* address, Floats value) {
  const Words bits = Words(value);
  const Words rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const Words result = value != value ? Words{} + 0x7FC0 : rounded;
  store(address, __builtin_convertvector(result, HalfShorts));
}

/// Lane by lane; a NaN in b alone is passed over.
[[gnu::always_inline]] inline Floats maximum(Floats a, Floats b) { return b > a ? b : a; }

[[gnu::always_inline]] inline float largest_lane(Floats x) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      x[i] = x[i + width] > x[i] ? x[i + width] : x[i];
    }
  }
  return x[0];
}

[[gnu::always_inline]] inline float sum_of_lanes(Floats x) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) {
      x[i] += x[i + width];
    }
  }
  return x[0];
}

/// Product of the low halves of each 64-bit lane with a 32-bit number; the high halves are ignored.
[[gnu::always_inline]] inline Longs multiply_low_halves(Longs a, uint32_t factor) {
  const Longs b = Longs{} + factor;
#if defined(__AVX512F__)
  return Longs(_mm512_maskz_mul_epu32(0xFF, __m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return Longs(_mm256_mul_epu32(__m256i(a), __m256i(b)));
#elif defined(__SSE2__)
  return Longs(_mm_mul_epu32(__m128i(a), __m128i(b)));
#else
  return (a & 0xFFFFFFFF) * b;
#endif
}

template <class V, int... kIndex>
[[gnu::always_inline]] inline V interleave_even(V a, V b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(
      a, b, (kIndex % 2 == 0 ? kIndex : kIndex - 1 + int{sizeof...(kIndex)})...);
}

template <class V, int... kIndex>
[[gnu::always_inline]] inline V interleave_odd(V a, V b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(
      a, b, (kIndex % 2 == 0 ? kIndex + 1 : kIndex + int{sizeof...(kIndex)})...);
}

}  // namespace libtrain::kernels::LT_ISA
