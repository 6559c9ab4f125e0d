#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/facts/gpu.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// The version in /proc/driver/nvidia/version: of the kernel module that is loaded, which a freshly
/// installed library need not match.
LT_API std::optional<std::string> parse_kernel_driver_version(std::string_view text);

/// Whether the loaded kernel module is NVIDIA's open one; nothing when none is loaded.
LT_API std::optional<bool> parse_open_kernel_module(std::string_view text);

/// Which kernel modules, "open" or "proprietary", a GPU needs that those at hand left out, by the
/// kernel's log; nothing where it says nothing of the kind.
LT_API std::optional<std::string> parse_module_refusal(std::string_view log);

/// The GPUs the loaded kernel module names under /proc/driver/nvidia/gpus (uuid, name, bus id):
/// what is left to show when NVML fails. Empty inside WSL and on Jetson.
LT_API std::vector<GpuFacts> kernel_driver_gpus(const Sources& sources);

/// Bus ids of NVIDIA GPUs on the PCI bus, driver or not.
LT_API std::vector<std::string> nvidia_pci_gpus(const Sources& sources);

/// "00000000:17:00.0" (NVML) and "0000:17:00.0" (kernel) as the kernel's folders are named.
LT_API std::string kernel_bus_id(std::string_view bus_id);

/// How the IOMMU treats a PCI device: "DMA" and "DMA-FQ" translate its addresses, "identity" passes
/// them; nothing without an IOMMU (Linux, Documentation/ABI/testing/sysfs-kernel-iommu_groups).
LT_API std::optional<std::string> pci_iommu(const Sources& sources, std::string_view bus_id);

/// The NUMA node nearest to a PCI device; nothing where the firmware names none (-1).
LT_API std::optional<int> pci_numa_node(const Sources& sources, std::string_view bus_id);

}  // namespace libtrain
