#include "libtrain/kernels/adamw.hpp"

#include <math.h>

#include "libtrain/kernels/flush_denormals.hpp"
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
            static_cast<float>(1.0 / sqrt(1.0 - pow(args.beta2, static_cast<double>(args.step))))),
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

enum class Gradient { kKept, kZeroed, kZeros };

[[gnu::always_inline]] inline float as_float(float x) { return x; }
[[gnu::always_inline]] inline float as_float(BFloat16 x) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(x.bits) << 16);
}

template <bool kAmsgrad, Gradient kGradient, class G>
[[gnu::noinline]] void update(float* __restrict param, G* __restrict grad,
                              float* __restrict exp_avg, float* __restrict exp_avg_sq,
                              float* __restrict max_exp_avg_sq, int64_t count, const Factors f) {
  for (int64_t i = 0; i < count; ++i) {
    const float old = param[i];
    const float scaled = kGradient == Gradient::kZeros ? 0.0F : as_float(grad[i]) * f.grad;
    const float g = f.grad_decay != 0 ? scaled + f.grad_decay * old : scaled;
    const float m = (f.from_grad ? g : exp_avg[i]) + f.lerp * (g - exp_avg[i]);
    const float v = exp_avg_sq[i] * f.beta2 + f.square * g * g;
    float largest = v;
    if constexpr (kAmsgrad) {
      const float before = max_exp_avg_sq[i];
      largest = v < before || before != before ? before : v;  // a NaN stays
      max_exp_avg_sq[i] = largest;
    }
    const float denominator = __builtin_sqrtf(largest) * f.root_correction + f.eps;
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    param[i] = old * f.keep - f.step_size * m / denominator;
    if constexpr (kGradient == Gradient::kZeroed) {
      grad[i] = G{};
    }
  }
}

bool all_zero(const float* x, int64_t count) {
  uint32_t set = 0;
  for (int64_t i = 0; i < count; ++i) {
    set |= __builtin_bit_cast(uint32_t, x[i]);
  }
  return set == 0;
}

/// The gradient is 0. Where it has always been, as in the rows of an embedding that no batch has
/// touched, only decoupled weight decay moves a parameter, and the state is not written.
template <bool kAmsgrad>
void update_by_zeros(float* param, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
                     int64_t count, const Factors& f) {
  constexpr int64_t kBlock = 256;
  const bool may_rest = f.grad_decay == 0 && f.eps > 0;
  for (int64_t first = 0; first < count; first += kBlock) {
    const int64_t block = count - first < kBlock ? count - first : kBlock;
    if (may_rest && all_zero(exp_avg + first, block) && all_zero(exp_avg_sq + first, block)) {
      if (f.keep != 1) {
        for (int64_t i = first; i < first + block; ++i) {
          param[i] *= f.keep;
        }
      }
      continue;
    }
    update<kAmsgrad, Gradient::kZeros, float>(
        param + first, nullptr, exp_avg + first, exp_avg_sq + first,
        kAmsgrad ? max_exp_avg_sq + first : nullptr, block, f);
  }
}

template <bool kAmsgrad, class G>
void choose(float* param, G* grad, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
            int64_t count, const AdamWArgs& args) {
  const Factors factors(args);
  if (grad == nullptr) {
    update_by_zeros<kAmsgrad>(param, exp_avg, exp_avg_sq, max_exp_avg_sq, count, factors);
  } else if (args.zero_grad) {
    update<kAmsgrad, Gradient::kZeroed>(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, count,
                                        factors);
  } else {
    update<kAmsgrad, Gradient::kKept>(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, count,
                                      factors);
  }
}

template <class G>
void adamw(float* param, G* grad, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
           int64_t count, const AdamWArgs& args) {
  const FlushDenormals flush;
  (args.amsgrad ? choose<true, G> : choose<false, G>)(param, grad, exp_avg, exp_avg_sq,
                                                      max_exp_avg_sq, count, args);
}

}  // namespace

void adamw_f32(float* param, float* grad, float* exp_avg, float* exp_avg_sq, float* max_exp_avg_sq,
               int64_t count, const AdamWArgs& args) {
  adamw(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, count, args);
}

void adamw_bf16(float* param, BFloat16* grad, float* exp_avg, float* exp_avg_sq,
                float* max_exp_avg_sq, int64_t count, const AdamWArgs& args) {
  adamw(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, count, args);
}

}  // namespace libtrain::kernels::LT_ISA
