// The norm of gradients, and AdamW's update, over tensors of one size.

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <benchmark/benchmark.h>
#include <torch/optim/adamw.h>

#include <limits>
#include <string>
#include <vector>

#include "libtrain/optim/adamw.hpp"
#include "libtrain/optim/clip.hpp"

namespace {

constexpr int64_t kTensors = 16;

std::vector<at::Tensor> make_parameters(int64_t elements) {
  std::vector<at::Tensor> parameters;
  for (int64_t i = 0; i < kTensors; ++i) {
    parameters.push_back(at::randn(elements).requires_grad_());
    parameters.back().mutable_grad() = at::randn(elements) * 1e-3;
  }
  return parameters;
}

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) {
    gradients.push_back(parameter.grad());
  }
  return gradients;
}

template <class Step>
void run(benchmark::State& state, const Step& step) {
  step();  // makes the optimizer's state
  for (auto _ : state) {
    step();
  }
  state.SetItemsProcessed(state.iterations() * kTensors * state.range(0));
}

void norm_own(benchmark::State& state) {
  const std::vector<at::Tensor> parameters = make_parameters(state.range(0));
  run(state, [&] {
    benchmark::DoNotOptimize(
        libtrain::clip_grad_norm_(parameters, std::numeric_limits<double>::infinity()));
  });
}

void norm_aten(benchmark::State& state) {
  const std::vector<at::Tensor> gradients = gradients_of(make_parameters(state.range(0)));
  run(state, [&] {
    benchmark::DoNotOptimize(at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)), 2));
  });
}

void adamw_own(benchmark::State& state) {
  libtrain::ParameterGroup group;
  for (const at::Tensor& parameter : make_parameters(state.range(0))) {
    group.parameters.push_back({std::to_string(group.parameters.size()), parameter});
  }
  libtrain::AdamW optimizer({.groups = {group}, .aliases = {}});
  run(state, [&] { optimizer.update(libtrain::HostUpdate{}); });
}

void adamw_aten_fused(benchmark::State& state) {
  const at::NoGradGuard no_grad;
  const std::vector<at::Tensor> parameters = make_parameters(state.range(0));
  const std::vector<at::Tensor> gradients = gradients_of(parameters);
  std::vector<at::Tensor> averages;
  std::vector<at::Tensor> squares;
  std::vector<at::Tensor> steps;
  for (const at::Tensor& parameter : parameters) {
    averages.push_back(at::zeros_like(parameter));
    squares.push_back(at::zeros_like(parameter));
    steps.push_back(at::ones({}));
  }
  run(state, [&] {
    at::_fused_adamw_(parameters, gradients, averages, squares, {}, steps, /*lr=*/1e-3,
                      /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.01, /*eps=*/1e-8,
                      /*amsgrad=*/false, /*maximize=*/false);
  });
}

void adamw_torch_optim(benchmark::State& state) {
  torch::optim::AdamW optimizer(make_parameters(state.range(0)));
  run(state, [&] { optimizer.step(); });
}

// Within the cache, and far outside it.
BENCHMARK(norm_own)->Arg(4096)->Arg(1 << 22);
BENCHMARK(norm_aten)->Arg(4096)->Arg(1 << 22);
BENCHMARK(adamw_own)->Arg(4096)->Arg(1 << 22);
BENCHMARK(adamw_aten_fused)->Arg(4096)->Arg(1 << 22);
BENCHMARK(adamw_torch_optim)->Arg(4096)->Arg(1 << 22);

}  // namespace
