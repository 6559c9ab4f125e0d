#pragma once

#include "libtrain/kernels/philox_constants.hpp"
#include "libtrain/kernels/random.hpp"
#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {

/// Chains of dependent multiplies that run side by side, to hide their latency.
constexpr int kPhiloxChains = 2;
constexpr int kChainBlocks = kVectorBytes / 8;
constexpr int kPhiloxBlocks = kPhiloxChains * kChainBlocks;  ///< counters a draw covers
constexpr int kPhiloxWords = 4 * kPhiloxBlocks;              ///< numbers a draw gives
constexpr int kPhiloxVectors = 2 * kPhiloxChains;

/// Numbers [4 * block, 4 * block + kPhiloxWords) of the stream, in order.
///
/// Each of a block's four words sits in the low half of a 64-bit lane, where the widening multiply
/// wants it; what the high halves hold never matters. The lanes take their blocks in the order that
/// makes the interleaves at the end put the numbers in sequence.
[[gnu::always_inline]] inline void philox_draw(const RandomStream& stream, uint64_t block,
                                               Words out[kPhiloxVectors]) {
  Longs order;
  for (int lane = 0; lane < kChainBlocks; ++lane) {
    order[lane] = static_cast<uint64_t>(lane / 2 + lane % 2 * (kChainBlocks / 2));
  }
  Longs c0[kPhiloxChains], c1[kPhiloxChains], c2[kPhiloxChains], c3[kPhiloxChains];
  for (int i = 0; i < kPhiloxChains; ++i) {
    c0[i] = order + (block + static_cast<uint64_t>(i * kChainBlocks));
    c1[i] = Longs{} + stream.sample;
    c2[i] = Longs{} + stream.site;
    c3[i] = Longs{} + stream.step;
  }
  uint32_t key0 = static_cast<uint32_t>(stream.seed);
  uint32_t key1 = static_cast<uint32_t>(stream.seed >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    for (int i = 0; i < kPhiloxChains; ++i) {
      const Longs product0 = multiply_low_halves(c0[i], Longs{} + kPhiloxMultiplier0);
      const Longs product1 = multiply_low_halves(c2[i], Longs{} + kPhiloxMultiplier1);
      c0[i] = (product1 >> 32) ^ (c1[i] ^ key0);
      c1[i] = product1;
      c2[i] = (product0 >> 32) ^ (c3[i] ^ key1);
      c3[i] = product0;
    }
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  const std::make_integer_sequence<int, kChainBlocks> longs;
  for (int i = 0; i < kPhiloxChains; ++i) {
    const Longs first_pair = Longs(interleave_even(Words(c0[i]), Words(c1[i]), LaneIndices{}));
    const Longs second_pair = Longs(interleave_even(Words(c2[i]), Words(c3[i]), LaneIndices{}));
    out[2 * i] = Words(interleave_even(first_pair, second_pair, longs));
    out[2 * i + 1] = Words(interleave_odd(first_pair, second_pair, longs));
  }
}

/// dropout_threshold() of a probability below 1, even one that rounds to 2^32.
inline uint32_t threshold_below_one(double probability) {
  const uint64_t threshold = dropout_threshold(probability);
  return threshold < UINT32_MAX ? static_cast<uint32_t>(threshold) : UINT32_MAX;
}

/// Numbers [first, first + count) of the stream to `numbers`, from first % 4 on: draws begin at a
/// block of four and are whole, so up to kPhiloxWords + 3 more are written around them. `Storage`
/// is any type of 32 bits: what it holds are bits, to be read with load().
template <class Storage>
[[gnu::always_inline]] inline void philox_fill(const RandomStream& stream, int64_t first,
                                               int64_t count, Storage* numbers) {
  const int64_t end = first % 4 + count;
  uint64_t block = static_cast<uint64_t>(first / 4);
  for (int64_t done = 0; done < end; done += kPhiloxWords, block += kPhiloxBlocks) {
    Words drawn[kPhiloxVectors];
    philox_draw(stream, block, drawn);
    for (int i = 0; i < kPhiloxVectors; ++i) {
      store(numbers + done + i * kLanes, drawn[i]);
    }
  }
}

}  // namespace libtrain::kernels::LT_ISA
