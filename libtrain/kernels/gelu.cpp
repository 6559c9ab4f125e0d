#include "libtrain/kernels/gelu.hpp"

#include "libtrain/kernels/isa_kernels.hpp"
#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {
namespace {

/// An odd function f of x on [-limit, limit]: f(x) = x * c(t), with t = 2 x^2 / limit^2 - 1 and the
/// coefficients c lowest power first. They are minimax fits to double (Lawson's iteration on
/// Chebyshev points in t, weight |x|), rounded to fp32; centred in t, their alternating signs cost
/// no accuracy. tools/fit_gelu.py prints them.
template <int kCount>
struct OddFunction {
  float limit;
  float coefficients[kCount];

  [[gnu::always_inline]] inline Floats over_x(Floats square) const {
    const Floats t = square * (2.0F / (limit * limit)) - 1.0F;
    Floats y = Floats{} + coefficients[kCount - 1];
#pragma GCC unroll 32
    for (int i = kCount - 2; i >= 0; --i) {
      y = y * t + coefficients[i];
    }
    return y;
  }
};

/// P(x) - 1/2, to 2.8e-8; 1 - P(limit) is 3.3e-8.
constexpr OddFunction<15> kDistribution{
    5.4F,
    {0.130928114F, -0.0653280541F, 0.0484995916F, -0.039206814F, 0.0321165957F, -0.0257464573F,
     0.0196451452F, -0.0139633212F, 0.00965119805F, -0.00671533868F, 0.00365892122F, -0.0011864109F,
     0.000874935125F, -0.00102836895F, 0.000392858492F}};

/// P(x) + x P'(x) - 1/2, to 6.4e-8; at the limit it is 1/2 + 3.6e-8.
constexpr OddFunction<18> kDerivative{
    6.0F,
    {0.117897771F, -0.0593426637F, 0.0460554734F, -0.0423733518F, 0.0446193069F, -0.0508158319F,
     0.0579988696F, -0.0651380271F, 0.0706513748F, -0.0627680272F, 0.0429084934F, -0.0424205549F,
     0.0519969128F, -0.0259466264F, -0.00534095382F, -0.00265028607F, 0.0138214892F,
     -0.00582004664F}};

/// Beyond the limit x * over_x grows past 1/2, so that P becomes 0 or 1 exactly.
[[gnu::always_inline]] inline Floats gelu(Floats x) {
  constexpr float kLimit = kDistribution.limit;
  const Floats square = minimum(Floats{} + kLimit * kLimit, x * x);
  const Floats p = x * kDistribution.over_x(square) + 0.5F;
  return x * maximum(Floats{}, minimum(Floats{} + 1.0F, p));
}

[[gnu::always_inline]] inline Floats derivative(Floats x) {
  constexpr float kLimit = kDerivative.limit;
  const Floats inside = maximum(minimum(x, Floats{} + kLimit), Floats{} - kLimit);  // or NaN
  return inside * kDerivative.over_x(inside * inside) + 0.5F;
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
