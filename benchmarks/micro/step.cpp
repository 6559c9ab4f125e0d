// What a training step costs beside the model: one parameter of one element.

#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <torch/optim/sgd.h>

#include <optional>

#include "libtrain/libtrain.hpp"

namespace {

namespace lt = libtrain;

void step_trainer(benchmark::State& state, bool clips) {
  lt::Runtime runtime({.precision = lt::PrecisionMode::kFp32, .threads = 1, .seed = 0});
  const at::Tensor weight = at::ones({1}).requires_grad_();
  lt::SGD optimizer(lt::Parameters{.groups = {{{{"weight", weight}}, {}}}, .aliases = {}});
  lt::Trainer trainer(runtime, optimizer, {.clip_norm = clips ? std::optional(1.0) : std::nullopt});
  const lt::Batch batch = lt::Batch::stacked({{"x", at::ones({1})}});
  for (auto _ : state) {
    trainer.step(batch, [&](const lt::Batch& part) { return (weight * part.at("x")).sum(); });
  }
}

void step_plain_loop(benchmark::State& state) {
  const at::Tensor weight = at::ones({1}).requires_grad_();
  torch::optim::SGD optimizer({weight}, 1e-3);
  const at::Tensor x = at::ones({1});
  for (auto _ : state) {
    optimizer.zero_grad();
    (weight * x).sum().backward();
    optimizer.step();
  }
}

BENCHMARK_CAPTURE(step_trainer, plain, false);
BENCHMARK_CAPTURE(step_trainer, clip, true);
BENCHMARK(step_plain_loop);

}  // namespace
