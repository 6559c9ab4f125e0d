#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"

namespace libtrain::kernels {

/// Elements summed per call; callers add the sums of successive chunks in order, which makes the
/// norm independent of the number of threads.
inline constexpr int64_t kNormChunk = 16384;

/// Sum of squares of x[0 .. count), count <= kNormChunk, accumulated in double in a fixed order
/// (same bits on every ISA). Not finite exactly when an element is not finite: squares of fp32
/// cannot overflow a double.
using SumOfSquaresF32 = double (*)(const float* x, int64_t count);
using SumOfSquaresBF16 = double (*)(const BFloat16* x, int64_t count);

}  // namespace libtrain::kernels
