#include "libtrain/kernels/gelu.hpp"

#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// An odd function f of x: f(x) = x * c(x^2 - centre), coefficients of c lowest power first. They
/// are minimax fits to double for x^2 up to 2 * centre, printed by tools/fit_gelu.py; about the
/// centre, their alternating signs cost no accuracy.
template <int kCount>
struct OddFunction {
  float centre;
  float coefficients[kCount];

  /// f(x) + 1/2, v being x^2 - centre.
  [[gnu::always_inline]] inline Floats half_more(Floats x, Floats v) const {
    const Floats square = v * v;
    Floats y[2];  // the even powers' sum and the odd ones': two short chains beside each other
    y[(kCount - 1) % 2] = Floats{} + coefficients[kCount - 1];
    y[kCount % 2] = Floats{} + coefficients[kCount - 2];
#pragma GCC unroll 32
    for (int i = kCount - 3; i >= 0; --i) {
      y[i % 2] = y[i % 2] * square + coefficients[i];
    }
    return x * (y[1] * v + y[0]) + 0.5F;
  }
};

/// P(x) - 1/2, to 2.8e-8 for |x| up to 5.4, where 1 - P is 3.3e-8.
constexpr OddFunction<15> kDistribution{
    14.58F,
    {0.130928114F, -0.00448066229F, 0.000228151344F, -1.26499544e-05F, 7.10721395e-07F,
     -3.90777757e-08F, 2.045079e-09F, -9.96979027e-11F, 4.72629661e-12F, -2.25553801e-13F,
     8.42903323e-15F, -1.87457285e-16F, 9.48168433e-18F, -7.64365396e-19F, 2.00276825e-20F}};

/// P(x) + x P'(x) - 1/2, to 6.4e-8 for |x| up to 6, where it is 1/2 + 3.6e-8.
constexpr OddFunction<18> kDerivative{
    18.0F,
    {0.117897771F, -0.00329681463F, 0.000142146528F, -7.26566395e-06F, 4.25042913e-07F,
     -2.68928293e-08F, 1.70523606e-09F, -1.06396426e-10F, 6.41121878e-12F, -3.16436032e-13F,
     1.20176137e-14F, -6.60052965e-16F, 4.49477008e-17F, -1.24605826e-18F, -1.42496352e-20F,
     -3.92830466e-22F, 1.13813759e-22F, -2.66252605e-24F}};
constexpr float kDerivativeLimit = 6.0F;

/// Beyond the fit's end c stays what it is there, x * c grows past 1/2, and P is 0 or 1 exactly.
[[gnu::always_inline]] inline Floats gelu(Floats x) {
  constexpr float kCentre = kDistribution.centre;
  const Floats p = kDistribution.half_more(x, minimum(Floats{} + kCentre, x * x - kCentre));
  return x * maximum(Floats{}, minimum(Floats{} + 1.0F, p));
}

[[gnu::always_inline]] inline Floats derivative(Floats x) {
  const Floats below = minimum(x, Floats{} + kDerivativeLimit);  // or NaN
  const Floats inside = maximum(below, Floats{} - kDerivativeLimit);
  return kDerivative.half_more(inside, inside * inside - kDerivative.centre);
}

/// 2 * kLanes numbers in whichever order is cheapest: what works on each alone needs no other.
struct Pair {
  Floats first;
  Floats second;
};

[[gnu::always_inline]] inline Pair load_pair(const float* address) {
  return {load<Floats>(address), load<Floats>(address + kLanes)};
}
[[gnu::always_inline]] inline void store_pair(float* address, Pair pair) {
  store(address, pair.first);
  store(address + kLanes, pair.second);
}

/// The even numbers and the odd ones.
[[gnu::always_inline]] inline Pair load_pair(const BFloat16* address) {
  const Words both = load<Words>(address);
  return {Floats(both << 16), Floats(both & 0xFFFF0000U)};
}

/// fp32's bits plus what makes the upper half the nearest bf16, ties to even. A NaN stays one: here
/// it comes from a bf16 or is the CPU's own, and the lower half of either is 0.
[[gnu::always_inline]] inline Words rounded(Floats x) {
  const Words bits = Words(x);
  return bits + 0x7FFF + ((bits >> 16) & 1);
}
[[gnu::always_inline]] inline void store_pair(BFloat16* address, Pair pair) {
  store(address, (rounded(pair.first) >> 16) | (rounded(pair.second) & 0xFFFF0000U));
}

/// body(in, out) for 2 * kLanes numbers at a time of each array, the last ones in a copy padded
/// with zeros.
template <class T, class Body>
[[gnu::always_inline]] inline void for_pairs(const T* a, const T* b, T* out, int64_t count,
                                             const Body& body) {
  constexpr int64_t kStep = 2 * kLanes;
  int64_t done = 0;
  for (; count - done >= kStep; done += kStep) {
    store_pair(out + done, body(load_pair(a + done), load_pair(b + done)));
  }
  if (done < count) {
    T rest_a[kStep] = {};
    T rest_b[kStep] = {};
    for (int64_t i = 0; done + i < count; ++i) {
      rest_a[i] = a[done + i];
      rest_b[i] = b[done + i];
    }
    store_pair(rest_a, body(load_pair(rest_a), load_pair(rest_b)));
    for (int64_t i = 0; done + i < count; ++i) {
      out[done + i] = rest_a[i];
    }
  }
}

template <class T>
void forward(const T* in, T* out, int64_t count) {
  for_pairs(
      in, in, out, count, [](Pair x, Pair) __attribute__((always_inline)) {
        return Pair{gelu(x.first), gelu(x.second)};
      });
}

template <class T>
void backward(const T* grad_out, const T* in, T* grad_in, int64_t count) {
  for_pairs(
      grad_out, in, grad_in, count, [](Pair grad, Pair x) __attribute__((always_inline)) {
        return Pair{grad.first * derivative(x.first), grad.second * derivative(x.second)};
      });
}

}  // namespace

void gelu_forward_f32(const float* in, float* out, int64_t count) { forward(in, out, count); }

void gelu_forward_bf16(const BFloat16* in, BFloat16* out, int64_t count) {
  forward(in, out, count);
}

void gelu_backward_f32(const float* grad_out, const float* in, float* grad_in, int64_t count) {
  backward(grad_out, in, grad_in, count);
}

void gelu_backward_bf16(const BFloat16* grad_out, const BFloat16* in, BFloat16* grad_in,
                        int64_t count) {
  backward(grad_out, in, grad_in, count);
}

}  // namespace libtrain::kernels::LT_ISA
