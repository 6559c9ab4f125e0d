#include "examples/bert/model/classifier.hpp"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>

#include "libtrain/nn/dropout.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/runtime/region.hpp"

namespace bert {

ClassifierImpl::ClassifierImpl(const BertConfig& config)
    : config_(config), bert_(config), classifier_(config.hidden_size, config.num_labels) {
  register_module("bert", bert_);
  register_module("classifier", classifier_);
  initialize(*classifier_, config);
}

at::Tensor ClassifierImpl::logits(const libtrain::Batch& batch) {
  const PackedLayoutPtr& layout = batch.layout();
  const at::Tensor hidden =
      bert_->encode(batch.at("input_ids"), batch.at("token_type_ids"), layout);
  const double probability = config_.classifier_dropout.value_or(config_.hidden_dropout_prob);
  return libtrain::region("classifier", {bert_->pool(hidden, layout)}, [&](const auto& inputs) {
    const at::Tensor pooled = libtrain::dropout(inputs[0], probability, is_training());
    const at::Tensor out = libtrain::linear(*classifier_, pooled);
    return c10::isReducedFloatingType(out.scalar_type()) ? out.to(at::kFloat) : out;
  });
}

at::Tensor ClassifierImpl::loss(const libtrain::Batch& batch) {
  const at::Tensor scores = logits(batch);
  const at::Tensor& labels = batch.at("labels");
  return config_.num_labels == 1 ? at::mse_loss(scores.squeeze(1), labels.to(scores.scalar_type()))
                                 : at::cross_entropy_loss(scores, labels);
}

}  // namespace bert
