#include "tests/support/padded_bert.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <string>

namespace libtrain::test {
namespace {

class PaddedBert {
 public:
  explicit PaddedBert(const bert::Classifier& model)
      : parameters_(model->named_parameters()), config_(model->config()) {}

  at::Tensor logits(const Batch& batch) const {
    const PackedLayout& layout = *batch.layout();
    at::Tensor hidden =
        embed(pad(batch.at("input_ids"), layout), pad(batch.at("token_type_ids"), layout));
    const at::Tensor lengths = at::tensor(lengths_of(layout)).reshape({-1, 1, 1, 1});
    const at::Tensor keep = at::arange(layout.longest()).lt(lengths);
    for (int64_t index = 0; index < config_.num_hidden_layers; ++index) {
      hidden = layer("bert.encoder.layer." + std::to_string(index), hidden, keep);
    }
    const at::Tensor pooled = linear("bert.pooler.dense", hidden.select(1, 0)).tanh();
    return linear("classifier", pooled);
  }

 private:
  static std::vector<int64_t> lengths_of(const PackedLayout& layout) {
    std::vector<int64_t> lengths;
    for (int64_t sample = 0; sample < layout.samples(); ++sample) {
      lengths.push_back(layout.length(sample));
    }
    return lengths;
  }

  static at::Tensor pad(const at::Tensor& packed, const PackedLayout& layout) {
    at::Tensor out = at::zeros({layout.samples(), layout.longest()}, packed.options());
    for (int64_t sample = 0; sample < layout.samples(); ++sample) {
      out[sample]
          .slice(0, 0, layout.length(sample))
          .copy_(packed.slice(0, layout.begin(sample), layout.begin(sample + 1)));
    }
    return out;
  }

  at::Tensor linear(const std::string& name, const at::Tensor& input) const {
    return at::linear(input, parameters_[name + ".weight"], parameters_[name + ".bias"]);
  }

  at::Tensor norm(const std::string& name, const at::Tensor& input) const {
    return at::layer_norm(input, {config_.hidden_size}, parameters_[name + ".weight"],
                          parameters_[name + ".bias"], config_.layer_norm_eps);
  }

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& types) const {
    const std::string prefix = "bert.embeddings.";
    const at::Tensor words = at::embedding(parameters_[prefix + "word_embeddings.weight"], ids,
                                           config_.pad_token_id.value_or(-1));
    const at::Tensor places =
        parameters_[prefix + "position_embeddings.weight"].slice(0, 0, ids.size(1));
    return norm(prefix + "LayerNorm",
                words.add(places).add(
                    at::embedding(parameters_[prefix + "token_type_embeddings.weight"], types)));
  }

  at::Tensor layer(const std::string& name, const at::Tensor& hidden,
                   const at::Tensor& keep) const {
    const auto heads = [&](const std::string& part) {
      return linear(name + ".attention.self." + part, hidden)
          .reshape({hidden.size(0), hidden.size(1), config_.num_attention_heads, -1})
          .transpose(1, 2);
    };
    const double head_dim = static_cast<double>(config_.hidden_size / config_.num_attention_heads);
    const at::Tensor logits = at::matmul(heads("query"), heads("key").transpose(2, 3))
                                  .div(std::sqrt(head_dim))
                                  .masked_fill(keep.logical_not(), -INFINITY);
    const at::Tensor attended =
        at::matmul(at::softmax(logits, -1), heads("value")).transpose(1, 2).reshape(hidden.sizes());
    const at::Tensor middle = norm(name + ".attention.output.LayerNorm",
                                   linear(name + ".attention.output.dense", attended).add(hidden));
    const at::Tensor wide = at::gelu(linear(name + ".intermediate.dense", middle));
    return norm(name + ".output.LayerNorm", linear(name + ".output.dense", wide).add(middle));
  }

  torch::OrderedDict<std::string, at::Tensor> parameters_;
  bert::BertConfig config_;
};

}  // namespace

at::Tensor padded_logits(const bert::Classifier& model, const Batch& batch) {
  return PaddedBert(model).logits(batch);
}

}  // namespace libtrain::test
