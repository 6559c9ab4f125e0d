#include "libtrain/nn/attention.hpp"

#include <cmath>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/attention.hpp"
#include "libtrain/nn/kernel_function.hpp"
#include "libtrain/nn/padded_attention.hpp"
#include "libtrain/nn/short_attention.hpp"
#include "libtrain/runtime/planned_forms.hpp"

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

/// What attention() works out of its options.
struct Form {
  bool is_short = false;
  double scale = 1.0;
  double dropout = 0.0;
};

bool short_form_runs(const at::Tensor& query, int64_t head_dim) {
  return kernels_take(query) && head_dim <= kernels::kMaxHeadDim;
}

Form choose_form(const at::Tensor& query, const AttentionOptions& options) {
  const int64_t head_dim = query.size(1) / options.heads;
  const bool can_be_short = short_form_runs(query, head_dim);
  const bool planned = planned_forms().attention == AttentionKind::kShort;
  require<Unsupported>(can_be_short || options.form != AttentionForm::kShort,
                       "[nn.attention] the short form cannot run here: device={}, dtype={}, "
                       "head_dim={}, expected the "
                       "CPU, fp32 or bf16 and at most {}; use AttentionForm::kAuto",
                       query.device().str(), c10::toString(query.scalar_type()), head_dim,
                       kernels::kMaxHeadDim);
  return {.is_short = options.form == AttentionForm::kShort ||
                      (options.form == AttentionForm::kAuto && can_be_short && planned),
          .scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(head_dim))),
          .dropout = options.training ? options.dropout : 0.0};
}

at::Tensor run(const Form& form, const at::Tensor& query, const at::Tensor& key,
               const at::Tensor& value, const PackedLayoutPtr& layout, int64_t heads) {
  return form.is_short
             ? short_attention(query, key, value, layout, heads, form.scale, form.dropout)
             : padded_attention(query, key, value, *layout, heads, form.scale, form.dropout);
}

}  // namespace

at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const PackedLayoutPtr& layout, const AttentionOptions& options) {
  check(query, key, value, layout, options);
  return run(choose_form(query, options), query, key, value, layout, options.heads);
}

at::Tensor attention_qkvpacked(const at::Tensor& qkv, const PackedLayoutPtr& layout,
                               const AttentionOptions& options) {
  require(qkv.dim() == 2 && qkv.size(1) % 3 == 0,
          "[nn.attention] wrong shape: qkv {}, expected [rows, 3 * heads * head_dim]",
          c10::str(qkv.sizes()));
  const std::vector<at::Tensor> parts = qkv.chunk(3, 1);
  check(parts[0], parts[1], parts[2], layout, options);
  const Form form = choose_form(parts[0], options);
  if (form.is_short) {
    return short_attention_qkvpacked(qkv, layout, options.heads, form.scale, form.dropout);
  }
  return run(form, parts[0], parts[1], parts[2], layout, options.heads);
}

}  // namespace libtrain
