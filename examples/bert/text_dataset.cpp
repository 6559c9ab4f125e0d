#include "examples/bert/text_dataset.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "libtrain/core/error.hpp"
#include "libtrain/core/text.hpp"

namespace bert {

using libtrain::fill;
using libtrain::quote;
using libtrain::format::TsvRow;

namespace {

[[noreturn]] void refuse_label(const TsvRow& row, size_t line, const std::string& file,
                               std::string_view expected) {
  throw libtrain::BadFile(
      fill("[data.label] line {} of {} has label {}, expected {}; mend the line or "
           "the training file",
           line, quote(file, 400), quote(row.label), expected),
      file);
}

}  // namespace

std::vector<std::string> labels_of(const std::vector<TsvRow>& rows) {
  std::set<std::string> labels;
  for (const TsvRow& row : rows) {
    labels.insert(row.label);
  }
  return {labels.begin(), labels.end()};
}

TextDataset::TextDataset(const std::vector<TsvRow>& rows, const std::string& file,
                         const libtrain::format::WordPiece& tokenizer,
                         const std::vector<std::string>& labels, Task task, int64_t max_length)
    : task_(task) {
  std::unordered_map<std::string_view, int64_t> classes;
  for (const std::string& label : labels) {
    classes.emplace(label, static_cast<int64_t>(classes.size()));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const TsvRow& row = rows[i];
    if (task == Task::kRegression) {
      const auto number = libtrain::parse_number(row.label);
      if (!number || !std::isfinite(*number)) {
        refuse_label(row, i + 1, file, "a finite number");
      }
      targets_.push_back(*number);
    } else {
      const auto found = classes.find(row.label);
      if (found == classes.end()) {
        refuse_label(row, i + 1, file,
                     fill("one of the {} labels of the training file", labels.size()));
      }
      targets_.push_back(static_cast<double>(found->second));
    }
    const auto encoding = row.second ? tokenizer.encode(row.text, *row.second, max_length)
                                     : tokenizer.encode(row.text, max_length);
    ids_.insert(ids_.end(), encoding.ids.begin(), encoding.ids.end());
    type_ids_.insert(type_ids_.end(), encoding.type_ids.begin(), encoding.type_ids.end());
    starts_.push_back(static_cast<int64_t>(ids_.size()));
  }
}

libtrain::Batch TextDataset::collate(std::span<const int64_t> indices) const {
  const auto count = static_cast<int64_t>(indices.size());
  std::vector<int64_t> lengths;
  lengths.reserve(indices.size());
  for (const int64_t index : indices) {
    const auto i = static_cast<size_t>(index);
    lengths.push_back(starts_[i + 1] - starts_[i]);
  }
  libtrain::PackedLayout layout(lengths);
  const at::Tensor ids = at::empty({layout.rows()}, at::kLong);
  const at::Tensor type_ids = at::empty({layout.rows()}, at::kLong);
  const at::Tensor labels = at::empty({count}, task_ == Task::kRegression ? at::kFloat : at::kLong);
  for (int64_t i = 0; i < count; ++i) {
    const auto start = starts_[static_cast<size_t>(indices[static_cast<size_t>(i)])];
    std::copy_n(ids_.begin() + start, layout.length(i),
                ids.mutable_data_ptr<int64_t>() + layout.begin(i));
    std::copy_n(type_ids_.begin() + start, layout.length(i),
                type_ids.mutable_data_ptr<int64_t>() + layout.begin(i));
    const double value = target(indices[static_cast<size_t>(i)]);
    if (task_ == Task::kRegression) {
      labels.mutable_data_ptr<float>()[i] = static_cast<float>(value);
    } else {
      labels.mutable_data_ptr<int64_t>()[i] = static_cast<int64_t>(value);
    }
  }
  return libtrain::Batch::packed(
      std::move(layout), {{"input_ids", ids}, {"token_type_ids", type_ids}}, {{"labels", labels}});
}

}  // namespace bert
