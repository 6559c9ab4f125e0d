#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"
#include "libtrain/kernels/random.hpp"

namespace libtrain::kernels {

/// Part of one sample: elements [first, first + count) of it, out[i] = kept ? in[i] * scale : 0
/// with scale = 1 / (1 - probability). The mask depends on the stream and the element alone, so
/// backward calls this with the gradient as input. in == out is allowed.
struct DropoutArgs {
  RandomStream stream = {};
  int64_t first = 0;  ///< first + count is at most 2^34
  int64_t count = 0;
  double probability = 0.0;  ///< in [0, 1]
};

using DropoutF32 = void (*)(const float* in, float* out, const DropoutArgs& args);
using DropoutBF16 = void (*)(const BFloat16* in, BFloat16* out, const DropoutArgs& args);

}  // namespace libtrain::kernels
