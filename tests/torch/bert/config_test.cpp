#include "examples/bert/model/config.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/error.hpp"

namespace bert {
namespace {

using libtrain::format::Json;
using libtrain::format::parse_json;

BertConfig read(const std::string& text) {
  return read_config(parse_json(text, "config.json"), "config.json");
}

template <class E>
std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST(BertConfig, AnEmptyFileGivesTheDefaultsOfTransformers) {
  const BertConfig config = read("{}");
  EXPECT_EQ(config.vocab_size, 30522);
  EXPECT_EQ(config.hidden_size, 768);
  EXPECT_EQ(config.num_labels, 2);
  EXPECT_EQ(config.pad_token_id, 0);
  EXPECT_FALSE(config.classifier_dropout);
}

TEST(BertConfig, ReadsTheFileOfMiniLM) {
  const BertConfig config = read(R"({"_name_or_path": "nreimers/MiniLM-L6-H384-uncased",
    "architectures": ["BertModel"], "attention_probs_dropout_prob": 0.1, "gradient_checkpointing": false,
    "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 384, "initializer_range": 0.02,
    "intermediate_size": 1536, "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
    "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 6, "pad_token_id": 0,
    "position_embedding_type": "absolute", "transformers_version": "4.8.2", "type_vocab_size": 2,
    "use_cache": true, "vocab_size": 30522})");
  EXPECT_EQ(config.hidden_size, 384);
  EXPECT_EQ(config.num_hidden_layers, 6);
  EXPECT_EQ(config.intermediate_size, 1536);
}

TEST(BertConfig, WrittenConfigReadsBackTheSame) {
  const Json written = to_json({.vocab_size = 48,
                                .hidden_size = 16,
                                .num_hidden_layers = 2,
                                .num_attention_heads = 2,
                                .intermediate_size = 40,
                                .max_position_embeddings = 12,
                                .type_vocab_size = 3,
                                .pad_token_id = {},
                                .hidden_act = Activation::kGeluTanh,
                                .hidden_dropout_prob = 0.25,
                                .attention_probs_dropout_prob = 0.0,
                                .classifier_dropout = 0.5,
                                .initializer_range = 0.4,
                                .layer_norm_eps = 1e-5,
                                .num_labels = 45});
  const Json again = to_json(read(written.dump()));
  EXPECT_EQ(written, again);
  EXPECT_EQ(again["id2label"].size(), 45U);
  EXPECT_TRUE(again["pad_token_id"].is_null());
  EXPECT_EQ(again["hidden_act"], "gelu_new");
}

TEST(BertConfig, LabelsAreCountedByTheirNames) {
  EXPECT_EQ(read(R"({"id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 7})").num_labels, 3);
  EXPECT_EQ(read(R"({"num_labels": 7})").num_labels, 7);
}

class BadValue : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    All, BadValue,
    testing::Values(std::pair{R"({"hidden_size": "384"})", "hidden_size"},
                    std::pair{R"({"hidden_size": 384.5})", "hidden_size"},
                    std::pair{R"({"hidden_size": 0})", "hidden_size"},
                    std::pair{R"({"hidden_size": -8})", "hidden_size"},
                    std::pair{R"({"hidden_size": 10})", "num_attention_heads=12"},
                    std::pair{R"({"num_attention_heads": 5})", "num_attention_heads"},
                    std::pair{R"({"vocab_size": 99999999999999999999})", "99999999999999999999"},
                    std::pair{R"({"vocab_size": 4294967296})", "vocab_size"},
                    std::pair{R"({"num_hidden_layers": 2000000000})", "num_hidden_layers"},
                    std::pair{R"({"pad_token_id": 30522})", "pad_token_id"},
                    std::pair{R"({"pad_token_id": -1})", "pad_token_id"},
                    std::pair{R"({"hidden_dropout_prob": 1})", "hidden_dropout_prob"},
                    std::pair{R"({"attention_probs_dropout_prob": -0.1})", "attention_probs"},
                    std::pair{R"({"classifier_dropout": true})", "classifier_dropout"},
                    std::pair{R"({"layer_norm_eps": 0})", "layer_norm_eps"},
                    std::pair{R"({"initializer_range": -1})", "initializer_range"},
                    std::pair{R"({"hidden_act": 3})", "hidden_act"},
                    std::pair{R"({"id2label": {}})", "id2label"},
                    std::pair{R"({"id2label": ["a"]})", "id2label"},
                    std::pair{R"({"num_labels": 0})", "num_labels"},
                    std::pair{R"({"model_type": 3})", "model_type"},
                    std::pair{R"({"is_decoder": "no"})", "is_decoder"},
                    std::pair{R"([])", "object"}));

TEST_P(BadValue, IsRefusedByName) {
  const std::string message = refusal<libtrain::BadFile>(GetParam().first);
  EXPECT_NE(message.find(GetParam().second), std::string::npos) << message;
  EXPECT_NE(message.find("config.json"), std::string::npos) << message;
}

class OtherModel : public testing::TestWithParam<std::pair<const char*, const char*>> {};
INSTANTIATE_TEST_SUITE_P(
    All, OtherModel,
    testing::Values(std::pair{R"({"model_type": "roberta"})", "\"roberta\""},
                    std::pair{R"({"position_embedding_type": "relative_key"})", "relative_key"},
                    std::pair{R"({"is_decoder": true})", "is_decoder"},
                    std::pair{R"({"add_cross_attention": true})", "add_cross_attention"},
                    std::pair{R"({"hidden_act": "silu"})", "hidden_act=\"silu\""},
                    std::pair{R"({"problem_type": "multi_label_classification"})", "multi_label"},
                    std::pair{R"({"problem_type": "regression"})", "regression"}));

TEST_P(OtherModel, IsUnsupported) {
  const std::string message = refusal<libtrain::Unsupported>(GetParam().first);
  EXPECT_NE(message.find(GetParam().second), std::string::npos) << message;
}

}  // namespace
}  // namespace bert
