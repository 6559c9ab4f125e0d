#pragma once

#include <cstdint>

namespace libtrain::kernels {

/// The bits of a bfloat16; same layout as c10::BFloat16.
struct BFloat16 {
  uint16_t bits;
};

}  // namespace libtrain::kernels
