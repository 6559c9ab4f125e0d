#include "examples/bert/model/config.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "libtrain/core/require.hpp"
#include "libtrain/format/json_fields.hpp"

namespace bert {
namespace {

namespace format = libtrain::format;
using format::Json;
using libtrain::BadFile;
using libtrain::fill;
using libtrain::require;
using libtrain::Unsupported;

constexpr std::array<std::pair<std::string_view, Activation>, 4> kActivations{{
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
}};

/// Largest size taken from a file: products of two sizes then stay far inside 64 bits.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
/// Far more layers than any BERT has: a typing error must not fill the memory.
constexpr int64_t kMaxLayers = 1000;

/// The object's values with their ranges checked; a key that is missing or null leaves the default.
class Reader {
 public:
  Reader(const Json& json, const std::string& file) : json_(json), file_(file) {
    check(json.is_object(), "", "a JSON object");
  }

  void check(bool good, std::string_view key, std::string_view expected) const {
    if (good) {
      return;
    }
    const std::string found = key.empty() ? "the file" : json_.at(std::string(key)).dump();
    throw BadFile(fill("[bert.read_config] wrong value in {}: {}={}, expected {}",
                       libtrain::quote(file_), key, libtrain::quote(found), expected),
                  file_);
  }

  void size(std::string_view key, int64_t& value, int64_t most = kMaxSize) const {
    if (const auto found = format::find_int(json_, key, file_)) {
      check(*found >= 1 && *found <= most, key, fill("an integer in [1, {}]", most));
      value = *found;
    }
  }

  std::optional<double> probability(std::string_view key) const {
    const auto found = format::find_number(json_, key, file_);
    check(!found || (*found >= 0.0 && *found < 1.0), key, "a probability in [0, 1)");
    return found;
  }

  void positive(std::string_view key, double& value) const {
    if (const auto found = format::find_number(json_, key, file_)) {
      check(*found > 0.0 && std::isfinite(*found), key, "a number above 0");
      value = *found;
    }
  }

  /// Throws Unsupported unless the key is missing or has this value.
  void only(std::string_view key, std::string_view supported) const {
    const auto found = format::find_string(json_, key, file_);
    require<Unsupported>(!found || *found == supported,
                         "[bert.read_config] not supported in {}: {}={}, expected {}",
                         libtrain::quote(file_), key, libtrain::quote(found.value_or("")),
                         libtrain::quote(supported));
  }

  void never(std::string_view key) const {
    require<Unsupported>(!format::find_bool(json_, key, file_).value_or(false),
                         "[bert.read_config] not supported in {}: {}=true, expected false",
                         libtrain::quote(file_), key);
  }

 private:
  const Json& json_;
  const std::string& file_;
};

std::optional<int64_t> read_pad_token(const Reader& reader, const Json& json,
                                      const std::string& file, const BertConfig& config) {
  if (!json.contains("pad_token_id")) {
    return config.pad_token_id;
  }
  const auto found = format::find_int(json, "pad_token_id", file);
  reader.check(!found || (*found >= 0 && *found < config.vocab_size), "pad_token_id",
               fill("null or an integer below vocab_size={}", config.vocab_size));
  return found;
}

Activation read_activation(const Json& json, const std::string& file, Activation fallback) {
  const auto name = format::find_string(json, "hidden_act", file);
  if (!name) {
    return fallback;
  }
  for (const auto& [text, activation] : kActivations) {
    if (*name == text) {
      return activation;
    }
  }
  throw Unsupported(
      fill("[bert.read_config] unknown activation in {}: hidden_act={}, expected gelu, gelu_new, "
           "gelu_pytorch_tanh or relu",
           libtrain::quote(file), libtrain::quote(*name)));
}

void read_labels(const Reader& reader, const Json& json, int64_t& num_labels) {
  const auto names = json.find("id2label");
  if (names == json.end() || names->is_null()) {
    reader.size("num_labels", num_labels);
    return;
  }
  reader.check(names->is_object() && !names->empty(), "id2label", "an object, one entry a label");
  num_labels = static_cast<int64_t>(names->size());
}

}  // namespace

BertConfig read_config(const Json& json, const std::string& file) {
  const Reader reader(json, file);
  reader.only("model_type", "bert");
  reader.only("position_embedding_type", "absolute");
  reader.never("is_decoder");
  reader.never("add_cross_attention");

  BertConfig config;
  reader.size("vocab_size", config.vocab_size);
  reader.size("hidden_size", config.hidden_size);
  reader.size("num_hidden_layers", config.num_hidden_layers, kMaxLayers);
  reader.size("num_attention_heads", config.num_attention_heads);
  reader.size("intermediate_size", config.intermediate_size);
  reader.size("max_position_embeddings", config.max_position_embeddings);
  reader.size("type_vocab_size", config.type_vocab_size);
  reader.check(config.hidden_size % config.num_attention_heads == 0,
               json.contains("hidden_size") ? "hidden_size" : "num_attention_heads",
               fill("hidden_size={} a multiple of num_attention_heads={}", config.hidden_size,
                    config.num_attention_heads));
  config.pad_token_id = read_pad_token(reader, json, file, config);
  config.hidden_act = read_activation(json, file, config.hidden_act);
  config.hidden_dropout_prob =
      reader.probability("hidden_dropout_prob").value_or(config.hidden_dropout_prob);
  config.attention_probs_dropout_prob = reader.probability("attention_probs_dropout_prob")
                                            .value_or(config.attention_probs_dropout_prob);
  config.classifier_dropout = reader.probability("classifier_dropout");
  reader.positive("initializer_range", config.initializer_range);
  reader.positive("layer_norm_eps", config.layer_norm_eps);
  read_labels(reader, json, config.num_labels);
  reader.only("problem_type",
              config.num_labels == 1 ? "regression" : "single_label_classification");
  return config;
}

Json to_json(const BertConfig& config) {
  Json json{{"architectures", {"BertForSequenceClassification"}},
            {"model_type", "bert"},
            {"vocab_size", config.vocab_size},
            {"hidden_size", config.hidden_size},
            {"num_hidden_layers", config.num_hidden_layers},
            {"num_attention_heads", config.num_attention_heads},
            {"intermediate_size", config.intermediate_size},
            {"max_position_embeddings", config.max_position_embeddings},
            {"type_vocab_size", config.type_vocab_size},
            {"pad_token_id", nullptr},
            {"hidden_act", nullptr},
            {"hidden_dropout_prob", config.hidden_dropout_prob},
            {"attention_probs_dropout_prob", config.attention_probs_dropout_prob},
            {"classifier_dropout", nullptr},
            {"initializer_range", config.initializer_range},
            {"layer_norm_eps", config.layer_norm_eps},
            {"position_embedding_type", "absolute"},
            {"id2label", Json::object()},
            {"label2id", Json::object()}};
  if (config.pad_token_id) {
    json["pad_token_id"] = *config.pad_token_id;
  }
  if (config.classifier_dropout) {
    json["classifier_dropout"] = *config.classifier_dropout;
  }
  for (const auto& [text, activation] : kActivations) {
    if (activation == config.hidden_act && json["hidden_act"].is_null()) {
      json["hidden_act"] = text;
    }
  }
  for (int64_t label = 0; label < config.num_labels; ++label) {
    const std::string number = std::to_string(label);
    json["id2label"][number] = "LABEL_" + number;
    json["label2id"]["LABEL_" + number] = label;
  }
  return json;
}

}  // namespace bert
