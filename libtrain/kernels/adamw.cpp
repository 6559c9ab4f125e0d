#include "libtrain/kernels/adamw.hpp"

#include <math.h>

#include "libtrain/kernels/isa_kernels.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// What every element needs, worked out in double.
struct Factors {
  explicit Factors(const AdamWArgs& args)
      : grad(args.maximize ? -args.grad_multiplier : args.grad_multiplier),
        grad_decay(static_cast<float>(args.decoupled_weight_decay ? 0.0 : args.weight_decay)),
        keep(static_cast<float>(args.decoupled_weight_decay ? 1.0 - args.lr * args.weight_decay
                                                            : 1.0)),
        from_grad(args.beta1 <= 0.5),
        lerp(static_cast<float>(from_grad ? -args.beta1 : 1.0 - args.beta1)),
        beta2(static_cast<float>(args.beta2)),
        square(static_cast<float>(1.0 - args.beta2)),
        root_correction(
            static_cast<float>(sqrt(1.0 - pow(args.beta2, static_cast<double>(args.step))))),
        eps(static_cast<float>(args.eps)),
        step_size(
            static_cast<float>(args.lr / (1.0 - pow(args.beta1, static_cast<double>(args.step))))) {
  }

  float grad;
  float grad_decay;
  float keep;
  bool from_grad;  ///< as torch.lerp: start at the nearer end
  float lerp;
  float beta2;
  float square;
  float root_correction;
  float eps;
  float step_size;
};

template <bool kAmsgrad, bool kZeroGrad>
void update(float* __restrict param, float* __restrict grad, float* __restrict exp_avg,
            float* __restrict exp_avg_sq, float* __restrict max_exp_avg_sq, int64_t count,
            const Factors f) {
  for (int64_t i = 0; i < count; ++i) {
    const float old = param[i];
    const float scaled = grad[i] * f.grad;
    const float g = f.grad_decay != 0 ? scaled + f.grad_decay * old : scaled;
    const float m = (f.from_grad ? g : exp_avg[i]) + f.lerp * (g - exp_avg[i]);
    const float v = exp_avg_sq[i] * f.beta2 + f.square * g * g;
    float largest = v;
    if constexpr (kAmsgrad) {
      const float before = max_exp_avg_sq[i];
      largest = v < before || before != before ? before : v;  // a NaN stays
      max_exp_avg_sq[i] = largest;
    }
    const float denominator = __builtin_sqrtf(largest) / f.root_correction + f.eps;
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    param[i] = old * f.keep - f.step_size * m / denominator;
    if constexpr (kZeroGrad) {
      grad[i] = 0.0F;
    }
  }
}

}  // namespace

void adamw_f32(float* param, float* grad, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
               int64_t count, const AdamWArgs& args) {
  const Factors factors(args);
  if (args.amsgrad) {
    (args.zero_grad ? update<true, true> : update<true, false>)(param, grad, exp_avg, exp_avg_sq,
                                                                max_exp_avg_sq, count, factors);
  } else {
    (args.zero_grad ? update<false, true> : update<false, false>)(param, grad, exp_avg, exp_avg_sq,
                                                                  nullptr, count, factors);
  }
}

}  // namespace libtrain::kernels::LT_ISA
