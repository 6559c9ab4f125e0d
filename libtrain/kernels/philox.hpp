#pragma once

#include "libtrain/kernels/philox_constants.hpp"
#include "libtrain/kernels/random.hpp"
#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {

constexpr int kPhiloxBlocks = kVectorBytes / 8;  ///< counters a draw covers
constexpr int kPhiloxWords = 4 * kPhiloxBlocks;  ///< numbers a draw gives
constexpr int kPhiloxVectors = kPhiloxWords / kLanes;
static_assert(kPhiloxVectors == 2);

/// Numbers [4 * block, 4 * block + kPhiloxWords) of the stream, in order.
///
/// Each of a block's four words sits in the low half of a 64-bit lane, where the widening multiply
/// wants it; what the high halves hold never matters. The lanes take their blocks in the order that
/// makes the interleaves at the end put the numbers in sequence.
[[gnu::always_inline]] inline void philox_draw(const RandomStream& stream, uint64_t block,
                                               Words out[kPhiloxVectors]) {
  Longs c0;
  for (int lane = 0; lane < kPhiloxBlocks; ++lane) {
    c0[lane] = static_cast<uint64_t>(lane / 2 + lane % 2 * (kPhiloxBlocks / 2));
  }
  c0 += block;
  Longs c1 = Longs{} + stream.sample;
  Longs c2 = Longs{} + stream.site;
  Longs c3 = Longs{} + stream.step;
  uint32_t key0 = static_cast<uint32_t>(stream.seed);
  uint32_t key1 = static_cast<uint32_t>(stream.seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const Longs product0 = multiply_low_halves(c0, Longs{} + kPhiloxMultiplier0);
    const Longs product1 = multiply_low_halves(c2, Longs{} + kPhiloxMultiplier1);
    c0 = (product1 >> 32) ^ (c1 ^ key0);
    c1 = product1;
    c2 = (product0 >> 32) ^ (c3 ^ key1);
    c3 = product0;
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  const std::make_integer_sequence<int, kPhiloxBlocks> longs;
  const Longs first_pair = Longs(interleave_even(Words(c0), Words(c1), LaneIndices{}));
  const Longs second_pair = Longs(interleave_even(Words(c2), Words(c3), LaneIndices{}));
  out[0] = Words(interleave_even(first_pair, second_pair, longs));
  out[1] = Words(interleave_odd(first_pair, second_pair, longs));
}

}  // namespace libtrain::kernels::LT_ISA
