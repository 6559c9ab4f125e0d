#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"

namespace libtrain::kernels {

/// One step of Adam or AdamW over count contiguous fp32 elements, with unscaling, clipping and
/// zeroing of the gradient in the same pass. Formulas: torch.optim.Adam / AdamW documentation.
struct AdamWArgs {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool decoupled_weight_decay = true;  ///< AdamW; false: Adam, decay added to the gradient
  bool amsgrad = false;
  bool maximize = false;
  int64_t step = 1;              ///< this step's number, from 1: bias corrections 1 - beta^step
  float grad_multiplier = 1.0F;  ///< clip coefficient / loss scale
  bool zero_grad = false;        ///< leave zeros in the gradient instead of its value
};

/// `max_exp_avg_sq` is null unless amsgrad. A null `grad` stands for zeros, and costs less than
/// they would. On x86, state below the smallest normal number (1.2e-38) becomes 0: a moment decays
/// into that range when its gradient stays 0, and arithmetic there is a hundred times slower.
/// AdamWBF16 takes a bf16 gradient and computes as with its fp32 value.
using AdamWF32 = void (*)(float* param, float* grad, float* exp_avg, float* exp_avg_sq,
                          float* max_exp_avg_sq, int64_t count, const AdamWArgs& args);
using AdamWBF16 = void (*)(float* param, BFloat16* grad, float* exp_avg, float* exp_avg_sq,
                           float* max_exp_avg_sq, int64_t count, const AdamWArgs& args);

}  // namespace libtrain::kernels
