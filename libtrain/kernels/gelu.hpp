#pragma once

#include <cstdint>

#include "libtrain/kernels/bfloat16.hpp"

namespace libtrain::kernels {

/// out = x * P(x), with P the normal distribution function (Hendrycks, Gimpel, arXiv:1606.08415).
/// Within 4 * 2^-24 * |x| of that, arithmetic being fp32; bf16 is that, rounded to nearest even.
/// `in` may be `out`.
template <class T>
using GeluForward = void (*)(const T* in, T* out, int64_t count);

/// grad_in = grad_out * (P(x) + x * P'(x)), the second factor within 16 * 2^-24. `grad_in` may be
/// `grad_out`.
template <class T>
using GeluBackward = void (*)(const T* grad_out, const T* in, T* grad_in, int64_t count);

}  // namespace libtrain::kernels
