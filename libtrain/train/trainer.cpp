#include "libtrain/train/trainer.hpp"

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "libtrain/core/require.hpp"

namespace libtrain {

Trainer::Trainer(const Runtime& runtime, Optimizer& optimizer, TrainerOptions options)
    : runtime_(runtime),
      optimizer_(optimizer),
      options_(std::move(options)),
      scaling_(runtime.plan().loss_scaling.value),
      state_(runtime.device(), options_.values_on_device || !runtime.device().is_cpu()),
      lr_table_(options_.schedule, runtime.device()),
      ring_(runtime.device()) {
  require(!options_.clip_norm || *options_.clip_norm > 0.0,
          "[trainer.make] clip_norm={}, expected > 0; leave it unset for no clipping",
          options_.clip_norm.value_or(0.0));
  require(options_.max_skips_in_row >= 1, "[trainer.make] max_skips_in_row={}, expected >= 1",
          options_.max_skips_in_row);
  check(options_.loss_scale);
  if (scaling_) {
    state_.host.loss_scale = options_.loss_scale.initial;
  }
  if (state_.on_device()) {
    state_.device.loss_scale.fill_(state_.host.loss_scale);
    device_skipped_ = at::zeros({}, state_.device.loss_scale.options());
  }
}

StepValues Trainer::values(const StepReport& report) {
  return state_.on_device() ? ring_.wait(report.step) : report.latest.value();
}

int64_t Trainer::applied_steps() {
  state_.read();
  return state_.host.applied_steps;
}

}  // namespace libtrain
