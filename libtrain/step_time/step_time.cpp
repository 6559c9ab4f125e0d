// fasttrain-step-time: prints how many milliseconds a training step takes in this process, under
// the plan that its environment asks for. `fasttrain tune` runs it once for each setting.

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/embedding.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "libtrain/cli/exit_code.hpp"
#include "libtrain/core/text.hpp"
#include "libtrain/nn/add_norm.hpp"
#include "libtrain/nn/attention.hpp"
#include "libtrain/nn/embedding.hpp"
#include "libtrain/nn/gelu.hpp"
#include "libtrain/nn/linear.hpp"
#include "libtrain/optim/adamw.hpp"
#include "libtrain/train/trainer.hpp"

namespace libtrain {
namespace {

// The shape of all-MiniLM-L6 and of sentences: what is tuned for is small and short.
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kWidth = 384;
constexpr int64_t kHeads = 12;
constexpr int64_t kLayers = 6;
constexpr int64_t kClasses = 45;
constexpr int64_t kSamples = 32;
constexpr double kDropout = 0.1;

struct LayerImpl : torch::nn::Module {
  LayerImpl() {
    register_module("qkv", qkv);
    register_module("out", out);
    register_module("norm", norm);
    register_module("up", up);
    register_module("down", down);
    register_module("last_norm", last_norm);
  }

  at::Tensor forward(const at::Tensor& input, const PackedLayoutPtr& layout) {
    const AttentionOptions options{.heads = kHeads, .dropout = kDropout, .training = true};
    const at::Tensor attended =
        add_norm(*norm, linear(*out, attention_qkvpacked(linear(*qkv, input), layout, options)),
                 input, kDropout, true, layout);
    const at::Tensor wide = linear(*down, libtrain::gelu(linear(*up, attended)));
    return add_norm(*last_norm, wide, attended, kDropout, true, layout);
  }

  torch::nn::Linear qkv{kWidth, 3 * kWidth};
  torch::nn::Linear out{kWidth, kWidth};
  torch::nn::LayerNorm norm{torch::nn::LayerNormOptions({kWidth})};
  torch::nn::Linear up{kWidth, 4 * kWidth};
  torch::nn::Linear down{4 * kWidth, kWidth};
  torch::nn::LayerNorm last_norm{torch::nn::LayerNormOptions({kWidth})};
};
TORCH_MODULE(Layer);

struct EncoderImpl : torch::nn::Module {
  EncoderImpl() {
    register_module("words", words);
    for (int64_t i = 0; i < kLayers; ++i) {
      layers->push_back(Layer());
    }
    register_module("layers", layers);
    register_module("classifier", classifier);
  }

  at::Tensor loss(const Batch& batch) {
    const PackedLayoutPtr layout = layout_for_products(batch.layout(), at::kCPU);
    const int64_t filler = layout->rows() - batch.layout()->rows();
    at::Tensor hidden =
        libtrain::embedding(words->weight, at::constant_pad_nd(batch.at("ids"), {0, filler}, 0));
    for (const auto& layer : *layers) {
      hidden = layer->as<LayerImpl>()->forward(hidden, layout);
    }
    const at::Tensor scores = linear(*classifier, hidden.index_select(0, batch.at("first")));
    return at::cross_entropy_loss(scores.to(at::kFloat), batch.at("labels"));
  }

  torch::nn::Embedding words{kVocabulary, kWidth};
  torch::nn::ModuleList layers;
  torch::nn::Linear classifier{kWidth, kClasses};
};
TORCH_MODULE(Encoder);

/// Sentences of 5 to 60 tokens, 20 on average, the same in every process.
Batch make_batch(std::mt19937& random) {
  std::vector<int64_t> lengths(kSamples);
  for (int64_t& length : lengths) {
    const double share = static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    length = 5 + static_cast<int64_t>(55.0 * share * share * share);
  }
  PackedLayout layout(lengths);
  std::vector<int64_t> first;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    first.push_back(layout.begin(sample));
  }
  const at::Tensor ids = at::randint(kVocabulary, {layout.rows()}, at::kLong);
  return Batch::packed(
      std::move(layout), {{"ids", ids}},
      {{"first", at::tensor(first)}, {"labels", at::randint(kClasses, {kSamples}, at::kLong)}});
}

double step_milliseconds() {
  using Clock = std::chrono::steady_clock;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  constexpr Milliseconds kLong{2000.0};
  constexpr size_t kLeast = 3;

  Runtime runtime({.seed = 0});
  Encoder model = runtime.prepare(Encoder());
  AdamW optimizer(parameters_of(*model), {.lr = 1e-4});
  Trainer trainer(runtime, optimizer, {.clip_norm = 1.0});
  std::mt19937 random(0);
  std::vector<Batch> batches(4);
  std::ranges::generate(batches, [&] { return make_batch(random); });
  const auto step = [&](const Batch& batch) {
    trainer.step(batch, [&](const Batch& part) { return model->loss(part); });
  };
  for (int i = 0; i < 2; ++i) {  // what is compiled or allocated once
    std::ranges::for_each(batches, step);
  }
  std::vector<double> times;
  for (const auto start = Clock::now(); times.size() < kLeast || Clock::now() - start < kLong;) {
    const auto before = Clock::now();
    std::ranges::for_each(batches, step);
    times.push_back(Milliseconds(Clock::now() - before).count() /
                    static_cast<double>(batches.size()));
  }
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

}  // namespace
}  // namespace libtrain

int main() {
  try {
    std::printf("%s\n", libtrain::to_text(libtrain::step_milliseconds()).c_str());
    return libtrain::kExitDone;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fasttrain-step-time: %s\n", error.what());
    return libtrain::exit_code_of(error);
  }
}
