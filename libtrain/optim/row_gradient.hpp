#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>

namespace libtrain {

/// A gradient that is 0 but for some rows of the parameter: what a sparse tensor with one sparse
/// dimension says.
struct RowGradient {
  at::Tensor rows;    ///< int64 [n], ascending, no row twice
  at::Tensor values;  ///< [n, ...], contiguous
};

/// Sums rows that occur more than once. `gradient` is sparse, with one sparse dimension.
RowGradient row_gradient(const at::Tensor& gradient);

/// Walks over elements [first, first + count) of a parameter, `width` elements a row: calls
/// part(offset, elements, gradient) for each touched row in it with its values, and for each
/// stretch between touched rows with null; `offset` counts from the parameter's first element.
template <class Part>
void for_each_part(const int64_t* rows, int64_t row_count, float* values, int64_t width,
                   int64_t first, int64_t count, const Part& part) {
  const int64_t last = first + count;
  const int64_t* row = std::lower_bound(rows, rows + row_count, first / width);
  while (first < last) {
    const int64_t row_begin = row == rows + row_count ? last : *row * width;
    if (first < row_begin) {
      const int64_t stop = std::min(row_begin, last);
      part(first, stop - first, static_cast<float*>(nullptr));
      first = stop;
      continue;
    }
    const int64_t stop = std::min(row_begin + width, last);
    part(first, stop - first, values + (row - rows) * width + (first - row_begin));
    first = stop;
    ++row;
  }
}

}  // namespace libtrain
