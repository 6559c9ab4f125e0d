// One training step, from the batch to the report. Nothing in the device's half waits for the
// device.

#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "libtrain/amp/device_loss_scale.hpp"
#include "libtrain/amp/planned_autocast.hpp"
#include "libtrain/core/require.hpp"
#include "libtrain/optim/gradient_norm.hpp"
#include "libtrain/runtime/gradient_forms.hpp"
#include "libtrain/runtime/random_scope.hpp"
#include "libtrain/train/trainer.hpp"

namespace libtrain {
namespace {

/// Added to the norm before dividing, as in torch.nn.utils.clip_grad_norm_.
constexpr double kClipEpsilon = 1e-6;

std::vector<at::Tensor> gradients_of(const Optimizer& optimizer) {
  std::vector<at::Tensor> gradients;
  for (const ParameterGroup& group : optimizer.parameters().groups) {
    for (const Parameter& parameter : group.parameters) {
      if (parameter.tensor.grad().defined()) {
        gradients.push_back(parameter.tensor.grad());
      }
    }
  }
  return gradients;
}

/// The first parameter, in group order, whose gradient is not finite. Waits for the device.
std::string first_non_finite(const Optimizer& optimizer) {
  for (const ParameterGroup& group : optimizer.parameters().groups) {
    for (const auto& [name, tensor] : group.parameters) {
      const at::Tensor& grad = tensor.grad();
      if (grad.defined() &&
          !at::isfinite(grad.is_sparse() ? grad._values() : grad).all().item<bool>()) {
        return name;
      }
    }
  }
  return "no parameter";
}

/// Frees the gradients at the end of a step, however it ends.
class GradientCleanup {
 public:
  explicit GradientCleanup(Optimizer& optimizer) : optimizer_(optimizer) {}
  ~GradientCleanup() { optimizer_.zero_grad(); }
  GradientCleanup(const GradientCleanup&) = delete;
  GradientCleanup& operator=(const GradientCleanup&) = delete;
  GradientCleanup(GradientCleanup&&) = delete;
  GradientCleanup& operator=(GradientCleanup&&) = delete;

 private:
  Optimizer& optimizer_;
};

}  // namespace

StepReport Trainer::step(const Batch& batch, const LossFunction& loss) {
  require(batch.samples() > 0, "[trainer.step] the batch has no samples, expected at least one");
  const GradientCleanup cleanup(optimizer_);
  try {
    return take_step(batch, loss);
  } catch (const c10::OutOfMemoryError& error) {
    throw OutOfMemory(
        fill("[trainer.step] out of memory on {}: samples={}, accumulate={}, expected a batch that "
             "fits; raise accumulate, which splits the batch and keeps the result, or take fewer "
             "samples ({})",
             runtime_.device().str(), batch.samples(), runtime_.plan().accumulate.value_or(1),
             quote(error.what_without_backtrace(), 400)),
        /*estimated_bytes=*/0, /*available_bytes=*/0);
  }
}

StepReport Trainer::take_step(const Batch& batch, const LossFunction& loss) {
  const double window = batch.weight();
  for (const Batch& part : batch.split(runtime_.plan().accumulate.value_or(1))) {
    if (part.weight() > 0.0) {
      backward(forward(part, loss), part.weight() / window);
    }
  }

  StepReport report{.step = step_, .samples = batch.samples(), .weight = window, .latest = {}};
  if (state_.on_device()) {
    finish_on_device();
    report.latest = ring_.newest();
  } else {
    report.latest = finish_on_host();
  }
  ++step_;
  refuse_endless_skipping(report.latest ? report.latest->skipped_in_row : 0);
  return report;
}

/// Gradients of micro-batches are summed in the parameters' dtype.
GradientForms Trainer::gradient_forms() const {
  GradientForms forms = state_.on_device() ? GradientForms{} : optimizer_.gradient_forms();
  forms.computed = forms.computed && runtime_.plan().accumulate.value_or(1) == 1;
  return forms;
}

at::Tensor Trainer::forward(const Batch& part, const LossFunction& loss) const {
  const RandomScope random({.seed = runtime_.seed(),
                            .step = static_cast<uint32_t>(step_),
                            .first_sample = static_cast<uint32_t>(part.first_sample())});
  const GradientFormsScope forms(gradient_forms());
  const Autocast cast(planned_autocast(runtime_));
  const at::Tensor value = loss(part);
  if (!value.defined() || value.numel() != 1 || !value.is_floating_point()) {
    throw InvalidOption(
        fill("[trainer.step] the loss function returned {}, expected a floating-point scalar",
             value.defined() ? value.toString() : "nothing"));
  }
  require(value.requires_grad(),
          "[trainer.step] the loss does not depend on any parameter that takes gradients; check "
          "for detach() or a NoGradGuard in the loss function");
  return value.to(at::kFloat).squeeze();
}

void Trainer::backward(const at::Tensor& loss, double share) {
  at::Tensor seed;
  if (state_.on_device()) {
    const at::Tensor part = loss.detach() * share;
    device_loss_ = device_loss_.defined() ? device_loss_ + part : part;
    seed = state_.device.loss_scale * share;
  } else {
    host_loss_ += loss.item<double>() * share;
    seed = at::full({}, state_.host.loss_scale * share, loss.options());
  }
  torch::autograd::backward({loss}, {seed});
}

StepValues Trainer::finish_on_host() {
  HostStepState& state = state_.host;
  StepValues values{.step = step_,
                    .loss = std::exchange(host_loss_, 0.0),
                    .lr_factor = factor(options_.schedule, state.applied_steps),
                    .loss_scale = state.loss_scale};
  const std::vector<at::Tensor> gradients = gradients_of(optimizer_);
  if (gradients.empty()) {
    return values;
  }
  state.grad_norm = gradient_norm(gradients) / state.loss_scale;
  state.found_inf = !std::isfinite(state.grad_norm);
  if (!state.found_inf) {
    const double clip = options_.clip_norm
                            ? std::min(1.0, *options_.clip_norm / (state.grad_norm + kClipEpsilon))
                            : 1.0;
    optimizer_.update(HostUpdate{.lr_factor = values.lr_factor,
                                 .grad_multiplier = clip / state.loss_scale,
                                 .gradients = GradientsAfter::kKept});
    ++state.applied_steps;
  }
  if (scaling_) {
    const LossScale scale =
        next(options_.loss_scale, {state.loss_scale, state.growth_tracker}, state.found_inf);
    state.loss_scale = scale.scale;
    state.growth_tracker = scale.growth_tracker;
  }
  host_skips_ = next(host_skips_, state.found_inf);
  values.applied = !state.found_inf;
  values.grad_norm = state.grad_norm;
  values.skipped_in_row = host_skips_.in_row;
  return values;
}

void Trainer::finish_on_device() {
  DeviceStepState& state = state_.device;
  const std::vector<at::Tensor> gradients = gradients_of(optimizer_);
  const at::Tensor lr_factor = lr_table_.factor(state.applied_steps, step_);
  const at::Tensor scale = state.loss_scale.clone();
  at::Tensor applied = state.found_inf.new_zeros({});
  state.found_inf.zero_();
  if (!gradients.empty()) {
    state.grad_norm = gradient_norm_on_device(gradients).to(at::kFloat) / scale;
    state.found_inf = at::isfinite(state.grad_norm).logical_not().to(at::kFloat);
    applied = 1 - state.found_inf;
    const at::Tensor clip =
        options_.clip_norm ? (*options_.clip_norm / (state.grad_norm + kClipEpsilon)).clamp_max(1.0)
                           : at::full({}, 1.0, scale.options());
    optimizer_.update(DeviceUpdate{.lr_factor = lr_factor,
                                   .grad_divisor = scale / clip,
                                   .found_inf = state.found_inf,
                                   .gradients = GradientsAfter::kKept});
    state.applied_steps += applied.to(at::kLong);
    if (scaling_) {
      update_device_loss_scale(options_.loss_scale, state, state.found_inf);
    }
    device_skipped_ = (device_skipped_ + 1) * state.found_inf;
  }
  const at::Tensor loss = std::exchange(device_loss_, at::Tensor());
  ring_.push(step_, at::stack({applied, loss.defined() ? loss : applied.new_zeros({}),
                               state.grad_norm, lr_factor, scale, device_skipped_}));
}

void Trainer::refuse_endless_skipping(int64_t skipped_in_row) const {
  if (!is_stuck({.in_row = skipped_in_row}, options_.max_skips_in_row)) {
    return;
  }
  throw Error(fill(
      "[trainer.step] {} steps in a row had gradients that are not finite, now in {}; lower the "
      "learning rate or look at the data (limit: max_skips_in_row={})",
      skipped_in_row, first_non_finite(optimizer_), options_.max_skips_in_row));
}

}  // namespace libtrain
