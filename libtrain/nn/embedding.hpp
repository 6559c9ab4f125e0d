#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// Rows `ids` of `weight`: [vocabulary, width] and int64 [n] -> [n, width]. Rows equal to
/// `padding_idx` get no gradient.
///
/// A vocabulary's gradient is large and a batch touches few of its rows. When backward()
/// accumulates into a dense weight.grad that is already there, as with an optimizer that zeroes
/// gradients in place, only the touched rows are added; where the reader takes rows
/// (GradientForms), as in Trainer::step with AdamW, the gradient is a sparse tensor of them (both:
/// CPU, fp32 leaf; a hook on the weight sees a sparse tensor). In all other cases this is
/// at::embedding and its dense gradient.
///
/// Throws InvalidOption for ids that are not int64 [n]; c10::IndexError for one out of range.
LT_API at::Tensor embedding(const at::Tensor& weight, const at::Tensor& ids,
                            std::optional<int64_t> padding_idx = {});

}  // namespace libtrain
