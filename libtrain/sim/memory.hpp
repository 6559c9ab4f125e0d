#pragma once

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>

#include <string_view>

#include "libtrain/sim/block.hpp"

namespace libtrain::sim {

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
