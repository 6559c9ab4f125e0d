#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cosine_similarity.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <set>
#include <string>

#include "examples/bert/model/classifier.hpp"
#include "libtrain/core/error.hpp"
#include "libtrain/runtime/random_scope.hpp"
#include "libtrain/runtime/region.hpp"
#include "tests/support/padded_bert.hpp"

namespace bert {
namespace {

using libtrain::Batch;
using libtrain::PackedLayout;

BertConfig small_config() {
  BertConfig config;
  config.vocab_size = 100;
  config.hidden_size = 64;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 4;
  config.intermediate_size = 96;
  config.max_position_embeddings = 64;
  config.num_labels = 5;
  config.initializer_range = 0.1;  // larger than BERT's, so that the layers matter
  return config;
}

Batch random_batch(const std::vector<int64_t>& lengths) {
  const PackedLayout layout(lengths);
  return Batch::packed(layout,
                       {{"input_ids", at::randint(1, 100, {layout.rows()}, at::kLong)},
                        {"token_type_ids", at::randint(2, {layout.rows()}, at::kLong)}},
                       {{"labels", at::randint(5, {layout.samples()}, at::kLong)}});
}

at::Tensor all_gradients(const Classifier& model) {
  std::vector<at::Tensor> parts;
  for (const at::Tensor& parameter : model->parameters()) {
    parts.push_back(parameter.grad().flatten());
  }
  return at::cat(parts);
}

bool all_finite(const at::Tensor& tensor) { return tensor.isfinite().all().item<bool>(); }

class BertModelTest : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(51); }
};

class AutocastToBFloat16 {
 public:
  AutocastToBFloat16() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~AutocastToBFloat16() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
  AutocastToBFloat16(const AutocastToBFloat16&) = delete;
  AutocastToBFloat16& operator=(const AutocastToBFloat16&) = delete;
};

TEST_F(BertModelTest, PackedEqualsPaddedInForwardAndBackward) {
  Classifier model(small_config());
  model->eval();
  const Batch batch = random_batch({14, 3, 1, 40, 22});
  const at::Tensor packed = model->logits(batch);
  at::cross_entropy_loss(packed, batch.at("labels")).backward();
  const at::Tensor packed_gradients = all_gradients(model);
  model->zero_grad();
  const at::Tensor padded = libtrain::test::padded_logits(model, batch);
  at::cross_entropy_loss(padded, batch.at("labels")).backward();
  // fp32 sums in other orders, over two layers, of values of order 1.
  EXPECT_LE(packed.sub(padded).abs().max().item<double>(), 1e-5);
  EXPECT_LE(packed_gradients.sub(all_gradients(model)).abs().max().item<double>(), 1e-5);
}

TEST_F(BertModelTest, BFloat16AutocastStaysCloseWithLossAndGradientsInFp32) {
  Classifier model(small_config());
  model->eval();
  const Batch batch = random_batch({14, 3, 1, 40, 22, 0});
  const at::Tensor exact = model->logits(batch);
  model->loss(batch).backward();
  const at::Tensor exact_gradients = all_gradients(model);
  model->zero_grad();
  at::Tensor loss;
  at::Tensor logits;
  {
    const AutocastToBFloat16 autocast;
    logits = model->logits(batch);
    loss = model->loss(batch);
  }
  loss.backward();
  EXPECT_EQ(logits.scalar_type(), at::kFloat);
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  // Each rounding costs 2^-9 of values of order 1, a dozen of them one after another.
  EXPECT_LE(logits.sub(exact).abs().max().item<double>(), 0.05);
  EXPECT_GE(at::cosine_similarity(all_gradients(model), exact_gradients, 0).item<double>(), 0.995);
}

TEST_F(BertModelTest, EmptySamplesAreFiniteAndLeaveTheOthersAlone) {
  Classifier model(small_config());
  model->eval();
  const Batch batch = random_batch({7, 0, 5});
  const at::Tensor logits = model->logits(batch);
  EXPECT_TRUE(all_finite(logits));
  const Batch last = batch.slice(2, 1);
  EXPECT_LE(logits.slice(0, 2).sub(model->logits(last)).abs().max().item<double>(), 1e-5);
  model->loss(batch).backward();
  EXPECT_TRUE(all_finite(all_gradients(model)));

  const at::Tensor nothing = model->logits(random_batch({0, 0}));
  EXPECT_EQ(nothing.size(0), 2);
  EXPECT_TRUE(all_finite(nothing));
}

TEST_F(BertModelTest, WeightsStartAsInBert) {
  BertConfig config = small_config();
  config.vocab_size = 5000;
  config.pad_token_id = 3;
  const Classifier model(config);
  for (const auto& parameter : model->named_parameters()) {
    const std::string& name = parameter.key();
    const at::Tensor& value = parameter.value();
    if (name.ends_with("bias")) {
      EXPECT_EQ(value.abs().max().item<float>(), 0.0F) << name;
    } else if (name.ends_with("LayerNorm.weight")) {
      EXPECT_EQ(value.sub(1).abs().max().item<float>(), 0.0F) << name;
    } else {
      // Standard error of a standard deviation: sigma / sqrt(2 n); five of them.
      const double expected = config.initializer_range;
      const auto count = static_cast<double>(value.numel());
      EXPECT_NEAR(value.std().item<double>(), expected, 5 * expected / std::sqrt(2 * count))
          << name;
      EXPECT_NEAR(value.mean().item<double>(), 0.0, 5 * expected / std::sqrt(count)) << name;
    }
  }
  const at::Tensor words = model->named_parameters()["bert.embeddings.word_embeddings.weight"];
  EXPECT_EQ(words[3].abs().max().item<float>(), 0.0F);
  EXPECT_GT(words[0].abs().max().item<float>(), 0.0F);
}

TEST_F(BertModelTest, TheSameSeedGivesTheSameWeights) {
  at::manual_seed(1);
  const Classifier first(small_config());
  at::manual_seed(1);
  const Classifier second(small_config());
  for (const auto& parameter : first->named_parameters()) {
    EXPECT_TRUE(at::equal(parameter.value(), second->named_parameters()[parameter.key()]));
  }
}

TEST_F(BertModelTest, TrainingWithDropoutDependsOnTheSampleNotOnTheMicroBatch) {
  Classifier model(small_config());
  const Batch batch = random_batch({14, 3, 9, 22});
  const auto run = [&](const Batch& part) {
    const libtrain::RandomScope scope(
        {.seed = 5, .step = 2, .first_sample = static_cast<uint32_t>(part.first_sample())});
    return model->logits(part);
  };
  const at::Tensor whole = run(batch);
  const at::Tensor pieces = at::cat({run(batch.slice(0, 1)), run(batch.slice(1, 3))});
  // Equal masks; matrix products of other heights may round differently.
  EXPECT_LE(whole.sub(pieces).abs().max().item<double>(), 1e-5);
  model->eval();
  EXPECT_GT(whole.sub(run(batch)).abs().max().item<double>(), 0.01);
}

std::set<std::string>& seen_regions() {
  static std::set<std::string> names;
  return names;
}

std::unique_ptr<at::ObserverContext> note_region(const at::RecordFunction& function) {
  if (std::string_view(function.name()) == "aten::addmm") {
    seen_regions().emplace(libtrain::current_region());
  }
  return nullptr;
}

TEST_F(BertModelTest, EveryBlockIsARegion) {
  Classifier model(small_config());
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(&note_region));
  model->logits(random_batch({4}));
  at::removeCallback(handle);
  EXPECT_EQ(seen_regions(),
            (std::set<std::string>{"classifier", "encoder.layer.0", "encoder.layer.1", "pooler"}));
}

TEST_F(BertModelTest, OneLabelMeansRegression) {
  BertConfig config = small_config();
  config.num_labels = 1;
  Classifier model(config);
  model->eval();
  const PackedLayout layout({2, 3});
  const at::Tensor targets = at::rand({2});
  const Batch batch = Batch::packed(layout,
                                    {{"input_ids", at::randint(100, {5}, at::kLong)},
                                     {"token_type_ids", at::randint(2, {5}, at::kLong)}},
                                    {{"labels", targets}});
  EXPECT_NEAR(model->loss(batch).item<double>(),
              model->logits(batch).squeeze(1).sub(targets).square().mean().item<double>(), 1e-6);
}

TEST_F(BertModelTest, ATooLongSampleIsRefused) {
  Classifier model(small_config());
  try {
    model->logits(random_batch({3, 65}));
    FAIL() << "nothing thrown";
  } catch (const libtrain::InvalidOption& error) {
    EXPECT_NE(std::string(error.what()).find("rows=65"), std::string::npos) << error.what();
  }
}

int64_t resident_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST_F(BertModelTest, MemoryDoesNotGrowWithVaryingLengths) {
  constexpr int kSeed = 52;
  std::mt19937 random(kSeed);
  std::uniform_int_distribution<int64_t> length(0, 40);
  Classifier model(small_config());
  const auto step = [&] {
    std::vector<int64_t> lengths(8);
    for (int64_t& value : lengths) {
      value = length(random);
    }
    model->loss(random_batch(lengths)).backward();
    model->zero_grad(/*set_to_none=*/false);
  };
  for (int i = 0; i < 100; ++i) {
    step();
  }
  const int64_t before = resident_bytes();
  for (int i = 0; i < 300; ++i) {
    step();
  }
  // One leaked [160, 64] activation a step would be 12 MB.
  EXPECT_LT(resident_bytes() - before, 8 << 20) << "seed " << kSeed;
}

}  // namespace
}  // namespace bert
