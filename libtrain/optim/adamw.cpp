#include "libtrain/optim/adamw.hpp"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <cmath>

#include "libtrain/core/require.hpp"
#include "libtrain/kernels/table.hpp"
#include "libtrain/optim/parallel_chunks.hpp"
#include "libtrain/optim/row_gradient.hpp"
#include "libtrain/runtime/planned_forms.hpp"

namespace libtrain {
namespace {

/// 64 KiB of each of the four or five arrays: a chunk fits in the second-level cache.
constexpr int64_t kChunk = 16384;

int64_t row_elements(const at::Tensor& parameter) {
  return std::max<int64_t>(1, parameter.numel() / std::max<int64_t>(1, parameter.size(0)));
}

void check(const AdamOptions& options) {
  require(options.beta1 >= 0.0 && options.beta1 < 1.0, "[optim.adam] beta1={}, expected in [0, 1)",
          options.beta1);
  require(options.beta2 >= 0.0 && options.beta2 < 1.0, "[optim.adam] beta2={}, expected in [0, 1)",
          options.beta2);
  require(std::isfinite(options.eps) && options.eps >= 0.0,
          "[optim.adam] eps={}, expected a finite number >= 0", options.eps);
}

AdamOptions without_kind(const AdamWOptions& options) {
  return {options.lr,           options.beta1,   options.beta2,   options.eps,
          options.weight_decay, options.amsgrad, options.maximize};
}

}  // namespace

AdamBase::AdamBase(Parameters parameters, const AdamOptions& options, WeightDecay weight_decay)
    : Optimizer(std::move(parameters), {options.lr, options.weight_decay}),
      options_(group_count(), options),
      weight_decay_(weight_decay) {
  check(options);
}

Adam::Adam(Parameters parameters, const AdamOptions& options)
    : AdamBase(std::move(parameters), options, WeightDecay::kInGradient) {}

AdamW::AdamW(Parameters parameters, const AdamWOptions& options)
    : AdamBase(std::move(parameters), without_kind(options), WeightDecay::kDecoupled) {}

void AdamBase::set_group_options(size_t group, const AdamOptions& options) {
  check(options);
  require(options.amsgrad == options_.front().amsgrad,
          "[optim.set_options] amsgrad={} in group {}, expected {} as at the start; make a new "
          "optimizer",
          options.amsgrad, group, options_.front().amsgrad);
  set_group(group, {options.lr, options.weight_decay});
  options_[group] = options;
}

void AdamW::set_options(size_t group, const AdamWOptions& options) {
  set_group_options(group, without_kind(options));
}

std::vector<std::string> AdamBase::state_names() const {
  if (options_.front().amsgrad) {
    return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  }
  return {"exp_avg", "exp_avg_sq"};
}

GradientForms AdamBase::gradient_forms() const {
  const bool own = planned_forms().optimizer == OptimizerForm::kOwnKernel;
  return {.rows = own, .computed = own};
}

void AdamBase::update_with_kernels(const std::vector<Moving>& moving, const HostUpdate& numbers) {
  struct Work {
    float* parameter;
    void* gradient;  ///< dense, or the values of `rows`
    bool gradient_is_bf16;
    bool by_rows;  ///< of which there may be none
    const int64_t* rows;
    int64_t row_count;
    int64_t row_width;
    float* exp_avg;
    float* exp_avg_sq;
    float* max_exp_avg_sq;
    kernels::AdamWArgs args;
  };
  std::vector<Work> work;
  ParallelChunks chunks(kChunk);
  for (const Moving& entry : moving) {
    const AdamOptions& options = options_of(entry);
    kernels::AdamWArgs args;
    args.lr = group_of(entry).lr * numbers.lr_factor;
    args.beta1 = options.beta1;
    args.beta2 = options.beta2;
    args.eps = options.eps;
    args.weight_decay = group_of(entry).weight_decay;
    args.decoupled_weight_decay = weight_decay_ == WeightDecay::kDecoupled;
    args.amsgrad = options.amsgrad;
    args.maximize = options.maximize;
    args.step = static_cast<int64_t>(*entry.slot->step.const_data_ptr<float>());
    args.grad_multiplier = static_cast<float>(numbers.grad_multiplier);
    args.zero_grad = numbers.gradients == GradientsAfter::kZeroed;
    const bool by_rows = entry.rows.defined();
    work.push_back(
        {.parameter = entry.parameter.mutable_data_ptr<float>(),
         .gradient = entry.gradient.mutable_data_ptr(),
         .gradient_is_bf16 = entry.gradient.scalar_type() == at::kBFloat16,
         .by_rows = by_rows,
         .rows = by_rows ? entry.rows.const_data_ptr<int64_t>() : nullptr,
         .row_count = by_rows ? entry.rows.numel() : 0,
         .row_width = by_rows ? row_elements(entry.parameter) : 0,
         .exp_avg = entry.values[0].mutable_data_ptr<float>(),
         .exp_avg_sq = entry.values[1].mutable_data_ptr<float>(),
         .max_exp_avg_sq = options.amsgrad ? entry.values[2].mutable_data_ptr<float>() : nullptr,
         .args = args});
    chunks.add_tensor(entry.parameter.numel());
  }
  const kernels::Table& table = kernels::table();
  chunks.run([&](size_t tensor, int64_t first, int64_t count, int64_t /*chunk*/) {
    const Work& w = work[tensor];
    const auto part = [&](auto kernel) {
      return [&w, kernel](int64_t at, int64_t elements, auto* gradient) {
        kernel(w.parameter + at, gradient, w.exp_avg + at, w.exp_avg_sq + at,
               w.max_exp_avg_sq == nullptr ? nullptr : w.max_exp_avg_sq + at, elements, w.args);
      };
    };
    if (w.gradient_is_bf16) {
      part(table.adamw_bf16)(first, count, static_cast<kernels::BFloat16*>(w.gradient) + first);
    } else if (!w.by_rows) {
      part(table.adamw_f32)(first, count, static_cast<float*>(w.gradient) + first);
    } else {
      for_each_part(w.rows, w.row_count, static_cast<float*>(w.gradient), w.row_width, first, count,
                    part(table.adamw_f32));
    }
  });
}

void AdamBase::update_fused(const Group& group, const std::vector<Moving>& moving,
                            const FusedNumbers& numbers) {
  const AdamOptions& options = options_of(moving.front());
  const auto fused = [&](const auto& op) {
    op(parameters_of(moving), gradients_of(moving), values_of(moving, 0), values_of(moving, 1),
       options.amsgrad ? values_of(moving, 2) : std::vector<at::Tensor>(), steps_of(moving),
       numbers.lr, options.beta1, options.beta2, group.weight_decay, options.eps, options.amsgrad,
       options.maximize, numbers.grad_divisor, numbers.found_inf);
  };
  if (weight_decay_ == WeightDecay::kDecoupled) {
    fused([](const auto&... args) { at::_fused_adamw_(args...); });
  } else {
    fused([](const auto&... args) { at::_fused_adam_(args...); });
  }
}

}  // namespace libtrain
