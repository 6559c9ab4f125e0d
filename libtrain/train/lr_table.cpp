#include "libtrain/train/lr_table.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "libtrain/runtime/host_copy.hpp"

namespace libtrain {

at::Tensor LrTable::factor(const at::Tensor& applied_steps, int64_t steps) {
  if (!table_.defined() || steps >= table_.size(0)) {
    const int64_t length = std::max<int64_t>(4096, 2 * steps);
    at::Tensor host = at::empty({length}, at::kFloat);
    for (int64_t i = 0; i < length; ++i) {
      host.mutable_data_ptr<float>()[i] = static_cast<float>(libtrain::factor(schedule_, i));
    }
    table_ = to_device(host, device_);
  }
  return table_.index_select(0, applied_steps.view({1})).squeeze();
}

}  // namespace libtrain
