#include "libtrain/facts/shape_count.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"
#include "libtrain/facts/machine.hpp"

namespace libtrain {
namespace {

TEST(ShapeCount, IsOneItemOfAList) {
  ModelFacts facts;
  facts.parameter_shapes = {{"float32", {3072, 768}, 12}, {"bfloat16", {}, 1}};
  const std::string text =
      "libtrain-facts 1\nmodel.parameter_shapes = [float32 3072x768 x12, bfloat16 scalar x1]\n";
  EXPECT_EQ(format_model_facts(facts), text);
  EXPECT_EQ(parse_model_facts(text, "x"), facts);
}

TEST(ShapeCount, WhatIsNoneIsRefused) {
  for (const std::string item :
       {"float32 3072x768", "3072x768 x12", "float32 3072xx768 x12", "float32 -1 x12",
        "float32 3072x768 12", "float32 3072x768 x0", "Float 1 x1", "float32  1 x1",
        "float32 1x99999999999999999999 x1"}) {
    const std::string text = "libtrain-facts 1\nmodel.gemms = [" + item + "]\n";
    EXPECT_THROW(parse_model_facts(text, "x"), BadFile) << item;
  }
}

}  // namespace
}  // namespace libtrain
