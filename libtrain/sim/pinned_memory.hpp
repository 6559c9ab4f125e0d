#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Tensor.h>

#include "libtrain/sim/block.hpp"

namespace libtrain::sim {

/// The allocator of pinned host memory. It knows its buffers: which streams read and write them,
/// and, from the operators that the host runs on them, where the host does.
at::HostAllocator* pinned_allocator();

/// The books of pinned memory; null for any other.
Block* pinned_block(const c10::DataPtr& memory);

bool is_pinned(const void* data);

}  // namespace libtrain::sim
