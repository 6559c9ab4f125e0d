#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/policy/loss_scale.hpp"
#include "libtrain/runtime/step_state.hpp"

namespace libtrain {

/// next() of policy/loss_scale.hpp for a scale that lives on a device, without waiting for it:
/// `found_inf` is fp32 [] of 0 or 1 there.
LT_API void update_device_loss_scale(const LossScaleOptions& options, DeviceStepState& state,
                                     const at::Tensor& found_inf);

}  // namespace libtrain
