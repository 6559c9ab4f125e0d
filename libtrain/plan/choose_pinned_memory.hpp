#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Whether batches wait in page-locked memory and are copied to the GPU by a stream of their own.
/// On for CUDA, since only such copies run beside kernels (CUDA C++ Programming Guide,
/// "Asynchronous Concurrent Execution"); off on the CPU, where GPU and host share their memory, and
/// under WSL, which limits it (CUDA on WSL User Guide, "Known Limitations").
LT_API Decision<bool> choose_pinned_memory(const Request<bool>& asked, const DeviceChoice& device,
                                           const MachineFacts& machine);

}  // namespace libtrain
