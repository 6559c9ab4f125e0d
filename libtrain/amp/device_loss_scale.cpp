#include "libtrain/amp/device_loss_scale.hpp"

#include <ATen/ops/_amp_update_scale.h>

namespace libtrain {

void update_device_loss_scale(const LossScaleOptions& options, DeviceStepState& state,
                              const at::Tensor& found_inf) {
  at::_amp_update_scale_(state.loss_scale, state.growth_tracker, found_inf, options.growth_factor,
                         options.backoff_factor, options.growth_interval);
  state.loss_scale.clamp_(options.min_scale, options.max_scale);
}

}  // namespace libtrain
