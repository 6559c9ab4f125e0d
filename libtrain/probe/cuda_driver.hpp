#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/gpu.hpp"
#include "libtrain/probe/child_process.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// A device as CUDA sees it under CUDA_VISIBLE_DEVICES; its position is the CUDA index.
struct CudaDevice {
  std::string uuid;        ///< without "GPU-" or "MIG-", which CUDA does not tell
  std::string pci_bus_id;  ///< "0000:17:00.0"
  std::string name = {};
  ComputeCapability compute_capability = {};
  int sm_count = 0;
  int64_t memory_bytes = 0;
};

struct CudaListing {
  std::vector<CudaDevice> devices;
  std::optional<std::string> problem;  ///< in CUDA's words
  bool timed_out = false;              ///< the problem: no answer in time
};

/// The newest CUDA version the driver (libcuda.so.1) serves. Does not initialise CUDA.
LT_API std::optional<std::string> cuda_driver_version(const DynamicLibrary& cuda);

/// Asks the driver for its devices in a forked child, because asking initialises CUDA: afterwards
/// this process could neither fork workers that use CUDA nor change CUDA_VISIBLE_DEVICES.
class LT_API CudaQuestion {
 public:
  /// Starts the child.
  explicit CudaQuestion(const DynamicLibrary& cuda);
  /// Waits for its answer, as long as CUDA takes to start. A child that says nothing for `limit`
  /// is ended and reported.
  CudaListing answer(std::chrono::milliseconds limit);

 private:
  const DynamicLibrary& cuda_;
  ChildProcess child_;
};

/// The two in one.
LT_API CudaListing list_cuda_devices_in_child(
    const DynamicLibrary& cuda, std::chrono::milliseconds limit = std::chrono::seconds(10));

/// Gives each GPU that CUDA lists its position there, matched by UUID, else by bus id; takes the
/// index away from all others. NVML's order is the PCI bus's, CUDA's is "fastest first".
LT_API void join_cuda_indices(std::span<GpuFacts> gpus, std::span<const CudaDevice> devices);

}  // namespace libtrain
