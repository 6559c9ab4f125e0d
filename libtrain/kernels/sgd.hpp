#pragma once

#include <cstdint>

namespace libtrain::kernels {

/// One step of SGD over count contiguous fp32 elements (torch.optim.SGD documentation).
struct SgdArgs {
  double lr = 1e-3;
  double momentum = 0.0;
  double dampening = 0.0;
  double weight_decay = 0.0;
  bool nesterov = false;
  bool maximize = false;
  bool first_step = false;       ///< the momentum buffer starts as the gradient
  float grad_multiplier = 1.0F;  ///< clip coefficient / loss scale
  bool zero_grad = false;
};

/// `momentum_buffer` is null when momentum is 0.
using SgdF32 = void (*)(float* param, float* grad, float* momentum_buffer, int64_t count,
                        const SgdArgs& args);

}  // namespace libtrain::kernels
