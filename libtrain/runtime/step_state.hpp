#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "libtrain/core/api.hpp"

namespace libtrain {

/// The values of a training step that decide or report something, as plain numbers. On the CPU this
/// is all there is.
struct HostStepState {
  double loss_scale = 1.0;
  int64_t growth_tracker = 0;  ///< finite steps since the scale last changed
  bool found_inf = false;      ///< a gradient of this step is not finite
  double grad_norm = 0.0;      ///< L2 norm of the unscaled gradients, before clipping
  int64_t applied_steps = 0;   ///< updates that moved the weights: index into the lr table
};

/// The same values as tensors on a device, so that no step waits for it. Undefined on the CPU.
struct DeviceStepState {
  at::Tensor loss_scale;      ///< fp32 []
  at::Tensor growth_tracker;  ///< int32 []
  at::Tensor found_inf;       ///< fp32 [], 0 or 1
  at::Tensor grad_norm;       ///< fp32 []
  at::Tensor applied_steps;   ///< int64 []
};

/// The one truth of a step; scaler, clipping, optimizer, schedule and report read and write it.
struct LT_API StepState {
  StepState() = default;
  /// Tensors are made when `on_device`; the CPU may be the device, which is how the device path is
  /// tested without one.
  StepState(at::Device device, bool on_device);

  bool on_device() const { return device.loss_scale.defined(); }
  /// Copies the device's values into `host`: waits for the device. No effect on the CPU.
  void read();

  HostStepState host;
  DeviceStepState device;
};

}  // namespace libtrain
