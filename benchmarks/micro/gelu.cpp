// GELU, forward and backward: 448 rows are a batch of MiniLM's.

#include "libtrain/nn/gelu.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

namespace {

constexpr int64_t kRows = 448;

void run(benchmark::State& state, at::ScalarType dtype, at::Tensor (*gelu)(const at::Tensor&)) {
  const at::Tensor input = at::randn({kRows, state.range(0)}, dtype).requires_grad_();
  const at::Tensor grad = at::randn({kRows, state.range(0)}, dtype);
  for (auto _ : state) {
    benchmark::DoNotOptimize(torch::autograd::grad({gelu(input)}, {input}, {grad}));
  }
  state.SetItemsProcessed(state.iterations() * input.numel());
}

void gelu_own(benchmark::State& state, at::ScalarType dtype) { run(state, dtype, &libtrain::gelu); }

void gelu_aten(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](const at::Tensor& input) { return at::gelu(input); });
}

BENCHMARK_CAPTURE(gelu_own, fp32, at::kFloat)->Arg(1536)->Arg(3072);
BENCHMARK_CAPTURE(gelu_aten, fp32, at::kFloat)->Arg(1536)->Arg(3072);
BENCHMARK_CAPTURE(gelu_own, bf16, at::kBFloat16)->Arg(1536)->Arg(3072);
BENCHMARK_CAPTURE(gelu_aten, bf16, at::kBFloat16)->Arg(1536)->Arg(3072);

}  // namespace
