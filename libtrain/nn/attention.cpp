#include "libtrain/nn/attention.hpp"

#include <cmath>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/attention.hpp"
#include "libtrain/nn/padded_attention.hpp"
#include "libtrain/nn/short_attention.hpp"

namespace libtrain {
namespace {

void check(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
           const PackedLayoutPtr& layout, const AttentionOptions& options) {
  require(layout != nullptr, "[nn.attention] layout is null; pass the batch's layout");
  require(query.dim() == 2, "[nn.attention] wrong shape: query.dim()={}, expected 2", query.dim());
  require(key.sizes() == query.sizes() && value.sizes() == query.sizes(),
          "[nn.attention] query, key and value differ in shape");
  require(key.scalar_type() == query.scalar_type() && value.scalar_type() == query.scalar_type(),
          "[nn.attention] query, key and value differ in dtype: {}, {}, {}",
          c10::toString(query.scalar_type()), c10::toString(key.scalar_type()),
          c10::toString(value.scalar_type()));
  require(query.size(0) == layout->rows(),
          "[nn.attention] rows do not match the layout: query.size(0)={}, expected {}",
          query.size(0), layout->rows());
  require(options.heads > 0 && query.size(1) > 0 && query.size(1) % options.heads == 0,
          "[nn.attention] columns do not divide into heads: query.size(1)={}, heads={}",
          query.size(1), options.heads);
  require(options.dropout >= 0.0 && options.dropout < 1.0,
          "[nn.attention] invalid option: dropout={}, expected [0, 1)", options.dropout);
  require(!options.scale || std::isfinite(*options.scale),
          "[nn.attention] invalid option: scale={}, expected a finite number",
          options.scale.value_or(0.0));
}

bool short_form_runs(const at::Tensor& query, int64_t head_dim) {
  return query.is_cpu() &&
         (query.scalar_type() == at::kFloat || query.scalar_type() == at::kBFloat16) &&
         head_dim <= kernels::kMaxHeadDim;
}

}  // namespace

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const PackedLayoutPtr& layout, const AttentionOptions& options) {
  check(query, key, value, layout, options);
  const int64_t head_dim = query.size(1) / options.heads;
  const bool can_be_short = short_form_runs(query, head_dim);
  require<Unsupported>(can_be_short || options.form != AttentionForm::kShort,
                       "[nn.attention] the short form cannot run here: device={}, dtype={}, "
                       "head_dim={}, expected the "
                       "CPU, fp32 or bf16 and at most {}; use AttentionForm::kAuto",
                       query.device().str(), c10::toString(query.scalar_type()), head_dim,
                       kernels::kMaxHeadDim);

  const double scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(head_dim)));
  const double dropout = options.training ? options.dropout : 0.0;
  if (can_be_short && options.form != AttentionForm::kPadded) {
    return short_attention(query, key, value, layout, options.heads, scale, dropout);
  }
  return padded_attention(query, key, value, *layout, options.heads, scale, dropout);
}

}  // namespace libtrain
