#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// attention() on the CPU kernels, one call per sample and head. Arguments are checked by the
/// caller.
at::Tensor short_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                           const PackedLayoutPtr& layout, int64_t heads, double scale,
                           double dropout);

/// The same for query, key and value side by side, [rows, 3 * heads * head_dim]: one gradient.
at::Tensor short_attention_qkvpacked(const at::Tensor& qkv, const PackedLayoutPtr& layout,
                                     int64_t heads, double scale, double dropout);

}  // namespace libtrain
