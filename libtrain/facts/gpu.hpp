#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/facts/compute_capability.hpp"

namespace libtrain {

/// One CUDA device as this process may use it: a GPU, or one MIG instance. Empty fields are
/// unknown.
struct GpuFacts {
  std::optional<int> nvml_index;          ///< PCI order; null for what NVML does not list
  std::optional<int> cuda_index;          ///< position under CUDA_VISIBLE_DEVICES; null if hidden
  std::optional<std::string> uuid;        ///< "GPU-..." or "MIG-..."
  std::optional<std::string> pci_bus_id;  ///< "00000000:17:00.0"
  std::optional<std::string> name;        ///< "NVIDIA A100-SXM4-80GB"
  std::optional<ComputeCapability> compute_capability;
  std::optional<int> sm_count;
  std::optional<int64_t> memory_bytes;
  std::optional<bool> mig_instance;
  std::optional<std::string> mig_profile;  ///< "3g.40gb"
  std::optional<int> numa_node;
  std::optional<std::string> problem;  ///< why it cannot be used, in the driver's words

  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

/// The NVIDIA driver and what could be learnt of the GPUs. Empty fields are unknown.
struct GpuDriverFacts {
  std::optional<std::string> driver_version;       ///< "580.65.06"
  std::optional<std::string> driver_cuda_version;  ///< newest CUDA the driver serves, "13.0"
  std::optional<std::string> visible_devices;      ///< CUDA_VISIBLE_DEVICES as it was set
  std::optional<std::string> problem;              ///< why no GPU could be listed

  friend bool operator==(const GpuDriverFacts&, const GpuDriverFacts&) = default;
};

}  // namespace libtrain
