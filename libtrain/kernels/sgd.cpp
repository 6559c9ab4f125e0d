#include "libtrain/kernels/sgd.hpp"

#include "libtrain/kernels/flush_denormals.hpp"
#include "libtrain/kernels/isa_kernels.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

struct Factors {
  explicit Factors(const SgdArgs& args)
      : grad(args.maximize ? -args.grad_multiplier : args.grad_multiplier),
        decay(static_cast<float>(args.weight_decay)),
        momentum(static_cast<float>(args.momentum)),
        fresh(static_cast<float>(1.0 - args.dampening)),
        lr(static_cast<float>(args.lr)) {}

  float grad;
  float decay;
  float momentum;
  float fresh;
  float lr;
};

enum class Momentum { kNone, kFirst, kPlain };

template <Momentum kMomentum, bool kNesterov, bool kZeroGrad>
void update(float* __restrict param, float* __restrict grad, float* __restrict buffer,
            int64_t count, const Factors f) {
  for (int64_t i = 0; i < count; ++i) {
    const float scaled = grad[i] * f.grad;
    const float g = f.decay != 0 ? scaled + f.decay * param[i] : scaled;
    float change = g;
    if constexpr (kMomentum != Momentum::kNone) {
      float velocity = g;
      if constexpr (kMomentum == Momentum::kPlain) {
        velocity = buffer[i] * f.momentum + f.fresh * g;
      }
      buffer[i] = velocity;
      change = kNesterov ? g + f.momentum * velocity : velocity;
    }
    param[i] -= f.lr * change;
    if constexpr (kZeroGrad) {
      grad[i] = 0.0F;
    }
  }
}

template <Momentum kMomentum, bool kNesterov>
void choose(float* param, float* grad, float* buffer, int64_t count, const SgdArgs& args) {
  (args.zero_grad ? update<kMomentum, kNesterov, true>
                  : update<kMomentum, kNesterov, false>)(param, grad, buffer, count, Factors(args));
}

}  // namespace

void sgd_f32(float* param, float* grad, float* momentum_buffer, int64_t count,
             const SgdArgs& args) {
  const FlushDenormals flush;
  const auto run =
      args.momentum == 0.0 ? choose<Momentum::kNone, false>
      : args.first_step
          ? (args.nesterov ? choose<Momentum::kFirst, true> : choose<Momentum::kFirst, false>)
      : args.nesterov ? choose<Momentum::kPlain, true>
                      : choose<Momentum::kPlain, false>;
  run(param, grad, momentum_buffer, count, args);
}

}  // namespace libtrain::kernels::LT_ISA
