#include "libtrain/amp/grad_scaler.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>

#include "libtrain/amp/device_loss_scale.hpp"
#include "libtrain/amp/unscale.hpp"
#include "libtrain/core/require.hpp"

namespace libtrain {

GradScaler::GradScaler(at::Device device, const LossScaleOptions& options, bool enabled)
    : options_(options), enabled_(enabled) {
  check(options_);
  if (enabled_) {
    state_ = StepState(device, /*on_device=*/true);
    state_.device.loss_scale.fill_(options_.initial);
    skips_in_row_ = at::zeros_like(state_.device.loss_scale);
  }
}

void GradScaler::require_scaled(const char* verb) const {
  require(was_used_, "[amp.{}] scale() was never called; scale the loss before backward()", verb);
}

at::Tensor GradScaler::scale(const at::Tensor& output) {
  if (!enabled_) {
    return output;
  }
  was_used_ = true;
  return output * state_.device.loss_scale.to(output.device(), /*non_blocking=*/true);
}

std::vector<at::Tensor> GradScaler::scale(const std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> scaled;
  for (const at::Tensor& output : outputs) {
    scaled.push_back(scale(output));
  }
  return scaled;
}

void GradScaler::unscale_(Updatable& optimizer) {
  if (!enabled_) {
    return;
  }
  require_scaled("unscale");
  Iteration& iteration = iterations_[&optimizer];
  require(iteration.stage != Stage::kUnscaled,
          "[amp.unscale] unscale_() was already called for this optimizer; call it once before "
          "update()");
  require(iteration.stage != Stage::kStepped,
          "[amp.unscale] unscale_() after step() for this optimizer; call update() first");
  iteration.found_inf = unscale_gradients(optimizer.parameters(), state_.device.loss_scale);
  iteration.stage = Stage::kUnscaled;
}

StepOutcome GradScaler::step(Updatable& optimizer) {
  if (!enabled_) {
    return optimizer.step();
  }
  require_scaled("step");
  require(iterations_[&optimizer].stage != Stage::kStepped,
          "[amp.step] step() was already called for this optimizer; call update() first");
  if (iterations_[&optimizer].stage == Stage::kReady) {
    unscale_(optimizer);
  }
  Iteration& iteration = iterations_[&optimizer];
  StepOutcome outcome = StepOutcome::kNoGradients;
  if (iteration.found_inf.defined() && !iteration.found_inf.is_cpu()) {
    optimizer.update(DeviceUpdate{.found_inf = iteration.found_inf});
    outcome = StepOutcome::kDecidedOnDevice;
  } else if (iteration.found_inf.defined() && iteration.found_inf.item<float>() != 0.0F) {
    outcome = StepOutcome::kSkipped;
  } else if (iteration.found_inf.defined()) {
    optimizer.update(HostUpdate{});
    outcome = StepOutcome::kApplied;
  }
  iteration.stage = Stage::kStepped;
  return outcome;
}

void GradScaler::update() {
  if (!enabled_) {
    return;
  }
  require_scaled("update");
  const at::NoGradGuard no_grad;
  at::Tensor found_inf;
  bool any_optimizer = false;
  for (const auto& [optimizer, iteration] : iterations_) {
    any_optimizer = any_optimizer || iteration.stage != Stage::kReady;
    if (iteration.found_inf.defined()) {
      found_inf =
          found_inf.defined() ? at::maximum(found_inf, iteration.found_inf) : iteration.found_inf;
    }
  }
  require(any_optimizer,
          "[amp.update] neither step() nor unscale_() was called since the last update(); call "
          "step() first");
  end_iteration();
  if (!found_inf.defined()) {
    return;
  }
  update_device_loss_scale(options_, state_.device, found_inf);
  skips_in_row_.add_(1.0).mul_(found_inf);
  if (skips_in_row_.is_cpu()) {
    require<Error>(!is_stuck({.in_row = skips_in_row()}),
                   "[amp.update] gradients were not finite {} times in a row, the scale is {}: "
                   "training has diverged; lower the learning rate or look at the data",
                   skips_in_row(), get_scale());
  }
}

void GradScaler::update(double new_scale) {
  if (!enabled_) {
    return;
  }
  require_scaled("update");
  require(new_scale >= options_.min_scale && new_scale <= options_.max_scale,
          "[amp.update] new_scale={}, expected between min_scale={} and max_scale={}", new_scale,
          options_.min_scale, options_.max_scale);
  state_.device.loss_scale.fill_(new_scale);
  end_iteration();
}

void GradScaler::update(const at::Tensor& new_scale) {
  if (!enabled_) {
    return;
  }
  require_scaled("update");
  require(new_scale.defined() && new_scale.numel() == 1 && new_scale.is_floating_point() &&
              !new_scale.requires_grad(),
          "[amp.update] new_scale is no single floating-point number, or requires a gradient");
  state_.device.loss_scale.copy_(new_scale.reshape({}), /*non_blocking=*/true)
      .clamp_(options_.min_scale, options_.max_scale);
  end_iteration();
}

double GradScaler::get_scale() const {
  return enabled_ ? state_.device.loss_scale.item<double>() : 1.0;
}

int64_t GradScaler::skips_in_row() const {
  return enabled_ ? static_cast<int64_t>(skips_in_row_.item<float>()) : 0;
}

void GradScaler::set_options(const LossScaleOptions& options) {
  check(options);
  options_ = options;
}

void GradScaler::set_growth_factor(double factor) {
  LossScaleOptions options = options_;
  options.growth_factor = factor;
  set_options(options);
}

void GradScaler::set_backoff_factor(double factor) {
  LossScaleOptions options = options_;
  options.backoff_factor = factor;
  set_options(options);
}

void GradScaler::set_growth_interval(int64_t interval) {
  LossScaleOptions options = options_;
  options.growth_interval = interval;
  set_options(options);
}

GradScalerState GradScaler::state_dict() const {
  if (!enabled_) {
    return {};
  }
  return {{"scale", get_scale()},
          {"growth_factor", options_.growth_factor},
          {"backoff_factor", options_.backoff_factor},
          {"growth_interval", static_cast<double>(options_.growth_interval)},
          {"_growth_tracker", state_.device.growth_tracker.item<double>()}};
}

void GradScaler::load_state_dict(const GradScalerState& state) {
  if (!enabled_) {
    return;
  }
  require(
      !state.empty(),
      "[amp.load_state_dict] the state is empty: it was saved by a disabled scaler; start with a "
      "new scaler");
  const GradScalerState known = state_dict();
  for (const auto& [name, value] : known) {
    require(state.count(name) > 0, "[amp.load_state_dict] {} is missing", quote(name));
  }
  for (const auto& [name, value] : state) {
    require(known.count(name) > 0, "[amp.load_state_dict] {} is unknown", quote(name));
    const bool is_count = name == "growth_interval" || name == "_growth_tracker";
    require(!is_count || (value >= 0.0 && value < 2147483648.0 && value == std::floor(value)),
            "[amp.load_state_dict] {}={}, expected a whole number >= 0 and below 2^31", name,
            value);
  }
  LossScaleOptions options = options_;
  options.initial = state.at("scale");
  options.growth_factor = state.at("growth_factor");
  options.backoff_factor = state.at("backoff_factor");
  options.growth_interval = static_cast<int64_t>(state.at("growth_interval"));
  set_options(options);
  state_.device.loss_scale.fill_(options_.initial);
  state_.device.growth_tracker.fill_(state.at("_growth_tracker"));
  skips_in_row_.zero_();
  end_iteration();
}

}  // namespace libtrain
