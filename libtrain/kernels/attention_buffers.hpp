#pragma once

#include <cstdint>

namespace libtrain::kernels {
namespace {  // shared by files compiled for different ISAs: each must keep its own copy

/// Queries and keys are worked on in blocks of this many tokens.
constexpr int64_t kAttentionBlock = 64;

/// Rows of `stride` floats; the stride is a multiple of 16 floats, so that every row starts on a
/// cache line and has room for whole vectors of any ISA.
struct RowMatrix {
  float* data;
  int64_t stride;
};

/// A call's scratch memory, cut into the matrices that forward and backward need.
struct AttentionBuffers {
  RowMatrix q;          ///< [block, dim] times scale
  RowMatrix k;          ///< [block, dim]
  RowMatrix k_columns;  ///< [dim, block]
  RowMatrix v;          ///< [block, dim]
  RowMatrix v_columns;  ///< [dim, block]
  RowMatrix out;        ///< [block, dim] forward: sums; backward: gradient
  RowMatrix scores;     ///< [block, block] becomes the probabilities
  RowMatrix grad_scores;
  RowMatrix grad_q;  ///< [length, dim]
  RowMatrix grad_k;  ///< [block, dim]
  RowMatrix grad_v;
  float* row_max;  ///< [block]
  float* row_sum;
  float* delta;    ///< [length] row sums of grad_out * out
  float* numbers;  ///< bits of random numbers for one tile
  int64_t floats;  ///< how many floats all of it takes

  /// Without memory (null) only `floats` is meant.
  [[gnu::always_inline]] inline AttentionBuffers(float* memory, int64_t length, int64_t head_dim) {
    const int64_t block = length < kAttentionBlock ? length : kAttentionBlock;
    float* const aligned = memory + (64 - reinterpret_cast<uintptr_t>(memory) % 64) % 64 / 4;
    int64_t taken = 0;
    const auto take = [&](int64_t rows, int64_t columns) __attribute__((always_inline)) {
      const RowMatrix matrix{memory == nullptr ? nullptr : aligned + taken,
                             (columns + 15) / 16 * 16};
      taken += rows * matrix.stride;
      return matrix;
    };
    const int64_t columns = (head_dim + 3) / 4 * 4;  // transposed four by four
    q = take(block, head_dim);
    k = take(block, head_dim);
    k_columns = take(columns, block);
    v = take(block, head_dim);
    v_columns = take(columns, block);
    out = take(block, head_dim);
    scores = take(block, block);
    grad_scores = take(block, block);
    grad_q = take(length, head_dim);
    grad_k = take(block, head_dim);
    grad_v = take(block, head_dim);
    row_max = take(1, block).data;
    row_sum = take(1, block).data;
    delta = take(1, length).data;
    numbers = take(1, block * block + 80).data;  // + what draws give before and beyond the tile
    floats = taken + 15;
  }
};

}  // namespace
}  // namespace libtrain::kernels
