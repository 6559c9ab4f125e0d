#include "examples/bert/model/config.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "libtrain/core/require.hpp"

namespace bert {
namespace {

using libtrain::BadFile;
using libtrain::Unsupported;
using libtrain::format::Json;

constexpr std::array<std::pair<std::string_view, Activation>, 4> kActivations{{
    {"gelu", Activation::kGelu},
    {"gelu_new", Activation::kGeluTanh},
    {"gelu_pytorch_tanh", Activation::kGeluTanh},
    {"relu", Activation::kRelu},
}};

/// Largest size taken from a file: products of two sizes then stay far inside 64 bits.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

class Reader {
 public:
  Reader(const Json& json, std::string file) : json_(json), file_(std::move(file)) {
    if (!json.is_object()) {
      throw BadFile(
          libtrain::fill("[bert.read_config] {} is not a JSON object", libtrain::quoted(file_)),
          file_);
    }
  }

  /// Null when the key is missing or null.
  const Json* find(std::string_view key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  void check(bool good, std::string_view key, std::string_view expected) const {
    if (!good) {
      throw BadFile(libtrain::fill("[bert.read_config] wrong value in {}: {}={}, expected {}",
                                   libtrain::quoted(file_), key,
                                   libtrain::quoted(json_.at(std::string(key)).dump()), expected),
                    file_);
    }
  }

  void size(std::string_view key, int64_t& value) const {
    if (const Json* entry = find(key)) {
      value = integer(*entry, key, 1, kMaxSize);
    }
  }

  int64_t integer(const Json& entry, std::string_view key, int64_t least, int64_t most) const {
    const bool fits = entry.is_number_integer() &&
                      (!entry.is_number_unsigned() || entry.get<uint64_t>() <= uint64_t{1} << 62) &&
                      entry.get<int64_t>() >= least && entry.get<int64_t>() <= most;
    check(fits, key, libtrain::fill("an integer in [{}, {}]", least, most));
    return entry.get<int64_t>();
  }

  double number(const Json& entry, std::string_view key) const {
    check(entry.is_number() && std::isfinite(entry.get<double>()), key, "a finite number");
    return entry.get<double>();
  }

  double probability(const Json& entry, std::string_view key) const {
    const double value = number(entry, key);
    check(value >= 0.0 && value < 1.0, key, "a probability in [0, 1)");
    return value;
  }

  std::optional<std::string> text(std::string_view key) const {
    const Json* entry = find(key);
    if (entry == nullptr) {
      return std::nullopt;
    }
    check(entry->is_string(), key, "a string");
    return entry->get<std::string>();
  }

  /// Throws Unsupported unless the key is missing or has this value.
  void only(std::string_view key, std::string_view supported) const {
    const auto value = text(key);
    libtrain::require<Unsupported>(
        !value || *value == supported, "[bert.read_config] {} is not supported: {}={}, expected {}",
        libtrain::quoted(file_), key, libtrain::quoted(value.value_or("")),
        libtrain::quoted(supported));
  }

  bool flag(std::string_view key) const {
    const Json* entry = find(key);
    check(entry == nullptr || entry->is_boolean(), key, "true or false");
    return entry != nullptr && entry->get<bool>();
  }

 private:
  const Json& json_;
  std::string file_;
};

Activation read_activation(const Reader& reader, Activation fallback) {
  const auto name = reader.text("hidden_act");
  if (!name) {
    return fallback;
  }
  for (const auto& [text, activation] : kActivations) {
    if (*name == text) {
      return activation;
    }
  }
  throw Unsupported(libtrain::fill(
      "[bert.read_config] unknown activation: hidden_act={}, expected gelu, gelu_new, "
      "gelu_pytorch_tanh or relu",
      libtrain::quoted(*name)));
}

int64_t read_num_labels(const Reader& reader, int64_t fallback) {
  if (const Json* names = reader.find("id2label")) {
    reader.check(names->is_object() && !names->empty(), "id2label",
                 "an object with an entry a label");
    return static_cast<int64_t>(names->size());
  }
  reader.size("num_labels", fallback);
  return fallback;
}

void refuse_other_models(const Reader& reader, const BertConfig& config) {
  reader.only("model_type", "bert");
  reader.only("position_embedding_type", "absolute");
  for (const std::string_view key : {"is_decoder", "add_cross_attention"}) {
    libtrain::require<Unsupported>(!reader.flag(key),
                                   "[bert.read_config] decoders are not supported: {}=true", key);
  }
  reader.only("problem_type",
              config.num_labels == 1 ? "regression" : "single_label_classification");
}

}  // namespace

BertConfig read_config(const Json& json, const std::string& file) {
  const Reader reader(json, file);
  BertConfig config;
  reader.size("vocab_size", config.vocab_size);
  reader.size("hidden_size", config.hidden_size);
  reader.size("num_hidden_layers", config.num_hidden_layers);
  reader.size("num_attention_heads", config.num_attention_heads);
  reader.size("intermediate_size", config.intermediate_size);
  reader.size("max_position_embeddings", config.max_position_embeddings);
  reader.size("type_vocab_size", config.type_vocab_size);
  reader.check(config.hidden_size % config.num_attention_heads == 0, "hidden_size",
               libtrain::fill("a multiple of num_attention_heads={}", config.num_attention_heads));
  if (json.contains("pad_token_id")) {
    const Json* entry = reader.find("pad_token_id");
    config.pad_token_id.reset();
    if (entry != nullptr) {
      config.pad_token_id = reader.integer(*entry, "pad_token_id", 0, config.vocab_size - 1);
    }
  }
  config.hidden_act = read_activation(reader, config.hidden_act);
  if (const Json* entry = reader.find("hidden_dropout_prob")) {
    config.hidden_dropout_prob = reader.probability(*entry, "hidden_dropout_prob");
  }
  if (const Json* entry = reader.find("attention_probs_dropout_prob")) {
    config.attention_probs_dropout_prob =
        reader.probability(*entry, "attention_probs_dropout_prob");
  }
  if (const Json* entry = reader.find("classifier_dropout")) {
    config.classifier_dropout = reader.probability(*entry, "classifier_dropout");
  }
  if (const Json* entry = reader.find("initializer_range")) {
    config.initializer_range = reader.number(*entry, "initializer_range");
    reader.check(config.initializer_range >= 0.0, "initializer_range", "at least 0");
  }
  if (const Json* entry = reader.find("layer_norm_eps")) {
    config.layer_norm_eps = reader.number(*entry, "layer_norm_eps");
    reader.check(config.layer_norm_eps > 0.0, "layer_norm_eps", "more than 0");
  }
  config.num_labels = read_num_labels(reader, config.num_labels);
  refuse_other_models(reader, config);
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
