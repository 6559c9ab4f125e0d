#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// Threads that make batches ahead of the step. On the CPU none: the step has work for every core.
/// On CUDA up to four a process, as in PyTorch's examples (examples/imagenet/main.py, --workers),
/// of the `threads` it may use, one of which drives the GPU.
LT_API Decision<int> choose_data_workers(const Request<int>& asked, DeviceType device, int threads);

}  // namespace libtrain
