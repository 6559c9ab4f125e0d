#pragma once

#include <string>
#include <vector>

#include "examples/bert/model/classifier.hpp"
#include "examples/bert/model/config.hpp"
#include "libtrain/format/json.hpp"
#include "libtrain/state/tensor_file.hpp"

namespace bert {

/// A Hugging Face model folder: config.json and model.safetensors; the tokenizer's files are read
/// by format::WordPiece.
struct HfDirectory {
  std::string path;
  libtrain::format::Json config_json;
  BertConfig config;
  std::vector<std::string> labels;  ///< id2label in order of the ids; empty when the file has none

  /// Throws BadFile for a missing or malformed config.json, Unsupported for another kind of model.
  static HfDirectory read(const std::string& path);
};

/// Copies model.safetensors into the model. Names may carry the prefix "bert." or not; buffers and
/// pre-training heads are left out. What the file may lack, or hold for another number of labels,
/// keeps its initial values: pooler and classifier; their names are returned. Everything else must
/// fit, or BadFile lists every difference and nothing has changed.
std::vector<std::string> load_weights(Classifier& model, const std::string& directory);

/// Writes config.json, model.safetensors and copies of `source`'s tokenizer files into `directory`,
/// so that transformers' AutoModelForSequenceClassification and AutoTokenizer load it. Each file is
/// replaced as a whole.
void save_directory(const std::string& directory, const HfDirectory& source,
                    const Classifier& model, const std::vector<std::string>& labels);

}  // namespace bert
