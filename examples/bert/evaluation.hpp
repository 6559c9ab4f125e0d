#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "examples/bert/model/classifier.hpp"
#include "examples/bert/options.hpp"
#include "examples/bert/text_dataset.hpp"
#include "libtrain/format/json.hpp"
#include "libtrain/format/tsv.hpp"
#include "libtrain/runtime/runtime.hpp"

namespace bert {

struct Evaluation {
  at::Tensor logits;   ///< fp32 [samples, labels] on the CPU, in the dataset's order
  double loss = 0.0;   ///< mean over the samples
  double score = 0.0;  ///< accuracy, or Pearson's correlation in regression
  std::string metric;  ///< "eval/accuracy" or "eval/pearson"
};

/// Runs the model over the whole dataset without gradients and dropout, in the plan's precision.
Evaluation evaluate(const libtrain::Runtime& runtime, Classifier& model, const TextDataset& data,
                    Task task, const std::string& title);

/// One JSON line a sample, in input order: text, second (if any), label, predicted, logits. Written
/// as a whole.
void write_predictions(const std::string& path, const std::vector<libtrain::format::TsvRow>& rows,
                       const Evaluation& evaluation, const std::vector<std::string>& labels,
                       Task task);

}  // namespace bert
