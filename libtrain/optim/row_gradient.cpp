#include "libtrain/optim/row_gradient.hpp"

#include <functional>

namespace libtrain {

RowGradient row_gradient(const at::Tensor& gradient) {
  const at::Tensor rows = gradient._indices().squeeze(0).contiguous();
  const auto* row = rows.const_data_ptr<int64_t>();
  // The engine drops the mark of a coalesced tensor, and coalesce() would sort and copy.
  const bool ascending =
      std::adjacent_find(row, row + rows.numel(), std::greater_equal<>()) == row + rows.numel();
  if (ascending) {
    return {rows, gradient._values().contiguous()};
  }
  const at::Tensor summed = gradient.coalesce();
  return {summed._indices().squeeze(0).contiguous(), summed._values().contiguous()};
}

}  // namespace libtrain
