#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libtrain/format/json.hpp"

namespace bert {

enum class Activation {
  kGelu,      ///< x * Phi(x), by the error function
  kGeluTanh,  ///< its tanh approximation ("gelu_new", "gelu_pytorch_tanh")
  kRelu,
};

/// The keys of a Hugging Face config.json that a BERT encoder with a classifier depends on, under
/// their names there and with the defaults of transformers.BertConfig.
struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  int64_t max_position_embeddings = 512;
  int64_t type_vocab_size = 2;
  std::optional<int64_t> pad_token_id = 0;
  Activation hidden_act = Activation::kGelu;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout;  ///< hidden_dropout_prob when empty
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  int64_t num_labels = 2;  ///< 1: regression; in the file the size of id2label, else num_labels
};

/// Reads a parsed config.json; `file` stands in messages. A missing key keeps its default, unknown
/// keys are ignored. Throws BadFile that names the key for a value of the wrong type or out of
/// range, and Unsupported for another model_type, decoders, relative positions, an unknown
/// activation and multi-label heads.
BertConfig read_config(const libtrain::format::Json& json, const std::string& file);

/// The config.json of this model, as transformers writes it: read_config() gives the same values.
libtrain::format::Json to_json(const BertConfig& config);

}  // namespace bert
