#include "libtrain/plan/model_presets.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace libtrain {
namespace {

using Shape = std::vector<int64_t>;

int64_t elements(const ShapeCount& tensors) {
  return std::accumulate(tensors.shape.begin(), tensors.shape.end(), tensors.count,
                         std::multiplies<>());
}

/// Adds up the layers of a model in fp32.
class Layers {
 public:
  void parameter(Shape shape, int64_t count) { add_to(parameters_, fp32(std::move(shape), count)); }
  void gemm(int64_t out, int64_t in, int64_t count) { add_to(gemms_, fp32({out, in}, count)); }

  void linear(int64_t out, int64_t in, int64_t count) {
    parameter({out, in}, count);
    gemm(out, in, count);
  }
  void linear_with_bias(int64_t out, int64_t in, int64_t count) {
    linear(out, in, count);
    parameter({out}, count);
  }
  /// With weight and bias.
  void norm(int64_t width, int64_t count) { parameter({width}, 2 * count); }
  void convolution(int64_t out, int64_t in, int64_t kernel, int64_t count) {
    parameter({out, in, kernel, kernel}, count);
    add_to(convolutions_, fp32({out, in, kernel, kernel}, count));
  }

  ModelFacts facts() const {
    ModelFacts out;
    out.parameters = 0;
    for (const ShapeCount& tensors : parameters_) {
      *out.parameters += elements(tensors);
    }
    out.parameter_bytes = *out.parameters * static_cast<int64_t>(sizeof(float));
    out.trainable = out.parameters;
    out.parameter_shapes = parameters_;
    out.gemms = gemms_;
    out.convolutions = convolutions_;
    out.has_convolutions = !convolutions_.empty();
    return out;
  }

 private:
  static ShapeCount fp32(Shape shape, int64_t count) {
    return {"float32", std::move(shape), count};
  }

  std::vector<ShapeCount> parameters_;
  std::vector<ShapeCount> gemms_;
  std::vector<ShapeCount> convolutions_;
};

ModelFacts with_attention(const Layers& layers, bool static_shapes) {
  ModelFacts out = layers.facts();
  out.has_attention = true;
  out.static_shapes = static_shapes;
  return out;
}

ModelFacts bert(int64_t width, int64_t depth) {
  Layers layers;
  for (const int64_t rows : {30522, 512, 2}) {  // words, positions, segments
    layers.parameter({rows, width}, 1);
  }
  layers.norm(width, 1 + 2 * depth);
  layers.linear_with_bias(width, width, 4 * depth + 1);  // attention, and the pooler
  layers.linear_with_bias(4 * width, width, depth);
  layers.linear_with_bias(width, 4 * width, depth);
  return with_attention(layers, false);
}
ModelFacts bert_base() { return bert(768, 12); }
ModelFacts bert_large() { return bert(1024, 24); }

ModelFacts gpt2() {
  constexpr int64_t kWidth = 768;
  constexpr int64_t kDepth = 12;
  constexpr int64_t kWords = 50257;
  Layers layers;
  layers.parameter({kWords, kWidth}, 1);
  layers.parameter({1024, kWidth}, 1);
  layers.norm(kWidth, 1 + 2 * kDepth);
  constexpr std::array<std::pair<int64_t, int64_t>, 4> kOutIn{
      {{3 * kWidth, kWidth}, {kWidth, kWidth}, {4 * kWidth, kWidth}, {kWidth, 4 * kWidth}}};
  for (const auto& [out, in] : kOutIn) {
    layers.parameter({in, out}, kDepth);  // stored the other way round
    layers.parameter({out}, kDepth);
    layers.gemm(out, in, kDepth);
  }
  layers.gemm(kWords, kWidth, 1);  // the head shares the embedding
  return with_attention(layers, true);
}

ModelFacts llama_8b() {
  constexpr int64_t kWidth = 4096;
  constexpr int64_t kDepth = 32;
  constexpr int64_t kWords = 128256;
  constexpr int64_t kInner = 14336;
  constexpr int64_t kKeys = 1024;
  Layers layers;
  layers.parameter({kWords, kWidth}, 1);
  layers.linear(kWidth, kWidth, 2 * kDepth);
  layers.linear(kKeys, kWidth, 2 * kDepth);
  layers.linear(kInner, kWidth, 2 * kDepth);
  layers.linear(kWidth, kInner, kDepth);
  layers.parameter({kWidth}, 1 + 2 * kDepth);  // norms without bias
  layers.linear(kWords, kWidth, 1);
  return with_attention(layers, true);
}

ModelFacts resnet50() {
  Layers layers;
  const auto convolution = [&](int64_t out, int64_t in, int64_t kernel, int64_t count) {
    layers.convolution(out, in, kernel, count);
    layers.norm(out, count);
  };
  convolution(64, 3, 7, 1);
  int64_t in = 64;
  constexpr std::array<std::pair<int64_t, int64_t>, 4> kStages{
      {{64, 3}, {128, 4}, {256, 6}, {512, 3}}};  // width, blocks
  for (const auto& [width, blocks] : kStages) {
    const int64_t out = 4 * width;
    convolution(width, in, 1, 1);
    convolution(width, out, 1, blocks - 1);
    convolution(width, width, 3, blocks);
    convolution(out, width, 1, blocks);
    convolution(out, in, 1, 1);  // past the first block
    in = out;
  }
  layers.linear_with_bias(1000, in, 1);
  ModelFacts out = layers.facts();
  out.has_attention = false;
  out.static_shapes = true;
  return out;
}

using Preset = std::pair<std::string_view, ModelFacts (*)()>;
constexpr std::array<Preset, 5> kPresets{{
    {"bert-base", bert_base},
    {"bert-large", bert_large},
    {"resnet50", resnet50},
    {"gpt2", gpt2},
    {"llama-8b", llama_8b},
}};

}  // namespace

std::vector<std::string_view> model_preset_names() {
  std::vector<std::string_view> names;
  std::ranges::transform(kPresets, std::back_inserter(names), &Preset::first);
  return names;
}

std::optional<ModelFacts> model_preset(std::string_view name) {
  const auto* found = std::ranges::find(kPresets, name, &Preset::first);
  if (found == kPresets.end()) {
    return std::nullopt;
  }
  ModelFacts facts = found->second();
  facts.name = std::string(name);
  return facts;
}

}  // namespace libtrain
