#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/gpu.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// One device NVML lists: a GPU, or one MIG instance in place of a GPU that is cut up.
struct NvmlDevice {
  GpuFacts facts;                                  ///< no cuda_index, no numa_node
  bool reachable = true;                           ///< CUDA counts only such devices
  std::string parent_uuid = {};                    ///< of the GPU a MIG instance belongs to
  std::optional<int> gpu_instance = std::nullopt;  ///< MIG only
  std::optional<int> compute_instance = std::nullopt;
};

struct NvmlListing {
  std::optional<std::string> driver_version;
  std::optional<std::string> driver_cuda_version;
  int gpus = 0;                        ///< that NVML counts
  std::vector<NvmlDevice> devices;     ///< in PCI order
  std::optional<std::string> problem;  ///< why nothing could be listed, in NVML's words
  bool hangs = false;                  ///< no answer in time: other doors to the driver hang too
};

/// Asks NVML (libnvidia-ml.so.1) for all devices, and tells what it hears piece by piece: first
/// everything but the devices, then the devices of one GPU after the other. A function the library
/// does not have and a question it does not answer leave a fact unknown; a device that fails
/// carries its problem and hides no other.
LT_API void ask_nvml(const DynamicLibrary& library,
                     const std::function<void(const NvmlListing& piece)>& tell);

/// The pieces as one.
LT_API NvmlListing list_nvml_devices(const DynamicLibrary& library);

}  // namespace libtrain
