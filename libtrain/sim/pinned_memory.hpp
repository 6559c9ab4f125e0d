#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Tensor.h>

#include "libtrain/core/api.hpp"
#include "libtrain/sim/block.hpp"

namespace libtrain::sim {

/// The allocator of pinned host memory. It knows its buffers: which streams read and write them,
/// and, from the operators that the host runs on them, where the host does.
at::HostAllocator* pinned_allocator();

/// The books of pinned memory; null for any other.
Block* pinned_block(const c10::DataPtr& memory);

bool is_pinned(const void* data);

/// Tells the books that the host is about to read or write a pinned tensor by its address, which no
/// operator shows. Tensors that are not pinned are left out. `what` must outlive the process: a
/// literal.
LT_API void note_host_read(const at::Tensor& tensor, const char* what);
LT_API void note_host_write(const at::Tensor& tensor, const char* what);

}  // namespace libtrain::sim
