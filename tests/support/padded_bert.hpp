#pragma once

#include <ATen/core/Tensor.h>

#include "examples/bert/model/classifier.hpp"
#include "libtrain/runtime/batch.hpp"

namespace libtrain::test {

/// The logits of `model` in the classic form: samples padded to the longest, an attention mask,
/// plain ATen operators on the same parameters, no dropout. The reference for the packed form.
at::Tensor padded_logits(const bert::Classifier& model, const Batch& batch);

}  // namespace libtrain::test
