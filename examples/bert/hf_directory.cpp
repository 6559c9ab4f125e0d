#include "examples/bert/hf_directory.hpp"

#include <filesystem>
#include <string_view>

#include "libtrain/core/error.hpp"
#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/format/json_fields.hpp"
#include "libtrain/state/module_state.hpp"

namespace bert {
namespace {

using libtrain::fill;
using libtrain::quote;
using libtrain::TensorMap;
using libtrain::format::Json;

constexpr std::string_view kTokenizerFiles[] = {"tokenizer.json", "tokenizer_config.json",
                                                "special_tokens_map.json", "vocab.txt"};

/// id2label as a list; ids must be 0 .. n-1.
std::vector<std::string> read_labels(const Json& config, const std::string& file) {
  const auto found = config.find("id2label");
  if (found == config.end() || found->is_null()) {
    return {};
  }
  std::vector<std::string> labels(found->size());
  for (const auto& [key, value] : found->items()) {
    const auto id = libtrain::parse_integer(key);
    if (!id || *id < 0 || *id >= static_cast<int64_t>(labels.size()) || !value.is_string()) {
      throw libtrain::BadFile(
          fill("[bert.labels] id2label has {}: {}, expected text for each id from 0 "
               "to {}; mend {}",
               quote(key), quote(value.dump()), labels.size() - 1, quote(file, 400)),
          file);
    }
    labels[static_cast<size_t>(*id)] = value.get<std::string>();
  }
  return labels;
}

/// A file's name for a tensor as this model spells it; empty for what the model has no use for.
std::string own_name(std::string name) {
  if (name.ends_with("position_ids") || name.starts_with("cls.")) {
    return {};
  }
  for (const auto& [old_end, end] :
       {std::pair<std::string_view, std::string_view>{".gamma", ".weight"}, {".beta", ".bias"}}) {
    if (name.ends_with(old_end)) {  // checkpoints converted from TensorFlow
      name.replace(name.size() - old_end.size(), old_end.size(), end);
    }
  }
  return name.starts_with("bert.") || name.starts_with("classifier.") ? name : "bert." + name;
}

bool may_be_new(std::string_view name) {
  return name.starts_with("classifier.") || name.starts_with("bert.pooler.");
}

}  // namespace

HfDirectory HfDirectory::read(const std::string& path) {
  const std::string file = path + "/config.json";
  HfDirectory directory{.path = path,
                        .config_json = libtrain::format::parse_json(
                            libtrain::read_file(file, int64_t{16} << 20), file),
                        .config = {},
                        .labels = {}};
  directory.config = read_config(directory.config_json, file);
  directory.labels = read_labels(directory.config_json, file);
  return directory;
}

std::vector<std::string> load_weights(Classifier& model, const std::string& directory) {
  const std::string file = directory + "/model.safetensors";
  TensorMap given;
  for (auto& [name, tensor] : libtrain::load_file(file)) {
    if (std::string own = own_name(name); !own.empty()) {
      given.emplace(std::move(own), tensor);
    }
  }
  std::vector<std::string> fresh;
  for (const auto& [name, tensor] : libtrain::state_dict(*model)) {
    const auto found = given.find(name);
    const bool fits = found != given.end() && found->second.sizes() == tensor.sizes();
    if (!fits && may_be_new(name)) {
      given.insert_or_assign(name, tensor);
      fresh.push_back(name);
    }
  }
  libtrain::load_state_dict(*model, given, file);
  return fresh;
}

void save_directory(const std::string& directory, const HfDirectory& source,
                    const Classifier& model, const std::vector<std::string>& labels) {
  Json config = source.config_json;
  config.update(to_json(model->config()));
  config["architectures"] = {"BertForSequenceClassification"};
  config["problem_type"] =
      model->config().num_labels == 1 ? "regression" : "single_label_classification";
  Json id2label = Json::object();
  Json label2id = Json::object();
  for (size_t id = 0; id < labels.size(); ++id) {
    id2label[std::to_string(id)] = labels[id];
    label2id[labels[id]] = id;
  }
  config["id2label"] = id2label;
  config["label2id"] = label2id;

  libtrain::save_file(libtrain::state_dict(*model), directory + "/model.safetensors",
                      {{"format", "pt"}});
  for (const std::string_view name : kTokenizerFiles) {
    const std::string from = fill("{}/{}", source.path, name);
    if (std::filesystem::exists(from)) {
      libtrain::write_file_atomically(fill("{}/{}", directory, name), libtrain::read_file(from));
    }
  }
  libtrain::write_file_atomically(directory + "/config.json", config.dump(2) + "\n");
}

}  // namespace bert
