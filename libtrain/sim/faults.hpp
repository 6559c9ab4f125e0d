#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string_view>

#include "libtrain/core/api.hpp"

namespace libtrain::sim {

/// What is counted until a fault comes.
enum class FaultPoint { kOperator, kCopy, kAllocation };

enum class Fault {
  kDeviceError,  ///< DeviceError, and from then on at all that is asked of the device
  kOutOfMemory,  ///< c10::OutOfMemoryError, once
  kNotFinite,    ///< what is written, where it has a floating-point dtype, becomes NaN
};

/// Makes the `n`-th operator, copy or allocation of a device from now on fail; 1 is the next.
/// Replaces what was planned for this device.
/// @throws InvalidOption for n < 1, a device that does not exist, or kNotFinite of an allocation.
LT_API void fail_at(FaultPoint point, int64_t n, Fault fault, c10::DeviceIndex device = 0);

/// Nothing fails any more; lost devices work again.
LT_API void clear_faults();

/// Counts one, called `what`. True where its result is to become NaN. @throws what was planned, and
/// DeviceError on a device that is lost.
bool fault_due(FaultPoint point, std::string_view what, c10::DeviceIndex device);

/// @throws DeviceError on a device that is lost.
void require_not_lost(std::string_view what, c10::DeviceIndex device);

}  // namespace libtrain::sim
