#include "libtrain/optim/sgd.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/optim/parallel_chunks.hpp"

namespace libtrain {
namespace {

/// 64 KiB of each of the three arrays: a chunk fits in the second-level cache.
constexpr int64_t kChunk = 16384;

void check(const SGDOptions& options) {
  require(std::isfinite(options.momentum) && options.momentum >= 0.0,
          "[optim.sgd] momentum={}, expected a finite number >= 0", options.momentum);
  require(std::isfinite(options.dampening), "[optim.sgd] dampening={}, expected a finite number",
          options.dampening);
  require(
      !options.nesterov || (options.momentum > 0.0 && options.dampening == 0.0),
      "[optim.sgd] nesterov with momentum={}, dampening={}, expected momentum > 0 and no dampening",
      options.momentum, options.dampening);
}

}  // namespace

SGD::SGD(Parameters parameters, const SGDOptions& options)
    : Optimizer(std::move(parameters), {options.lr, options.weight_decay}),
      options_(group_count(), options) {
  check(options);
}

void SGD::set_options(size_t group, const SGDOptions& options) {
  check(options);
  require((options.momentum > 0.0) == (options_.front().momentum > 0.0),
          "[optim.set_options] momentum={} in group {}, {} at the start: whether there is one "
          "cannot change; make a new optimizer",
          options.momentum, group, options_.front().momentum);
  set_group(group, {options.lr, options.weight_decay});
  options_[group] = options;
}

std::vector<std::string> SGD::state_names() const {
  return options_.front().momentum > 0.0 ? std::vector<std::string>{"momentum_buffer"}
                                         : std::vector<std::string>{};
}

void SGD::update_with_kernels(const std::vector<Moving>& moving, const HostUpdate& numbers) {
  struct Work {
    float* parameter;
    float* gradient;
    float* momentum_buffer;
    kernels::SgdArgs args;
  };
  std::vector<Work> work;
  ParallelChunks chunks(kChunk);
  for (const Moving& entry : moving) {
    const SGDOptions& options = options_of(entry);
    kernels::SgdArgs args;
    args.lr = group_of(entry).lr * numbers.lr_factor;
    args.momentum = options.momentum;
    args.dampening = options.dampening;
    args.weight_decay = group_of(entry).weight_decay;
    args.nesterov = options.nesterov;
    args.maximize = options.maximize;
    args.first_step =
        entry.slot->step.defined() && *entry.slot->step.const_data_ptr<float>() == 1.0F;
    args.grad_multiplier = static_cast<float>(numbers.grad_multiplier);
    args.zero_grad = numbers.gradients == GradientsAfter::kZeroed;
    work.push_back(
        {entry.parameter.mutable_data_ptr<float>(), entry.gradient.mutable_data_ptr<float>(),
         entry.values.empty() ? nullptr : entry.values[0].mutable_data_ptr<float>(), args});
    chunks.add_tensor(entry.parameter.numel());
  }
  const kernels::SgdF32 kernel = kernels::table().sgd_f32;
  chunks.run([&](size_t tensor, int64_t first, int64_t count, int64_t /*chunk*/) {
    const Work& w = work[tensor];
    kernel(w.parameter + first, w.gradient + first,
           w.momentum_buffer == nullptr ? nullptr : w.momentum_buffer + first, count, w.args);
  });
}

/// A buffer starts as the gradient itself, undampened, and whether this is the start only the
/// device knows. The fused operator computes momentum * buffer + (1 - dampening) * gradient, which
/// is the gradient when the buffer holds dampening / momentum * gradient.
void SGD::start_buffers(const Group& group, const std::vector<Moving>& moving,
                        const FusedNumbers& numbers) const {
  const SGDOptions& options = options_of(moving.front());
  for (const Moving& entry : moving) {
    at::Tensor gradient =
        numbers.grad_divisor ? entry.gradient / *numbers.grad_divisor : entry.gradient;
    gradient = (options.maximize ? -gradient : gradient) + entry.parameter * group.weight_decay;
    at::Tensor is_first = entry.slot->step.eq(1.0);
    if (numbers.found_inf) {  // a skipped update leaves the count at that of the last one
      is_first = is_first.logical_and(numbers.found_inf->eq(0.0));
    }
    const at::Tensor& buffer = entry.values[0];
    buffer.copy_(at::where(is_first, gradient * (options.dampening / options.momentum), buffer));
  }
}

void SGD::update_fused(const Group& group, const std::vector<Moving>& moving,
                       const FusedNumbers& numbers) {
  const SGDOptions& options = options_of(moving.front());
  const bool has_momentum = options.momentum > 0.0;
  if (has_momentum && options.dampening != 0.0) {
    start_buffers(group, moving, numbers);
  }
  at::_fused_sgd_(parameters_of(moving), gradients_of(moving),
                  has_momentum ? values_of(moving, 0) : std::vector<at::Tensor>(),
                  group.weight_decay, options.momentum, numbers.lr, options.dampening,
                  options.nesterov, options.maximize, /*is_first_step=*/false, numbers.grad_divisor,
                  numbers.found_inf);
}

}  // namespace libtrain
