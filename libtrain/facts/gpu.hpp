#pragma once

#include <cstdint>
#include <map>
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
  std::optional<std::string> pci_device_id;  ///< of the chip and board, "20b2"
  std::optional<std::string> name;           ///< "NVIDIA A100-SXM4-80GB"
  std::optional<ComputeCapability> compute_capability;
  std::optional<int> sm_count;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> bar1_bytes;  ///< window through which others reach its memory
  std::optional<bool> mig_instance;
  std::optional<std::string> mig_profile;  ///< "3g.40gb"
  std::optional<int> numa_node;
  std::optional<std::string> cpu_affinity;              ///< CPUs beside it, by NVML: "0-31,64-95"
  std::optional<std::string> iommu;                     ///< "DMA" translates, "identity" does not
  std::optional<std::vector<std::string>> pci_bridges;  ///< above it, from the host's on
  std::optional<std::vector<std::string>> acs_bridges;  ///< those that send peer copies upward
  std::optional<int> pcie_generation_max;               ///< of card and slot together
  std::optional<int> pcie_width_max;                    ///< lanes
  std::optional<int> nvlinks;                           ///< links the chip has
  std::optional<int> nvlink_version;                    ///< 4 on Hopper
  std::optional<int> nvlinks_active;                    ///< links that are up
  /// Where the links that are up end, and how many there: "00000000:65:00.0 x4", "switch x18",
  /// "cpu x3". Older drivers tell a switch by its bus id.
  std::optional<std::vector<std::string>> nvlink_peers;
  std::optional<std::vector<std::string>> peers;  ///< NVML indices it may read, by the driver
  std::optional<std::string> fabric;              ///< NVSwitch: "completed", "in progress"
  std::optional<std::string> compute_mode;        ///< "default", "exclusive process", "prohibited"
  std::optional<bool> virtual_gpu_licensed;       ///< of a vGPU alone
  std::optional<bool> persistence;                ///< the driver stays loaded without a client
  std::optional<double> power_default_watts;
  std::optional<double> power_limit_watts;  ///< what is enforced
  std::optional<int> slowdown_celsius;      ///< clocks fall from this temperature on
  std::optional<int> clock_max_mhz;         ///< of the multiprocessors

  // What moves between two probes. `fasttrain doctor` reads it; no plan depends on it.
  std::optional<int> performance_state;    ///< 0 fastest, from 8 on idle
  std::optional<int> clock_mhz;            ///< of the multiprocessors
  std::optional<double> power_watts;       ///< what it draws
  std::optional<int64_t> processes_bytes;  ///< memory of the compute processes that run on it
  std::optional<int> pcie_generation;      ///< drops while idle
  std::optional<int> pcie_width;
  std::optional<int64_t> memory_free_bytes;
  std::optional<std::vector<std::string>> clock_reasons;  ///< why clocks are low: "idle"
  std::optional<int64_t> ecc_uncorrected;                 ///< errors since the driver was loaded
  std::optional<bool> repair_pending;  ///< rows or pages replaced at the next reset
  std::optional<bool> repair_failed;   ///< no spare rows are left
  std::optional<int> temperature_celsius;
  std::optional<std::vector<std::string>> xids;  ///< errors in the kernel's log: "79"

  std::map<std::string, std::string> unknown;  ///< fact → why the driver did not tell it
  std::optional<std::string> problem;          ///< why it cannot be used, in the driver's words

  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

/// The NVIDIA driver and what could be learnt of the GPUs. Empty fields are unknown.
struct GpuDriverFacts {
  std::optional<std::string> driver_version;       ///< "580.65.06"
  std::optional<std::string> driver_cuda_version;  ///< newest CUDA the driver serves, "13.0"
  std::optional<std::string> visible_devices;      ///< CUDA_VISIBLE_DEVICES as it was set
  std::optional<bool> open_kernel_module;          ///< null without a loaded module
  std::optional<std::string> module_refusal;  ///< which kernel module a GPU that was left out needs
  std::optional<std::string> problem;         ///< why no GPU could be listed
  /// Whether CUDA starts where GPUs are listed; only probe_machine_and_cuda() asks.
  std::optional<bool> cuda_starts;
  std::optional<std::string> cuda_problem;  ///< why it does not

  friend bool operator==(const GpuDriverFacts&, const GpuDriverFacts&) = default;
};

}  // namespace libtrain
