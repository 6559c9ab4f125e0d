#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"

namespace libtrain::kernels {

/// Elements summed per call; callers add the sums of successive chunks in order, which makes the
/// norm independent of the number of threads.
inline constexpr int64_t kNormChunk = 16384;

/// Sum of squares of x[0 .. count), count <= kNormChunk, in double, the same bits on every ISA:
/// element i goes to partial sum i % 32, then sums i and i + 16 are added, i and i + 8, and so on.
/// A square of fp32 is exact in double and cannot overflow: the result is not finite exactly when
/// an element is not.
using SumOfSquaresF32 = double (*)(const float* x, int64_t count);
using SumOfSquaresBF16 = double (*)(const BFloat16* x, int64_t count);

}  // namespace libtrain::kernels
