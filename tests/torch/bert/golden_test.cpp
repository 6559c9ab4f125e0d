#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "examples/bert/model/classifier.hpp"
#include "libtrain/format/safetensors.hpp"

namespace bert {
namespace {

/// tests/data/make_bert_golden.py: a model of transformers and what it computes.
class Golden : public testing::Test {
 protected:
  Golden() : file_(LIBTRAIN_TEST_DATA "/data/bert_golden.safetensors") {}

  at::Tensor tensor(const std::string& name) const {
    const auto& entry = file_.tensors().at(name);
    const auto dtype = entry.dtype == libtrain::format::DType::kI64 ? at::kLong : at::kFloat;
    void* bytes = const_cast<std::byte*>(entry.bytes.data());  // NOLINT: cloned, never written
    return at::from_blob(bytes, entry.shape, dtype).clone();
  }

  Classifier model(Activation activation) const {
    BertConfig config;
    config.vocab_size = 48;
    config.hidden_size = 16;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 2;
    config.intermediate_size = 40;
    config.max_position_embeddings = 12;
    config.num_labels = 3;
    config.hidden_act = activation;
    Classifier model(config);
    const at::NoGradGuard no_grad;
    for (const auto& parameter : model->named_parameters()) {
      parameter.value().copy_(tensor("weight." + parameter.key()));
    }
    model->eval();
    return model;
  }

  libtrain::Batch batch() const {
    const at::Tensor lengths = tensor("lengths");
    const auto* begin = lengths.const_data_ptr<int64_t>();
    return libtrain::Batch::packed(
        libtrain::PackedLayout(std::vector<int64_t>(begin, begin + lengths.numel())),
        {{"input_ids", tensor("input_ids")}, {"token_type_ids", tensor("token_type_ids")}},
        {{"labels", tensor("labels")}});
  }

  static void expect_close(const at::Tensor& actual, const at::Tensor& expected,
                           const std::string& what) {
    ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
    // fp32 against fp32 in another order of summing; values are of order 1.
    EXPECT_LE(actual.sub(expected).abs().max().item<double>(), 1e-5) << what;
  }

  libtrain::format::SafetensorsFile file_;
};

TEST_F(Golden, ParameterNamesAndShapesAreThoseOfTransformers) {
  std::map<std::string, std::vector<int64_t>> expected;
  const std::string prefix = "weight.";
  for (const auto& [name, entry] : file_.tensors()) {
    if (name.starts_with(prefix)) {
      expected[name.substr(prefix.size())] = entry.shape;
    }
  }
  std::map<std::string, std::vector<int64_t>> found;
  const Classifier classifier = model(Activation::kGelu);
  for (const auto& parameter : classifier->named_parameters()) {
    found[parameter.key()] = parameter.value().sizes().vec();
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(classifier->named_buffers().is_empty());
}

TEST_F(Golden, LogitsLossAndGradientsAreThoseOfTransformers) {
  Classifier classifier = model(Activation::kGelu);
  expect_close(classifier->logits(batch()), tensor("logits.gelu"), "logits");
  const at::Tensor loss = classifier->loss(batch());
  expect_close(loss, tensor("loss"), "loss");
  loss.backward();
  for (const auto& parameter : classifier->named_parameters()) {
    expect_close(parameter.value().grad(), tensor("grad." + parameter.key()), parameter.key());
  }
}

TEST_F(Golden, OtherActivationsAreThoseOfTransformers) {
  const at::NoGradGuard no_grad;
  expect_close(model(Activation::kGeluTanh)->logits(batch()), tensor("logits.gelu_new"),
               "gelu_new");
  expect_close(model(Activation::kRelu)->logits(batch()), tensor("logits.relu"), "relu");
}

}  // namespace
}  // namespace bert
