#pragma once

#include "libtrain/kernels/vector.hpp"

namespace libtrain::kernels::LT_ISA {

/// e^x to 2 ulp for x <= 88; 0 where the result would be below the smallest normal number; NaN for
/// NaN. Range reduction and polynomial: Cephes expf (S. Moshier, netlib.org/cephes).
[[gnu::always_inline]] inline Floats exponential(Floats x) {
  constexpr float kSmallest = -87.33654F;  // ln 2^-126
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves the integer in the low bits
  const Floats shifted = x * 1.44269504F + kRound;
  const Floats power = shifted - kRound;
  const Floats r = (x - power * 0.693359375F) + power * 2.12194440e-4F;
  Floats y = r * 1.9875691500e-4F + 1.3981999507e-3F;
  y = y * r + 8.3334519073e-3F;
  y = y * r + 4.1665795894e-2F;
  y = y * r + 1.6666665459e-1F;
  y = y * r + 5.0000001201e-1F;
  y = y * (r * r) + r + 1.0F;
  const Floats scale = Floats((Words(shifted) << 23) + 0x3F800000U);
  return Floats(Words(y * scale) & ~Words(x < kSmallest));
}

}  // namespace libtrain::kernels::LT_ISA
