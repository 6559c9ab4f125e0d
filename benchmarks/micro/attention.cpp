#include "libtrain/nn/attention.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <memory>
#include <vector>

namespace {

using libtrain::AttentionForm;

constexpr double kDropout = 0.1;

/// Samples of one length, packed, forward and backward.
struct Shape {
  int64_t samples;
  int64_t length;
  int64_t heads;
  int64_t head_dim;
};
constexpr Shape kMiniLM{32, 14, 12, 32};
constexpr Shape kBertBase{8, 128, 12, 64};

std::vector<at::Tensor> make_inputs(const Shape& shape, at::ScalarType dtype) {
  std::vector<at::Tensor> inputs(3);
  for (at::Tensor& input : inputs) {
    input = at::randn({shape.samples * shape.length, shape.heads * shape.head_dim}, dtype)
                .requires_grad_();
  }
  return inputs;
}

template <class Attention>
void run(benchmark::State& state, const Shape& shape, at::ScalarType dtype,
         const Attention& attention) {
  const std::vector<at::Tensor> inputs = make_inputs(shape, dtype);
  for (auto _ : state) {
    const at::Tensor output = attention(inputs);
    benchmark::DoNotOptimize(torch::autograd::grad({output}, {inputs[0], inputs[1], inputs[2]},
                                                   {at::ones_like(output)}));
  }
}

void attention_libtrain(benchmark::State& state, const Shape& shape, at::ScalarType dtype,
                        AttentionForm form) {
  const auto layout = std::make_shared<const libtrain::PackedLayout>(
      std::vector<int64_t>(static_cast<size_t>(shape.samples), shape.length));
  run(state, shape, dtype, [&](const std::vector<at::Tensor>& in) {
    return libtrain::attention(
        in[0], in[1], in[2], layout,
        {.heads = shape.heads, .dropout = kDropout, .training = true, .form = form});
  });
}

/// matmul, softmax, dropout, matmul: "eager" attention.
void attention_matmul(benchmark::State& state, const Shape& shape, at::ScalarType dtype) {
  const auto split = [&](const at::Tensor& packed) {
    return packed.view({shape.samples, shape.length, shape.heads, shape.head_dim}).transpose(1, 2);
  };
  const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
  run(state, shape, dtype, [&](const std::vector<at::Tensor>& in) {
    const at::Tensor logits = at::matmul(split(in[0]), split(in[1]).transpose(2, 3)) * scale;
    const at::Tensor weights = at::dropout(at::softmax(logits, -1), kDropout, true);
    return at::matmul(weights, split(in[2])).transpose(1, 2).reshape_as(in[0]);
  });
}

BENCHMARK_CAPTURE(attention_libtrain, own_minilm_fp32, kMiniLM, at::kFloat, AttentionForm::kShort);
BENCHMARK_CAPTURE(attention_libtrain, sdpa_minilm_fp32, kMiniLM, at::kFloat,
                  AttentionForm::kPadded);
BENCHMARK_CAPTURE(attention_matmul, minilm_fp32, kMiniLM, at::kFloat);
BENCHMARK_CAPTURE(attention_libtrain, own_minilm_bf16, kMiniLM, at::kBFloat16,
                  AttentionForm::kShort);
BENCHMARK_CAPTURE(attention_libtrain, sdpa_minilm_bf16, kMiniLM, at::kBFloat16,
                  AttentionForm::kPadded);
BENCHMARK_CAPTURE(attention_matmul, minilm_bf16, kMiniLM, at::kBFloat16);
BENCHMARK_CAPTURE(attention_libtrain, own_bertbase_fp32, kBertBase, at::kFloat,
                  AttentionForm::kShort);
BENCHMARK_CAPTURE(attention_libtrain, sdpa_bertbase_fp32, kBertBase, at::kFloat,
                  AttentionForm::kPadded);
BENCHMARK_CAPTURE(attention_matmul, bertbase_fp32, kBertBase, at::kFloat);
BENCHMARK_CAPTURE(attention_libtrain, own_bertbase_bf16, kBertBase, at::kBFloat16,
                  AttentionForm::kShort);
BENCHMARK_CAPTURE(attention_libtrain, sdpa_bertbase_bf16, kBertBase, at::kBFloat16,
                  AttentionForm::kPadded);
BENCHMARK_CAPTURE(attention_matmul, bertbase_bf16, kBertBase, at::kBFloat16);

}  // namespace
