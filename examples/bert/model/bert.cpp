#include "examples/bert/model/bert.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <utility>
#include <vector>

#include "libtrain/core/require.hpp"
#include "libtrain/nn/add_norm.hpp"
#include "libtrain/nn/attention.hpp"
#include "libtrain/nn/dropout.hpp"
#include "libtrain/nn/embedding.hpp"
#include "libtrain/nn/gelu.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/runtime/host_copy.hpp"
#include "libtrain/runtime/region.hpp"

namespace bert {
namespace {

using libtrain::linear;
using libtrain::PackedLayout;

/// A module that only gives its children a name.
std::shared_ptr<torch::nn::Module> group(
    const std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>>& children) {
  struct Group : torch::nn::Module {};
  auto module = std::make_shared<Group>();
  for (const auto& [name, child] : children) {
    module->register_module(name, child);
  }
  return module;
}

torch::nn::LayerNorm norm(const BertConfig& config) {
  return torch::nn::LayerNorm(
      torch::nn::LayerNormOptions({config.hidden_size}).eps(config.layer_norm_eps));
}

/// Position of each row in its sample: int64 [rows].
at::Tensor positions(const PackedLayout& layout) {
  at::Tensor out = at::empty({layout.rows()}, at::kLong);
  auto* position = out.mutable_data_ptr<int64_t>();
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    for (int64_t t = 0; t < layout.length(sample); ++t) {
      *position++ = t;
    }
  }
  return out;
}

at::Tensor to_tensor(const std::vector<int64_t>& values, at::Device device) {
  at::Tensor out = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), out.mutable_data_ptr<int64_t>());
  return libtrain::to_device(out, device);
}

/// The first row of every sample: [samples, hidden], 0 where a sample has none.
at::Tensor first_rows(const at::Tensor& hidden, const PackedLayout& layout) {
  std::vector<int64_t> samples;
  std::vector<int64_t> rows;
  for (int64_t sample = 0; sample < layout.samples(); ++sample) {
    if (layout.length(sample) > 0) {
      samples.push_back(sample);
      rows.push_back(layout.begin(sample));
    }
  }
  const at::Tensor found = hidden.index_select(0, to_tensor(rows, hidden.device()));
  if (found.size(0) == layout.samples()) {
    return found;
  }
  return at::zeros({layout.samples(), hidden.size(1)}, hidden.options())
      .index_copy(0, to_tensor(samples, hidden.device()), found);
}

at::Tensor activate(const at::Tensor& input, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return libtrain::gelu(input);
    case Activation::kGeluTanh:
      return at::gelu(input, "tanh");
    case Activation::kRelu:
      return at::relu(input);
  }
  throw libtrain::InternalError("[bert.forward] activation out of range");
}

}  // namespace

EmbeddingsImpl::EmbeddingsImpl(const BertConfig& config)
    : config_(config),
      word_embeddings_(torch::nn::EmbeddingOptions(config.vocab_size, config.hidden_size)
                           .padding_idx(config.pad_token_id)),
      position_embeddings_(config.max_position_embeddings, config.hidden_size),
      token_type_embeddings_(config.type_vocab_size, config.hidden_size),
      layer_norm_(norm(config)) {
  register_module("word_embeddings", word_embeddings_);
  register_module("position_embeddings", position_embeddings_);
  register_module("token_type_embeddings", token_type_embeddings_);
  register_module("LayerNorm", layer_norm_);
}

at::Tensor EmbeddingsImpl::forward(const at::Tensor& input_ids, const at::Tensor& token_type_ids,
                                   const PackedLayoutPtr& layout) {
  libtrain::require(layout->longest() <= config_.max_position_embeddings,
                    "[bert.forward] sample too long: rows={}, expected at most "
                    "max_position_embeddings={}; truncate when tokenizing",
                    layout->longest(), config_.max_position_embeddings);
  const at::Tensor words =
      libtrain::embedding(word_embeddings_->weight, input_ids, config_.pad_token_id);
  const at::Tensor types = libtrain::embedding(token_type_embeddings_->weight, token_type_ids);
  const at::Tensor places = libtrain::embedding(
      position_embeddings_->weight, libtrain::to_device(positions(*layout), input_ids.device()));
  return libtrain::dropout(layer_norm_(words + types + places), config_.hidden_dropout_prob,
                           is_training(), layout);
}

LayerImpl::LayerImpl(const BertConfig& config)
    : config_(config),
      query_(config.hidden_size, config.hidden_size),
      key_(config.hidden_size, config.hidden_size),
      value_(config.hidden_size, config.hidden_size),
      attention_dense_(config.hidden_size, config.hidden_size),
      attention_norm_(norm(config)),
      intermediate_(config.hidden_size, config.intermediate_size),
      output_dense_(config.intermediate_size, config.hidden_size),
      output_norm_(norm(config)) {
  const auto self = group({{"query", query_.ptr()}, {"key", key_.ptr()}, {"value", value_.ptr()}});
  const auto output =
      group({{"dense", attention_dense_.ptr()}, {"LayerNorm", attention_norm_.ptr()}});
  register_module("attention", group({{"self", self}, {"output", output}}));
  register_module("intermediate", group({{"dense", intermediate_.ptr()}}));
  register_module("output",
                  group({{"dense", output_dense_.ptr()}, {"LayerNorm", output_norm_.ptr()}}));
}

at::Tensor LayerImpl::attend(const at::Tensor& hidden, const PackedLayoutPtr& layout) {
  return libtrain::attention_qkvpacked(libtrain::joined_linear({query_, key_, value_}, hidden),
                                       layout,
                                       {.heads = config_.num_attention_heads,
                                        .dropout = config_.attention_probs_dropout_prob,
                                        .training = is_training()});
}

at::Tensor LayerImpl::forward(const at::Tensor& hidden, const PackedLayoutPtr& layout) {
  const auto add_norm = [&](const torch::nn::LayerNorm& norm, const at::Tensor& input,
                            const at::Tensor& residual) {
    return libtrain::add_norm(*norm, input, residual, config_.hidden_dropout_prob, is_training(),
                              layout);
  };
  const at::Tensor attended =
      add_norm(attention_norm_, linear(*attention_dense_, attend(hidden, layout)), hidden);
  const at::Tensor wide = activate(linear(*intermediate_, attended), config_.hidden_act);
  return add_norm(output_norm_, linear(*output_dense_, wide), attended);
}

BertModelImpl::BertModelImpl(const BertConfig& config)
    : filler_id_(config.pad_token_id.value_or(0)),
      embeddings_(config),
      pooler_(config.hidden_size, config.hidden_size) {
  for (int64_t index = 0; index < config.num_hidden_layers; ++index) {
    layers_->push_back(Layer(config));
    layer_names_.push_back("encoder.layer." + std::to_string(index));
  }
  register_module("embeddings", embeddings_);
  register_module("encoder", group({{"layer", layers_.ptr()}}));
  register_module("pooler", group({{"dense", pooler_.ptr()}}));
  initialize(*this, config);
}

at::Tensor BertModelImpl::encode(const at::Tensor& input_ids, const at::Tensor& token_type_ids,
                                 const PackedLayoutPtr& layout) {
  const PackedLayoutPtr filled = libtrain::layout_for_products(layout, input_ids.device());
  const int64_t filler = filled->rows() - layout->rows();
  const std::vector<at::Tensor> ids = {at::constant_pad_nd(input_ids, {0, filler}, filler_id_),
                                       at::constant_pad_nd(token_type_ids, {0, filler})};
  at::Tensor hidden = libtrain::region("embeddings", ids, [&](const auto& inputs) {
    return embeddings_(inputs[0], inputs[1], filled);
  });
  for (size_t index = 0; index < layer_names_.size(); ++index) {
    auto& layer = layers_->at<LayerImpl>(index);
    hidden = libtrain::region(layer_names_[index], {hidden},
                              [&](const auto& inputs) { return layer.forward(inputs[0], filled); });
  }
  return hidden.narrow(0, 0, layout->rows());
}

at::Tensor BertModelImpl::pool(const at::Tensor& hidden, const PackedLayoutPtr& layout) {
  return libtrain::region("pooler", {hidden}, [&](const auto& inputs) {
    return at::tanh(linear(*pooler_, first_rows(inputs[0], *layout)));
  });
}

void initialize(torch::nn::Module& module, const BertConfig& config) {
  const at::NoGradGuard no_grad;
  for (const auto& child : module.children()) {
    initialize(*child, config);
  }
  if (auto* layer = module.as<torch::nn::LinearImpl>()) {
    layer->weight.normal_(0.0, config.initializer_range);
    layer->bias.zero_();
  } else if (auto* table = module.as<torch::nn::EmbeddingImpl>()) {
    table->weight.normal_(0.0, config.initializer_range);
    if (const auto padding = table->options.padding_idx()) {
      table->weight[*padding].zero_();
    }
  } else if (auto* layer_norm = module.as<torch::nn::LayerNormImpl>()) {
    layer_norm->reset_parameters();
  }
}

}  // namespace bert
