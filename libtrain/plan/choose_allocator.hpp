#pragma once

#include "libtrain/core/api.hpp"
#include "libtrain/facts/host.hpp"
#include "libtrain/facts/launch.hpp"
#include "libtrain/plan/plan.hpp"
#include "libtrain/plan/request.hpp"

namespace libtrain {

/// CPU with glibc: malloc thresholds that keep freed tensors mapped, 2 to 18 % of a step (median
/// 12 %, LibTorch 2.15 on Zen 4; the same gain by M_MMAP_THRESHOLD and M_TRIM_THRESHOLD as by
/// another malloc). CUDA on Linux: expandable_segments, which end fragmentation (PyTorch, CUDA
/// semantics, "Optimizing memory usage"); not under WSL, which lacks the driver calls, and not over
/// a PYTORCH_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF that the user set. Neither can be undone, so a
/// host process that did not allow process settings gets them only when asked.
///
/// Throws Unsupported for a setting that this device or system lacks.
LT_API Decision<AllocatorSetting> choose_allocator(const Request<AllocatorSetting>& asked,
                                                   DeviceType device, const HostFacts& host,
                                                   const LaunchFacts& launch,
                                                   bool allow_process_settings);

}  // namespace libtrain
