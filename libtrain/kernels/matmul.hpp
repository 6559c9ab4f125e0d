#pragma once

#include "libtrain/kernels/attention_buffers.hpp"
#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {

/// Left factor A: element (m, k) is data[m * row + k * column], so a transpose is free.
struct LeftMatrix {
  const float* data;
  int64_t row;
  int64_t column;
};

enum class Store { kReplace, kAdd };

// Accumulators (rows * vectors) plus operands must fit the register file: 32 registers or 16.
constexpr int kTileRows = kVectorBytes == 64 ? 8 : 6;
constexpr int kTileVectors = 2;

template <int kRows, int kVectors>
void multiply_tile(LeftMatrix a, const float* b, int64_t b_stride, float* c, int64_t c_stride,
                   int64_t depth, Store mode) {
  Floats sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < kVectors; ++n) {
      sums[m][n] = mode == Store::kAdd ? load<Floats>(c + m * c_stride + n * kLanes) : Floats{};
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    Floats row[kVectors];
#pragma GCC unroll 2
    for (int n = 0; n < kVectors; ++n) {
      row[n] = load<Floats>(b + k * b_stride + n * kLanes);
    }
#pragma GCC unroll 8
    for (int m = 0; m < kRows; ++m) {
      const float left = a.data[m * a.row + k * a.column];
#pragma GCC unroll 2
      for (int n = 0; n < kVectors; ++n) {
        sums[m][n] += left * row[n];
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
    for (int n = 0; n < kVectors; ++n) {
      store(c + m * c_stride + n * kLanes, sums[m][n]);
    }
  }
}

template <int kRows, int kVectors>
void multiply_rows(LeftMatrix a, const float* b, int64_t b_stride, float* c, int64_t c_stride,
                   int64_t rows, int64_t depth, Store mode) {
  if (rows == kRows) {
    multiply_tile<kRows, kVectors>(a, b, b_stride, c, c_stride, depth, mode);
  } else if constexpr (kRows > 1) {
    multiply_rows<kRows - 1, kVectors>(a, b, b_stride, c, c_stride, rows, depth, mode);
  }
}

template <int kVectors>
void multiply_panel(LeftMatrix a, const float* b, int64_t b_stride, float* c, int64_t c_stride,
                    int64_t rows, int64_t depth, Store mode) {
  for (int64_t m = 0; m < rows; m += kTileRows) {
    const int64_t left = rows - m < kTileRows ? rows - m : kTileRows;
    multiply_rows<kTileRows, kVectors>({a.data + m * a.row, a.row, a.column}, b, b_stride,
                                       c + m * c_stride, c_stride, left, depth, mode);
  }
}

/// C (rows x columns) = or += A (rows x depth) B (depth x columns); columns: a multiple of kLanes,
/// padding included: it is read and written like the rest.
inline void multiply(LeftMatrix a, RowMatrix b, RowMatrix c, int64_t rows, int64_t columns,
                     int64_t depth, Store mode) {
  int64_t n = 0;
  for (; n + kTileVectors * kLanes <= columns; n += kTileVectors * kLanes) {
    multiply_panel<kTileVectors>(a, b.data + n, b.stride, c.data + n, c.stride, rows, depth, mode);
  }
  if (n < columns) {
    multiply_panel<1>(a, b.data + n, b.stride, c.data + n, c.stride, rows, depth, mode);
  }
}

}  // namespace libtrain::kernels::LT_ISA
