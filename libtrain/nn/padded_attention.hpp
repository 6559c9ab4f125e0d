#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// attention() by padding and at::scaled_dot_product_attention. Arguments are checked by the
/// caller. Row numbers and mask are made on the host and copied at each call.
at::Tensor padded_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const PackedLayout& layout, int64_t heads, double scale,
                            double dropout);

}  // namespace libtrain
