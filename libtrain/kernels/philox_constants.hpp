#pragma once

#include <cstdint>

namespace libtrain::kernels {

// Table 2 and section 3.3 of the paper named in random.hpp; the Weyl steps are the golden ratio's
// and sqrt(3) - 1's first 32 bits.
constexpr int kPhiloxRounds = 10;
constexpr uint32_t kPhiloxMultiplier0 = 0xD2511F53;
constexpr uint32_t kPhiloxMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kPhiloxWeyl0 = 0x9E3779B9;
constexpr uint32_t kPhiloxWeyl1 = 0xBB67AE85;

}  // namespace libtrain::kernels
