#include "libtrain/probe/gpus.hpp"

#include <memory>
#include <set>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/cuda_driver.hpp"
#include "libtrain/probe/kernel_driver.hpp"
#include "libtrain/probe/nvml_child.hpp"
#include "libtrain/probe/pci_bridges.hpp"
#include "libtrain/probe/visible_devices.hpp"
#include "libtrain/probe/xid.hpp"

namespace libtrain {
namespace {

using Environment = std::map<std::string, std::string>;

std::optional<std::string> find(const Environment& environment, const char* name) {
  const auto at = environment.find(name);
  return at == environment.end() ? std::nullopt : std::optional(at->second);
}

/// CUDA orders by speed unless told to keep the bus's order; GPUs that are alike keep it anyway.
bool cuda_keeps_pci_order(const Environment& environment, const std::vector<NvmlDevice>& devices) {
  std::set<std::optional<std::string>> names;
  for (const NvmlDevice& device : devices) {
    if (device.reachable) {
      names.insert(device.facts.name);
    }
  }
  return names.size() <= 1 || find(environment, "CUDA_DEVICE_ORDER") == "PCI_BUS_ID" ||
         names_devices_by_id(find(environment, "CUDA_VISIBLE_DEVICES"));
}

/// Numbers the devices as CUDA will; returns why there are none, if there are none.
std::optional<std::string> number_by_rule(const std::optional<std::string>& visible_devices,
                                          std::vector<NvmlDevice>& devices) {
  const VisibleDevices visible = resolve_visible_devices(visible_devices, devices);
  for (size_t index = 0; index < visible.order.size(); ++index) {
    devices[visible.order[index]].facts.cuda_index = static_cast<int>(index);
  }
  if (!visible.order.empty() || !visible.ended) {
    return std::nullopt;
  }
  return fill("CUDA_VISIBLE_DEVICES={} hides every GPU: {}", quote(visible_devices.value_or("")),
              *visible.ended);
}

void add_nvml_gpus(const Sources& sources, const Environment& environment,
                   std::vector<NvmlDevice> devices, GpuProbe& out) {
  out.driver.problem = number_by_rule(out.driver.visible_devices, devices);
  const bool order_is_known = cuda_keeps_pci_order(environment, devices);
  for (NvmlDevice& device : devices) {
    out.gpus.push_back(std::move(device.facts));
  }
  const auto cuda = order_is_known ? nullptr : sources.open_library("libcuda.so.1");
  if (cuda != nullptr) {
    const CudaListing listing = list_cuda_devices_in_child(*cuda);
    out.driver.problem = listing.problem;
    join_cuda_indices(out.gpus, listing.devices);
  }
}

/// A question CUDA did not answer leaves a zero.
template <class T>
std::optional<T> if_counted(T count) {
  return count > 0 ? std::optional(count) : std::nullopt;
}

GpuFacts facts_of(const CudaDevice& device, size_t index) {
  const bool mig = device.name.find(" MIG ") != std::string::npos;
  GpuFacts out;
  out.cuda_index = static_cast<int>(index);
  out.uuid = (mig ? "MIG-" : "GPU-") + device.uuid;
  out.pci_bus_id = device.pci_bus_id;
  out.name = device.name;
  if (device.compute_capability.major > 0) {
    out.compute_capability = device.compute_capability;
  }
  out.sm_count = if_counted(device.sm_count);
  out.memory_bytes = if_counted(device.memory_bytes);
  out.mig_instance = mig;
  return out;
}

/// Without NVML: what CUDA (null: not to be asked) lists, else what the kernel names with the
/// problem beside it.
void add_gpus_without_nvml(const Sources& sources,
                           const std::shared_ptr<const DynamicLibrary>& cuda, std::string problem,
                           GpuProbe& out) {
  std::vector<GpuFacts> gpus = kernel_driver_gpus(sources);
  if (cuda != nullptr) {
    out.driver.driver_cuda_version = cuda_driver_version(*cuda);
    const CudaListing listing = list_cuda_devices_in_child(*cuda);
    for (size_t i = 0; i < listing.devices.size(); ++i) {
      out.gpus.push_back(facts_of(listing.devices[i], i));
    }
    if (!out.gpus.empty()) {
      return;
    }
    problem += fill("; {}", listing.problem.value_or("CUDA lists no device"));
  }
  for (GpuFacts& gpu : gpus) {
    gpu.problem = problem;
  }
  out.gpus = std::move(gpus);
  out.driver.problem = std::move(problem);
}

void add_pci_facts(const Sources& sources, GpuFacts& gpu) {
  gpu.numa_node = pci_numa_node(sources, *gpu.pci_bus_id);
  gpu.iommu = pci_iommu(sources, *gpu.pci_bus_id);
  gpu.pci_bridges = pci_bridges(sources, *gpu.pci_bus_id);
  if (gpu.pci_bridges) {
    gpu.acs_bridges = acs_bridges(sources, *gpu.pci_bridges);
    if (!gpu.acs_bridges) {
      gpu.unknown["acs_bridges"] = "the kernel shows a bridge's settings to root alone";
    }
  }
}

/// Of devices that have a place on the PCI bus.
void add_what_the_kernel_knows(const Sources& sources, const std::optional<std::string>& log,
                               std::vector<GpuFacts>& gpus) {
  const auto xids = parse_xids(log.value_or(""));
  for (GpuFacts& gpu : gpus) {
    if (!log) {
      gpu.unknown["xids"] = "this process may not read the kernel's log";
    }
    if (!gpu.pci_bus_id) {
      continue;
    }
    add_pci_facts(sources, gpu);
    const std::string bus_id = kernel_bus_id(*gpu.pci_bus_id);
    const auto found = xids.find(bus_id.substr(0, bus_id.rfind('.')));  // the log names no function
    if (log) {
      gpu.xids = found == xids.end() ? std::vector<std::string>{} : found->second;
    }
  }
}

}  // namespace

GpuProbe probe_gpus(const Sources& sources) {
  const Environment environment = sources.environment();
  GpuProbe out;
  out.driver.visible_devices = find(environment, "CUDA_VISIBLE_DEVICES");
  const std::string module = sources.read("/proc/driver/nvidia/version").value_or("");
  out.driver.driver_version = parse_kernel_driver_version(module);
  out.driver.open_kernel_module = parse_open_kernel_module(module);
  if (const auto library = sources.open_library("libnvidia-ml.so.1")) {
    NvmlListing nvml = list_nvml_devices_in_child(*library);
    if (nvml.driver_version) {
      out.driver.driver_version = nvml.driver_version;
    }
    out.driver.driver_cuda_version = nvml.driver_cuda_version;
    if (nvml.problem) {
      add_gpus_without_nvml(sources, nvml.hangs ? nullptr : sources.open_library("libcuda.so.1"),
                            *nvml.problem, out);
    } else {
      add_nvml_gpus(sources, environment, std::move(nvml.devices), out);
    }
  } else if (const std::vector<std::string> pci = nvidia_pci_gpus(sources);
             !pci.empty() || sources.open_library("libcuda.so.1") != nullptr) {
    std::string problem = "libnvidia-ml.so.1 cannot be loaded";
    if (!pci.empty()) {
      problem = fill(
          "an NVIDIA GPU is on the PCI bus at {}, but {}: install the driver, or start the "
          "container with access to the GPU",
          pci.front(), problem);
    }
    add_gpus_without_nvml(sources, sources.open_library("libcuda.so.1"), std::move(problem), out);
  }
  if (!out.gpus.empty() || out.driver.driver_version || out.driver.problem) {
    const std::optional<std::string> log = sources.kernel_log();
    out.driver.module_refusal = parse_module_refusal(log.value_or(""));
    add_what_the_kernel_knows(sources, log, out.gpus);
  }
  return out;
}

}  // namespace libtrain
