#pragma once

#include "libtrain/probe/nvml_device.hpp"

namespace libtrain {

/// Links, modes, power and memory errors of one GPU, as they are now.
void read_health(DeviceReader& reader, GpuFacts& facts);

}  // namespace libtrain
