#pragma once

#include "libtrain/kernels/attention_buffers.hpp"
#include "libtrain/kernels/vector.hpp"

/// Between the caller's rows (any type, any stride) and padded fp32 matrices.
namespace libtrain::kernels::LT_ISA {
namespace {

typedef float Four __attribute__((vector_size(16)));
typedef uint32_t FourWords __attribute__((vector_size(16)));
typedef uint16_t FourShorts __attribute__((vector_size(8)));

[[gnu::always_inline]] inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

[[gnu::always_inline]] inline int64_t whole_vectors(int64_t count) {
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// x[0 .. count) and zeros, count < N.
template <int N, class T>
struct Part {
  [[gnu::always_inline]] inline Part(const T* x, int64_t count) : values{} {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = x[i];
    }
  }
  T values[N];
};

template <class T>
[[gnu::always_inline]] inline Floats load_row(const T* row, int64_t column, int64_t columns) {
  if (column + kLanes <= columns) [[likely]] {
    return load_floats(row + column);
  }
  return load_floats(Part<kLanes, T>(row + column, columns - column).values);
}

[[gnu::always_inline]] inline Four load_four(const float* x) { return load<Four>(x); }
[[gnu::always_inline]] inline Four load_four(const BFloat16* x) {
  return Four(__builtin_convertvector(load<FourShorts>(x), FourWords) << 16);
}

template <class T>
void pack(const T* in, int64_t stride, int64_t rows, int64_t columns, float scale, RowMatrix out) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      store(out.data + r * out.stride + c, load_row(in + r * stride, c, columns) * scale);
    }
  }
}

template <class T>
void unpack(RowMatrix in, int64_t rows, int64_t columns, float scale, T* out, int64_t stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const Floats value = load<Floats>(in.data + r * in.stride + c) * scale;
      T* const to = out + r * stride + c;
      if (c + kLanes <= columns) [[likely]] {
        store_floats(to, value);
      } else {
        T part[kLanes];
        store_floats(part, value);
        for (int64_t i = 0; c + i < columns; ++i) {
          to[i] = part[i];
        }
      }
    }
  }
}

/// out[c][r] = in[r][c], zeros for rows up to whole vectors.
template <class T>
void pack_transposed(const T* in, int64_t stride, int64_t rows, int64_t columns, RowMatrix out) {
  for (int64_t r = 0; r < whole_vectors(rows); r += 4) {
    for (int64_t c = 0; c < columns; c += 4) {
      Four x[4] = {};
      for (int64_t i = 0; i < 4 && r + i < rows; ++i) {
        const T* from = in + (r + i) * stride + c;
        x[i] = c + 4 <= columns ? load_four(from) : load_four(Part<4, T>(from, columns - c).values);
      }
      const Four low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
      const Four low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
      const Four high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
      const Four high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
      float* to = out.data + c * out.stride + r;
      store(to, __builtin_shufflevector(low01, low23, 0, 1, 4, 5));
      store(to + out.stride, __builtin_shufflevector(low01, low23, 2, 3, 6, 7));
      store(to + 2 * out.stride, __builtin_shufflevector(high01, high23, 0, 1, 4, 5));
      store(to + 3 * out.stride, __builtin_shufflevector(high01, high23, 2, 3, 6, 7));
    }
  }
}

}  // namespace
}  // namespace libtrain::kernels::LT_ISA
