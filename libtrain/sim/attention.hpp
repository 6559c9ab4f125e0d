#pragma once

namespace libtrain::sim {

/// Has scaled_dot_product_attention choose on the device as it does on the CPU, whose kernels it
/// then runs: flash attention without dropout, else plain matrix products. Once a process.
void register_attention();

}  // namespace libtrain::sim
