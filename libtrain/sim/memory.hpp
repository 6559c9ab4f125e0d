#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <string_view>

#include "libtrain/core/api.hpp"
#include "libtrain/sim/block.hpp"

namespace libtrain::sim {

/// Lets a device hold `bytes` at most: an allocation beyond it throws c10::OutOfMemoryError. At
/// first the limit is this machine's memory. What is already allocated stays.
/// @throws InvalidOption for a device that does not exist or a negative size.
LT_API void set_memory_limit(c10::DeviceIndex device, int64_t bytes);

/// The allocator of all simulated devices. Every allocation is the host allocator's own, rounded up
/// to 512 bytes in the statistics as CUDA's is; freed memory goes back at once, so nothing is
/// cached.
c10::DeviceAllocator* device_allocator();

/// Puts memory that a CPU operator has returned under `stream`'s device, which gave it out for
/// `op`.
/// @throws c10::OutOfMemoryError as an allocation would.
c10::DataPtr adopt(c10::Storage memory, std::string_view op, const c10::Stream& stream);

/// The CPU's storage over the bytes of a simulated one.
c10::Storage host_memory(const c10::Storage& storage);

/// The books of memory that this allocator gave out; null for any other.
Block* device_block(const c10::DataPtr& memory);

}  // namespace libtrain::sim
