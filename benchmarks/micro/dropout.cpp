#include "libtrain/nn/dropout.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

namespace {

constexpr double kProbability = 0.1;

template <class Dropout>
void run(benchmark::State& state, at::ScalarType dtype, const Dropout& dropout) {
  const at::NoGradGuard no_grad;
  const at::Tensor input = at::randn({1024, state.range(0)}).to(dtype);
  for (auto _ : state) {
    benchmark::DoNotOptimize(dropout(input));
  }
  state.SetItemsProcessed(state.iterations() * input.numel());
}

void dropout_own(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](const at::Tensor& x) { return libtrain::dropout(x, kProbability, true); });
}

void dropout_aten(benchmark::State& state, at::ScalarType dtype) {
  run(state, dtype, [](const at::Tensor& x) { return at::dropout(x, kProbability, true); });
}

BENCHMARK_CAPTURE(dropout_own, fp32, at::kFloat)->Arg(384)->Arg(3072);
BENCHMARK_CAPTURE(dropout_aten, fp32, at::kFloat)->Arg(384)->Arg(3072);
BENCHMARK_CAPTURE(dropout_own, bf16, at::kBFloat16)->Arg(384)->Arg(3072);
BENCHMARK_CAPTURE(dropout_aten, bf16, at::kBFloat16)->Arg(384)->Arg(3072);

}  // namespace
