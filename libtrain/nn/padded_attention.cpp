#include "libtrain/nn/padded_attention.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "libtrain/runtime/host_copy.hpp"

namespace libtrain {
namespace {

/// Row of the padded batch that each packed row goes to: int64 [rows].
at::Tensor padded_rows(const PackedLayout& layout) {
  at::Tensor rows = at::empty({layout.rows()}, at::kLong);
  auto* out = rows.mutable_data_ptr<int64_t>();
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    for (int64_t t = 0; t < layout.length(sample); ++t) {
      *out++ = sample * layout.longest() + t;
    }
  }
  return rows;
}

/// Which keys count: bool [samples, 1, 1, longest]. An empty sample has none, and nobody reads what
/// its rows come out as.
at::Tensor key_mask(const PackedLayout& layout, at::Device device) {
  at::Tensor lengths = at::empty({layout.samples(), 1, 1, 1}, at::kLong);
  auto* out = lengths.mutable_data_ptr<int64_t>();
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    *out++ = layout.length(sample);
  }
  return at::arange(layout.longest(), lengths.options().device(device))
      .lt(to_device(lengths, device));
}

}  // namespace

at::Tensor padded_attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const PackedLayout& layout, int64_t heads, double scale,
                            double dropout) {
  if (layout.rows() == 0) {
    return query.add(key).add(value);  // nothing to compute, but still a function of all three
  }
  const c10::impl::ExcludeDispatchKeyGuard keep_dtypes(c10::autocast_dispatch_keyset);
  const at::Tensor rows = to_device(padded_rows(layout), query.device());
  const auto pad = [&](const at::Tensor& packed) {
    return at::zeros({layout.samples() * layout.longest(), packed.size(1)}, packed.options())
        .index_copy(0, rows, packed)
        .view({layout.samples(), layout.longest(), heads, -1})
        .transpose(1, 2);
  };
  return at::scaled_dot_product_attention(pad(query), pad(key), pad(value),
                                          key_mask(layout, query.device()), dropout,
                                          /*is_causal=*/false, scale)
      .transpose(1, 2)
      .reshape({layout.samples() * layout.longest(), query.size(1)})
      .index_select(0, rows);
}

}  // namespace libtrain
