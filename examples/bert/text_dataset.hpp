#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "examples/bert/options.hpp"
#include "libtrain/data/dataset.hpp"
#include "libtrain/format/tsv.hpp"
#include "libtrain/format/wordpiece.hpp"

namespace bert {

/// The label texts of a file, sorted by their bytes.
std::vector<std::string> labels_of(const std::vector<libtrain::format::TsvRow>& rows);

/// Tokenised texts with their targets; batches are packed, with token fields "input_ids" and
/// "token_type_ids" and the sample field "labels" (int64 classes, or fp32 numbers for regression).
class TextDataset final : public libtrain::Dataset {
 public:
  /// `labels` in order of the class numbers; not used for regression. Throws BadFile that names
  /// file, line and label for a label that is not among them, or is no finite number in regression.
  TextDataset(const std::vector<libtrain::format::TsvRow>& rows, const std::string& file,
              const libtrain::format::WordPiece& tokenizer, const std::vector<std::string>& labels,
              Task task, int64_t max_length);

  int64_t size() const override { return static_cast<int64_t>(targets_.size()); }
  libtrain::Batch collate(std::span<const int64_t> indices) const override;

  double target(int64_t index) const { return targets_[static_cast<size_t>(index)]; }
  int64_t tokens() const noexcept { return static_cast<int64_t>(ids_.size()); }

 private:
  Task task_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> type_ids_;
  std::vector<int64_t> starts_{0};  ///< sample i owns tokens [starts_[i], starts_[i + 1])
  std::vector<double> targets_;
};

}  // namespace bert
