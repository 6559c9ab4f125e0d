#pragma once

#include <c10/core/Device.h>

#include "libtrain/core/api.hpp"

namespace libtrain::sim {

/// Makes `devices` simulated accelerators, `sim:0` and on, LibTorch's PrivateUse1 backend of this
/// process. Call it before the first backward pass: LibTorch starts a thread a device then, for
/// good. A second call with the same number does nothing. Loading this library alone changes
/// nothing.
/// @throws InvalidOption unless 1 <= devices <= 8, and for another number than before;
/// Unsupported where another PrivateUse1 backend is registered.
LT_API void enable(int devices = 1);

/// `sim:index`. @throws InvalidOption unless it exists.
LT_API c10::Device device(c10::DeviceIndex index = 0);

}  // namespace libtrain::sim
