#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>

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

/// Lets a device hold `bytes` at most: an allocation beyond it throws c10::OutOfMemoryError. At
/// first the limit is this machine's memory. What is already allocated stays.
/// @throws InvalidOption for a device that does not exist or a negative size.
LT_API void set_memory_limit(c10::DeviceIndex device, int64_t bytes);

/// From now on (or no longer) a race says where in the program its two uses were made: some 2 µs an
/// operator. Off at first.
LT_API void record_places(bool on);

/// Tells the books that the host is about to read or write a pinned tensor by its address, which no
/// operator shows. Tensors that are not pinned are left out. `what` must outlive the process: a
/// literal.
LT_API void note_host_read(const at::Tensor& tensor, const char* what);
LT_API void note_host_write(const at::Tensor& tensor, const char* what);

}  // namespace libtrain::sim
