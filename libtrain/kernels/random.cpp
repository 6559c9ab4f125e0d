#include "libtrain/kernels/random.hpp"

#include <cmath>

#include "libtrain/kernels/philox_constants.hpp"

namespace libtrain::kernels {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const uint64_t product0 = uint64_t{kPhiloxMultiplier0} * counter[0];
    const uint64_t product1 = uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

uint64_t dropout_threshold(double probability) {
  return static_cast<uint64_t>(std::nearbyint(probability * 0x1p32));
}

}  // namespace libtrain::kernels
