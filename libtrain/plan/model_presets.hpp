#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"

namespace libtrain {

LT_API std::span<const std::string_view> model_preset_names();

/// Facts of a well-known model in fp32, to try a plan before there is a model:
/// - "bert-base": BERT base uncased with its pooler (transformers' BertModel), texts packed, so no
///   two batches have the same shape;
/// - "resnet50": torchvision's resnet50, images of one size.
/// Nothing for any other name.
LT_API std::optional<ModelFacts> model_preset(std::string_view name);

}  // namespace libtrain
