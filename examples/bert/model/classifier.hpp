#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "examples/bert/model/bert.hpp"
#include "examples/bert/model/config.hpp"
#include "libtrain/runtime/batch.hpp"

namespace bert {

/// BERT with a linear classifier on the pooled first token; parameter names and results are those
/// of transformers.BertForSequenceClassification. Region of its own part: "classifier".
class ClassifierImpl : public torch::nn::Module {
 public:
  explicit ClassifierImpl(const BertConfig& config);

  /// A packed batch with token fields "input_ids" and "token_type_ids" (int64) -> [samples,
  /// num_labels], fp32 also under autocast.
  at::Tensor logits(const libtrain::Batch& batch);
  /// Mean over the samples of the cross entropy with "labels" (int64 [samples]); with one label the
  /// mean squared error (float [samples]).
  at::Tensor loss(const libtrain::Batch& batch);

  const BertConfig& config() const noexcept { return config_; }

 private:
  BertConfig config_;
  BertModel bert_;
  torch::nn::Linear classifier_;
};
TORCH_MODULE(Classifier);

}  // namespace bert
