#pragma once

#include <optional>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/machine.hpp"
#include "libtrain/plan/plan.hpp"

namespace libtrain {

/// What later decisions need to know of the chosen device. Empty fields are unknown.
struct Target {
  DeviceType type = DeviceType::kCpu;
  std::optional<ComputeCapability> capability;
  std::optional<bool> tensor_cores;
};

/// The visible GPU with that CUDA index; null for the CPU and for an index that is not there.
LT_API const GpuFacts* find_gpu(const MachineFacts& machine, int cuda_index);

LT_API Target describe_target(const DeviceChoice& device, const MachineFacts& machine);

/// Whether the chip has tensor cores: from 7.0, but for TU116 and TU117, which report 7.5 like the
/// rest of Turing (NVIDIA Turing GPU Architecture: GTX 16 series). They are told by their PCI
/// device ids (pci.ids: 1f81 to 1fff, 2180 to 21ff), else by name (laptop and workstation names:
/// NVIDIA's product pages). Empty when the capability is unknown, and for a 7.5 of which neither is
/// known: a driver older than the card names it "Graphics Device".
LT_API std::optional<bool> has_tensor_cores(const GpuFacts& gpu);

/// Whether the GPU uses the host's memory and has none of its own: Jetson's and GB10's chips, by
/// compute capability (NVIDIA, CUDA GPU Compute Capability).
LT_API bool shares_host_memory(const GpuFacts& gpu);

/// Why the device has no TF32; empty when it has (from 8.0) and when the capability is unknown.
LT_API std::string tf32_lack(const Target& target);

}  // namespace libtrain
