#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <string>

#include "examples/bert/model/config.hpp"
#include "libtrain/runtime/packed.hpp"

/// BERT (Devlin et al. 2019) on packed batches: the rows of all samples one after another, no
/// padding, so no attention mask. Parameters have the names and shapes of transformers.BertModel.
namespace bert {

using libtrain::PackedLayoutPtr;

/// Sum of word, position and type embeddings, normalised: ids [rows] -> [rows, hidden].
class EmbeddingsImpl : public torch::nn::Module {
 public:
  explicit EmbeddingsImpl(const BertConfig& config);
  at::Tensor forward(const at::Tensor& input_ids, const at::Tensor& token_type_ids,
                     const PackedLayoutPtr& layout);

 private:
  BertConfig config_;
  torch::nn::Embedding word_embeddings_;
  torch::nn::Embedding position_embeddings_;
  torch::nn::Embedding token_type_embeddings_;
  torch::nn::LayerNorm layer_norm_;
};
TORCH_MODULE(Embeddings);

/// One encoder layer: attention and feed-forward, each followed by dropout, residual and norm.
class LayerImpl : public torch::nn::Module {
 public:
  explicit LayerImpl(const BertConfig& config);
  at::Tensor forward(const at::Tensor& hidden, const PackedLayoutPtr& layout);

 private:
  at::Tensor attend(const at::Tensor& hidden, const PackedLayoutPtr& layout);

  BertConfig config_;
  torch::nn::Linear query_;
  torch::nn::Linear key_;
  torch::nn::Linear value_;
  torch::nn::Linear attention_dense_;
  torch::nn::LayerNorm attention_norm_;
  torch::nn::Linear intermediate_;
  torch::nn::Linear output_dense_;
  torch::nn::LayerNorm output_norm_;
};
TORCH_MODULE(Layer);

/// Encoder and pooler. Regions: "embeddings", "encoder.layer.N", "pooler".
class BertModelImpl : public torch::nn::Module {
 public:
  /// Weights from N(0, initializer_range) out of torch's generator, biases 0, norms 1 and 0, the
  /// row of pad_token_id 0, as transformers does.
  explicit BertModelImpl(const BertConfig& config);

  /// input_ids, token_type_ids: int64 [rows]. Returns the last hidden state [rows, hidden]. Throws
  /// InvalidOption when a sample is longer than max_position_embeddings.
  at::Tensor encode(const at::Tensor& input_ids, const at::Tensor& token_type_ids,
                    const PackedLayoutPtr& layout);
  /// tanh(W h + b) of each sample's first row: [samples, hidden]. An empty sample counts as a row
  /// of 0.
  at::Tensor pool(const at::Tensor& hidden, const PackedLayoutPtr& layout);

 private:
  int64_t filler_id_;  ///< token of rows that no sample owns
  Embeddings embeddings_;
  torch::nn::ModuleList layers_;
  std::vector<std::string> layer_names_;
  torch::nn::Linear pooler_;
};
TORCH_MODULE(BertModel);

/// Draws the weights of every Linear and Embedding in `module` and resets every norm, as the
/// constructor of BertModel does.
void initialize(torch::nn::Module& module, const BertConfig& config);

}  // namespace bert
