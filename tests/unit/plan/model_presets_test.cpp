#include "libtrain/plan/model_presets.hpp"

#include <gtest/gtest.h>

#include "libtrain/facts/machine.hpp"

namespace libtrain {
namespace {

int64_t elements(const std::vector<ShapeCount>& tensors) {
  int64_t sum = 0;
  for (const ShapeCount& tensor : tensors) {
    int64_t product = tensor.count;
    for (const int64_t size : tensor.shape) {
      product *= size;
    }
    sum += product;
  }
  return sum;
}

/// Parameters as transformers 4.57 and torchvision count them.
TEST(ModelPresets, HoldEveryParameter) {
  const std::vector<std::pair<std::string, int64_t>> table{{"bert-base", 109'482'240},
                                                           {"bert-large", 335'141'888},
                                                           {"resnet50", 25'557'032},
                                                           {"gpt2", 124'439'808},
                                                           {"llama-8b", 8'030'261'248}};
  ASSERT_EQ(model_preset_names().size(), table.size());
  for (const auto& [name, parameters] : table) {
    const ModelFacts facts = *model_preset(name);
    EXPECT_EQ(facts.name, name);
    EXPECT_EQ(facts.parameters, parameters) << name;
    EXPECT_EQ(facts.parameter_bytes, 4 * parameters);
    EXPECT_EQ(elements(*facts.parameter_shapes), parameters);
    EXPECT_EQ(parse_model_facts(format_model_facts(facts), "x"), facts);
  }
}

TEST(ModelPresets, CountTheMultiplicationsOfAForwardPass) {
  EXPECT_EQ(elements(*model_preset("bert-base")->gemms), 12 * 12 * 768 * 768 + 768 * 768);
  EXPECT_EQ(elements(*model_preset("gpt2")->gemms), 12 * 12 * 768 * 768 + 50257 * 768)
      << "the head multiplies by the embedding it shares";
  EXPECT_EQ(elements(*model_preset("llama-8b")->gemms), 8'030'261'248 - 128256 * 4096 - 65 * 4096);
  const ModelFacts resnet = model_preset("resnet50").value();
  EXPECT_EQ(elements(resnet.convolutions.value()), 25'557'032 - 53'120 - 2'049'000);
  EXPECT_EQ(resnet.gemms.value(), (std::vector<ShapeCount>{{"float32", {1000, 2048}, 1}}));
  EXPECT_EQ(resnet.convolutions.value().front(), (ShapeCount{"float32", {64, 3, 7, 7}, 1}));
  EXPECT_TRUE(model_preset("bert-base")->convolutions->empty());
}

TEST(ModelPresets, AreNothingForOtherNames) { EXPECT_EQ(model_preset("bert"), std::nullopt); }

}  // namespace
}  // namespace libtrain
