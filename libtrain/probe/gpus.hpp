#pragma once

#include <map>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/gpu.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

struct GpuProbe {
  GpuDriverFacts driver;
  std::vector<GpuFacts> gpus;
};

/// The NVIDIA GPUs and their driver, asked in child processes: NVML first, then the CUDA driver
/// where NVML cannot tell: when it fails without hanging, and for the order of unlike GPUs. The
/// failure of one source is never "no GPU": the kernel and the PCI bus are looked at too.
LT_API GpuProbe probe_gpus(const Sources& sources);

}  // namespace libtrain
