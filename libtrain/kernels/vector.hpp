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

using LaneIndices = std::make_integer_sequence<int, kLanes>;

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

// What the vector extension cannot say, or compilers translate badly: the 64-bit products of the
// low halves of each lane, 16-bit numbers to 32 bits and back (those are below 2^16), and the
// larger and the smaller of two lanes (a where b is NaN).
#if defined(__AVX512F__)
[[gnu::always_inline]] inline Longs multiply_low_halves(Longs a, Longs b) {
  return Longs(_mm512_maskz_mul_epu32(0xFF, __m512i(a), __m512i(b)));
}
[[gnu::always_inline]] inline Words widen(HalfShorts x) {
  return Words(_mm512_maskz_cvtepu16_epi32(0xFFFF, __m256i(x)));
}
[[gnu::always_inline]] inline HalfShorts narrow(Words x) {
  return HalfShorts(_mm512_maskz_cvtepi32_epi16(0xFFFF, __m512i(x)));
}
[[gnu::always_inline]] inline Floats maximum(Floats a, Floats b) {
  return Floats(_mm512_maskz_max_ps(0xFFFF, __m512(b), __m512(a)));
}
[[gnu::always_inline]] inline Floats minimum(Floats a, Floats b) {
  return Floats(_mm512_maskz_min_ps(0xFFFF, __m512(b), __m512(a)));
}
#elif defined(__AVX2__)
[[gnu::always_inline]] inline Longs multiply_low_halves(Longs a, Longs b) {
  return Longs(_mm256_mul_epu32(__m256i(a), __m256i(b)));
}
[[gnu::always_inline]] inline Words widen(HalfShorts x) {
  return Words(_mm256_cvtepu16_epi32(__m128i(x)));
}
[[gnu::always_inline]] inline HalfShorts narrow(Words x) {
  return HalfShorts(_mm_packus_epi32(_mm256_castsi256_si128(__m256i(x)),
                                     _mm256_extracti128_si256(__m256i(x), 1)));
}
[[gnu::always_inline]] inline Floats maximum(Floats a, Floats b) {
  return Floats(_mm256_max_ps(__m256(b), __m256(a)));
}
[[gnu::always_inline]] inline Floats minimum(Floats a, Floats b) {
  return Floats(_mm256_min_ps(__m256(b), __m256(a)));
}
#else
[[gnu::always_inline]] inline Longs multiply_low_halves(Longs a, Longs b) {
#ifdef __SSE2__
  return Longs(_mm_mul_epu32(__m128i(a), __m128i(b)));
#else
  return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#endif
}
[[gnu::always_inline]] inline Words widen(HalfShorts x) {
  return __builtin_convertvector(x, Words);
}
[[gnu::always_inline]] inline HalfShorts narrow(Words x) {
  return __builtin_convertvector(x, HalfShorts);
}
[[gnu::always_inline]] inline Floats maximum(Floats a, Floats b) { return b > a ? b : a; }
[[gnu::always_inline]] inline Floats minimum(Floats a, Floats b) { return b < a ? b : a; }
#endif

[[gnu::always_inline]] inline Floats load_floats(const float* address) {
  return load<Floats>(address);
}

[[gnu::always_inline]] inline Floats load_floats(const BFloat16* address) {
  return Floats(widen(load<HalfShorts>(address)) << 16);
}

[[gnu::always_inline]] inline void store_floats(float* address, Floats value) {
  store(address, value);
}

/// Rounds to nearest even; every NaN becomes 0x7FC0, as in c10::BFloat16.
[[gnu::always_inline]] inline void store_floats(BFloat16* address, Floats value) {
  const Words bits = Words(value);
  const Words rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const Words result = value != value ? Words{} + 0x7FC0 : rounded;
  store(address, narrow(result));
}

template <int... kIndex>
[[gnu::always_inline]] inline Ints lane_numbers(std::integer_sequence<int, kIndex...>) {
  return Ints{kIndex...};
}

/// Lane i gets lane i + kBy, around the end.
template <int kBy, int... kIndex>
[[gnu::always_inline]] inline Floats rotate(Floats x, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(x, x, (kIndex + kBy) % kLanes...);
}

template <int kWidth = kLanes / 2>
[[gnu::always_inline]] inline float largest_lane(Floats x) {
  if constexpr (kWidth == 0) {
    return x[0];
  } else {
    return largest_lane<kWidth / 2>(maximum(x, rotate<kWidth>(x, LaneIndices{})));
  }
}

template <int kWidth = kLanes / 2>
[[gnu::always_inline]] inline float sum_of_lanes(Floats x) {
  if constexpr (kWidth == 0) {
    return x[0];
  } else {
    return sum_of_lanes<kWidth / 2>(x + rotate<kWidth>(x, LaneIndices{}));
  }
}

/// All ones in lanes below count.
[[gnu::always_inline]] inline Words lanes_below(int64_t count) {
  return Words(lane_numbers(LaneIndices{}) < static_cast<int32_t>(count));
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
