#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// What processes talk through: none where there is one; Gloo on CPUs; NCCL on GPUs, but Gloo for
/// MIG instances with an NCCL before 2.32, which takes no two instances of one GPU (NCCL release
/// notes; nccl issue 1716).
///
/// Throws Unsupported for NCCL on the CPU, and for none where there are several processes.
LT_API Decision<CommBackend> choose_backend(const Request<CommBackend>& asked,
                                            const DeviceChoice& device,
                                            const MachineFacts& machine);

}  // namespace libtrain
