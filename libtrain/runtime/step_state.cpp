#include "libtrain/runtime/step_state.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace libtrain {

StepState::StepState(at::Device where, bool on_device) {
  if (!on_device) {
    return;
  }
  const auto numbers = at::TensorOptions().device(where);
  device.loss_scale = at::full({}, host.loss_scale, numbers.dtype(at::kFloat));
  device.growth_tracker = at::zeros({}, numbers.dtype(at::kInt));
  device.found_inf = at::zeros({}, numbers.dtype(at::kFloat));
  device.grad_norm = at::zeros({}, numbers.dtype(at::kFloat));
  device.applied_steps = at::zeros({}, numbers.dtype(at::kLong));
}

void StepState::read() {
  if (!on_device()) {
    return;
  }
  const at::Tensor values =
      at::stack({device.loss_scale.to(at::kDouble), device.growth_tracker.to(at::kDouble),
                 device.found_inf.to(at::kDouble), device.grad_norm.to(at::kDouble),
                 device.applied_steps.to(at::kDouble)})
          .cpu();
  const double* value = values.const_data_ptr<double>();
  host = {.loss_scale = value[0],
          .growth_tracker = static_cast<int64_t>(value[1]),
          .found_inf = value[2] != 0.0,
          .grad_norm = value[3],
          .applied_steps = static_cast<int64_t>(value[4])};
}

}  // namespace libtrain
