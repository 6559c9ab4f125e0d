#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"
#include "libtrain/runtime/packed.hpp"

namespace libtrain {

/// How attention() computes; the result is the same up to rounding and the random numbers of
/// dropout.
enum class AttentionForm {
  kAuto,   ///< kShort where it can and the plan says `short`, else kPadded
  kShort,  ///< own kernel, sample by sample: CPU, fp32 or bf16, head_dim up to kernels::kMaxHeadDim
  kPadded,  ///< samples padded to the longest, then at::scaled_dot_product_attention: any device,
            ///< dtype
};

struct AttentionOptions {
  int64_t heads = 1;
  std::optional<double> scale = {};  ///< of the logits; 1 / sqrt(head_dim) when empty
  double dropout = 0.0;  ///< probability in [0, 1) for the attention weights, while training
  bool training = false;
  AttentionForm form = AttentionForm::kAuto;
};

/// softmax(scale * Q K^T) V within each sample of a packed batch: every row attends to all rows of
/// its own sample and to no other. `query`, `key`, `value` and the result are
/// [layout->rows(), heads * head_dim], of one dtype, which is also the result's, autocast or not;
/// column slices of one tensor are read in place. Sums and softmax are fp32 for 16-bit inputs.
///
/// Dropout in the short form is counter-based (docs/random.md): element
/// (head * length + query) * length + key of the sample. The padded form draws from ATen's
/// generator.
///
/// Throws InvalidOption for shapes, dtypes or options that do not fit, Unsupported when kShort is
/// asked where it cannot run, and Unsupported from a backward with create_graph in the short form.
LT_API at::Tensor attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            const PackedLayoutPtr& layout, const AttentionOptions& options);

/// attention() on query, key and value side by side, as joined_linear() gives them:
/// [layout->rows(), 3 * heads * head_dim] -> [layout->rows(), heads * head_dim].
LT_API at::Tensor attention_qkvpacked(const at::Tensor& qkv, const PackedLayoutPtr& layout,
                                      const AttentionOptions& options);

}  // namespace libtrain
