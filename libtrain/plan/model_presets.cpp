#include "libtrain/plan/model_presets.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace libtrain {
namespace {

constexpr std::string_view kBertBase = "bert-base";
constexpr std::string_view kResnet50 = "resnet50";
constexpr std::array kNames{kBertBase, kResnet50};

ModelFacts in_fp32(std::string_view name, int64_t parameters) {
  ModelFacts facts;
  facts.name = std::string(name);
  facts.parameters = parameters;
  facts.parameter_bytes = parameters * static_cast<int64_t>(sizeof(float));
  facts.trainable = parameters;
  return facts;
}

ModelFacts bert_base() {
  ModelFacts facts = in_fp32(kBertBase, 109'482'240);
  facts.has_convolutions = false;
  facts.has_attention = true;
  facts.static_shapes = false;
  return facts;
}

ModelFacts resnet50() {
  ModelFacts facts = in_fp32(kResnet50, 25'557'032);
  facts.has_convolutions = true;
  facts.has_attention = false;
  facts.static_shapes = true;
  return facts;
}

}  // namespace

std::span<const std::string_view> model_preset_names() { return kNames; }

std::optional<ModelFacts> model_preset(std::string_view name) {
  if (name == kBertBase) {
    return bert_base();
  }
  if (name == kResnet50) {
    return resnet50();
  }
  return std::nullopt;
}

}  // namespace libtrain
