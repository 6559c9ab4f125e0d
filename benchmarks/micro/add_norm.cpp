// LayerNorm(dropout(input) + residual), forward and backward: 448 rows are a batch of MiniLM's.

#include "libtrain/nn/add_norm.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include "libtrain/nn/dropout.hpp"

namespace {

constexpr int64_t kRows = 448;
constexpr double kProbability = 0.1;

template <class AddNorm>
void run(benchmark::State& state, at::ScalarType dtype, const AddNorm& add_norm) {
  const int64_t width = state.range(0);
  torch::nn::LayerNorm norm(torch::nn::LayerNormOptions({width}));
  const at::Tensor input = at::randn({kRows, width}, dtype).requires_grad_();
  const at::Tensor residual = at::randn({kRows, width}).requires_grad_();
  const at::Tensor grad = at::randn({kRows, width});
  for (auto _ : state) {
    const at::Tensor output = add_norm(norm, input, residual);
    benchmark::DoNotOptimize(
        torch::autograd::grad({output}, {input, residual, norm->weight, norm->bias}, {grad}));
  }
  state.SetItemsProcessed(state.iterations() * input.numel());
}

void add_norm_own(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](auto& norm, const at::Tensor& x, const at::Tensor& residual) {
    return libtrain::add_norm(*norm, x, residual, kProbability, true);
  });
}

/// The same dropout, the rest by ATen.
void add_norm_own_dropout(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](auto& norm, const at::Tensor& x, const at::Tensor& residual) {
    return norm(libtrain::dropout(x, kProbability, true) + residual);
  });
}

void add_norm_aten(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](auto& norm, const at::Tensor& x, const at::Tensor& residual) {
    return norm(at::dropout(x, kProbability, true) + residual);
  });
}

BENCHMARK_CAPTURE(add_norm_own, fp32, at::kFloat)->Arg(384)->Arg(768);
BENCHMARK_CAPTURE(add_norm_own_dropout, fp32, at::kFloat)->Arg(384)->Arg(768);
BENCHMARK_CAPTURE(add_norm_aten, fp32, at::kFloat)->Arg(384)->Arg(768);
BENCHMARK_CAPTURE(add_norm_own, bf16, at::kBFloat16)->Arg(384)->Arg(768);
BENCHMARK_CAPTURE(add_norm_own_dropout, bf16, at::kBFloat16)->Arg(384)->Arg(768);
BENCHMARK_CAPTURE(add_norm_aten, bf16, at::kBFloat16)->Arg(384)->Arg(768);

}  // namespace
