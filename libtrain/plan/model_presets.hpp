#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/model.hpp"

namespace libtrain {

LT_API std::vector<std::string_view> model_preset_names();

/// Facts of a well-known model in fp32, to try a plan before there is a model:
/// - "bert-base", "bert-large": BERT uncased with its pooler (transformers' BertModel), texts
///   packed, so no two batches have the same shape;
/// - "resnet50": torchvision's resnet50, images of one size;
/// - "gpt2": the smallest GPT-2 (transformers' GPT2LMHeadModel), "llama-8b": Llama 3 8B
///   (transformers' LlamaForCausalLM), texts in blocks of one length.
/// Nothing for any other name.
LT_API std::optional<ModelFacts> model_preset(std::string_view name);

}  // namespace libtrain
