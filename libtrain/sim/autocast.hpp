#pragma once

namespace libtrain::sim {

/// Registers autocast for the device: LibTorch's lists for CUDA, each operator by its policy there.
/// Once a process.
void register_autocast();

}  // namespace libtrain::sim
