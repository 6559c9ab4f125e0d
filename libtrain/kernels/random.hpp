#pragma once

#include <array>
#include <cstdint>

#include "libtrain/core/api.hpp"

namespace libtrain::kernels {

/// Where in a training run a stream of random numbers belongs (docs/random.md). The number for
/// element e of a sample is word e % 4 of Philox4x32-10 with
///   key     = {seed low, seed high}
///   counter = {e / 4, sample, site, step}.
struct RandomStream {
  uint64_t seed = 0;
  uint32_t step = 0;    ///< global step
  uint32_t site = 0;    ///< n-th random operation of the forward pass
  uint32_t sample = 0;  ///< index in the global batch
};

/// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
/// (SC'11).
LT_API std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key);

/// A value is dropped when its 32-bit number is below this: round(probability * 2^32), in [0,
/// 2^32].
LT_API uint64_t dropout_threshold(double probability);

}  // namespace libtrain::kernels
