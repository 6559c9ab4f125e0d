#pragma once

#include <concepts>
#include <type_traits>

#include "libtrain/facts/machine.hpp"

namespace libtrain {

template <class T, class Facts>
concept FactsOf = std::same_as<std::remove_const_t<T>, Facts>;

/// The one list of every fact's name. Calls `visit(name, field)` for each field in the order people
/// read them; the text form, JSON and the table are all made from it, so none can miss a field.
void visit_fields(FactsOf<HostFacts> auto& facts, auto&& visit) {
  visit("os", facts.os);
  visit("kernel", facts.kernel);
  visit("libc", facts.libc);
  visit("container", facts.container);
  visit("container_runtime", facts.container_runtime);
  visit("wsl", facts.wsl);
  visit("memory_bytes", facts.memory_bytes);
  visit("memory_limit_bytes", facts.memory_limit_bytes);
  visit("shared_memory_bytes", facts.shared_memory_bytes);
  visit("virtual_machine", facts.virtual_machine);
  visit("hypervisor", facts.hypervisor);
  visit("overcommit_memory", facts.overcommit_memory);
  visit("locked_memory_bytes", facts.locked_memory_bytes);
  visit("open_files", facts.open_files);
  visit("folder_writable", facts.folder_writable);
  visit("memory_available_bytes", facts.memory_available_bytes);
  visit("shared_memory_free_bytes", facts.shared_memory_free_bytes);
  visit("folder_free_bytes", facts.folder_free_bytes);
}

void visit_fields(FactsOf<CpuFacts> auto& facts, auto&& visit) {
  visit("architecture", facts.architecture);
  visit("model", facts.model);
  visit("sockets", facts.sockets);
  visit("cores", facts.cores);
  visit("logical_cpus", facts.logical_cpus);
  visit("performance_cores", facts.performance_cores);
  visit("numa_nodes", facts.numa_nodes);
  visit("affinity_cpus", facts.affinity_cpus);
  visit("affinity_cores", facts.affinity_cores);
  visit("cpuset_cpus", facts.cpuset_cpus);
  visit("quota_cpus", facts.quota_cpus);
  visit("avx2", facts.avx2);
  visit("avx512", facts.avx512);
  visit("avx512_bf16", facts.avx512_bf16);
  visit("amx_bf16", facts.amx_bf16);
  visit("amx_int8", facts.amx_int8);
  visit("amx_fp16", facts.amx_fp16);
  visit("arm_bf16", facts.arm_bf16);
  visit("arm_sve", facts.arm_sve);
  visit("caches", facts.caches);
  visit("affinity_nodes", facts.affinity_nodes);
  visit("memory_nodes", facts.memory_nodes);
  visit("node_memory_bytes", facts.node_memory_bytes);
  visit("governor", facts.governor);
  visit("frequency_driver", facts.frequency_driver);
}

void visit_fields(FactsOf<GpuDriverFacts> auto& facts, auto&& visit) {
  visit("driver_version", facts.driver_version);
  visit("driver_cuda_version", facts.driver_cuda_version);
  visit("visible_devices", facts.visible_devices);
  visit("open_kernel_module", facts.open_kernel_module);
  visit("module_refusal", facts.module_refusal);
  visit("problem", facts.problem);
  visit("cuda_starts", facts.cuda_starts);
  visit("cuda_problem", facts.cuda_problem);
}

void visit_fields(FactsOf<GpuFacts> auto& facts, auto&& visit) {
  visit("nvml_index", facts.nvml_index);
  visit("cuda_index", facts.cuda_index);
  visit("uuid", facts.uuid);
  visit("pci_bus_id", facts.pci_bus_id);
  visit("pci_device_id", facts.pci_device_id);
  visit("name", facts.name);
  visit("compute_capability", facts.compute_capability);
  visit("sm_count", facts.sm_count);
  visit("memory_bytes", facts.memory_bytes);
  visit("bar1_bytes", facts.bar1_bytes);
  visit("mig_instance", facts.mig_instance);
  visit("mig_profile", facts.mig_profile);
  visit("numa_node", facts.numa_node);
  visit("cpu_affinity", facts.cpu_affinity);
  visit("iommu", facts.iommu);
  visit("pci_bridges", facts.pci_bridges);
  visit("acs_bridges", facts.acs_bridges);
  visit("pcie_generation_max", facts.pcie_generation_max);
  visit("pcie_width_max", facts.pcie_width_max);
  visit("nvlinks", facts.nvlinks);
  visit("nvlink_version", facts.nvlink_version);
  visit("nvlinks_active", facts.nvlinks_active);
  visit("nvlink_peers", facts.nvlink_peers);
  visit("peers", facts.peers);
  visit("fabric", facts.fabric);
  visit("compute_mode", facts.compute_mode);
  visit("virtual_gpu_licensed", facts.virtual_gpu_licensed);
  visit("persistence", facts.persistence);
  visit("power_default_watts", facts.power_default_watts);
  visit("power_limit_watts", facts.power_limit_watts);
  visit("slowdown_celsius", facts.slowdown_celsius);
  visit("clock_max_mhz", facts.clock_max_mhz);
  visit("performance_state", facts.performance_state);
  visit("clock_mhz", facts.clock_mhz);
  visit("power_watts", facts.power_watts);
  visit("processes_bytes", facts.processes_bytes);
  visit("pcie_generation", facts.pcie_generation);
  visit("pcie_width", facts.pcie_width);
  visit("memory_free_bytes", facts.memory_free_bytes);
  visit("clock_reasons", facts.clock_reasons);
  visit("ecc_uncorrected", facts.ecc_uncorrected);
  visit("repair_pending", facts.repair_pending);
  visit("repair_failed", facts.repair_failed);
  visit("temperature_celsius", facts.temperature_celsius);
  visit("xids", facts.xids);
  visit("unknown", facts.unknown);
  visit("problem", facts.problem);
}

void visit_fields(FactsOf<LibraryFacts> auto& facts, auto&& visit) {
  visit("libtrain_version", facts.libtrain_version);
  visit("torch_version", facts.torch_version);
  visit("cuda_version", facts.cuda_version);
  visit("cuda_runtime_version", facts.cuda_runtime_version);
  visit("cublas_version", facts.cublas_version);
  visit("cudnn_version", facts.cudnn_version);
  visit("nccl_version", facts.nccl_version);
  visit("gloo", facts.gloo);
  visit("cuda_archs", facts.cuda_archs);
  visit("loaded", facts.loaded);
}

void visit_fields(FactsOf<LaunchFacts> auto& facts, auto&& visit) {
  visit("launcher", facts.launcher);
  visit("rank", facts.rank);
  visit("world_size", facts.world_size);
  visit("local_rank", facts.local_rank);
  visit("local_world_size", facts.local_world_size);
  visit("problem", facts.problem);
  visit("variable", facts.variables);
}

void visit_fields(FactsOf<NetworkFacts> auto& facts, auto&& visit) {
  visit("interfaces", facts.interfaces);
  visit("interface_mbps", facts.interface_mbps);
  visit("interface_addresses", facts.interface_addresses);
  visit("infiniband", facts.infiniband);
  visit("infiniband_gbps", facts.infiniband_gbps);
  visit("infiniband_nodes", facts.infiniband_nodes);
  visit("infiniband_down", facts.infiniband_down);
  visit("peer_memory", facts.peer_memory);
  visit("gdrcopy", facts.gdrcopy);
}

void visit_fields(FactsOf<MeasuredFacts> auto& facts, auto&& visit) {
  visit("date", facts.date);
  visit("precision", facts.precision);
  visit("attention", facts.attention);
  visit("optimizer", facts.optimizer);
  visit("threads", facts.threads);
  visit("allocator", facts.allocator);
  visit("problem", facts.problem);
}

void visit_fields(FactsOf<ModelFacts> auto& facts, auto&& visit) {
  visit("name", facts.name);
  visit("parameters", facts.parameters);
  visit("parameter_bytes", facts.parameter_bytes);
  visit("trainable", facts.trainable);
  visit("parameter_shapes", facts.parameter_shapes);
  visit("gemms", facts.gemms);
  visit("convolutions", facts.convolutions);
  visit("activation_bytes", facts.activation_bytes);
  visit("has_convolutions", facts.has_convolutions);
  visit("has_attention", facts.has_attention);
  visit("static_shapes", facts.static_shapes);
}

/// Calls `visit(group, facts)` for each group but the GPUs, whose number varies.
void visit_groups(FactsOf<MachineFacts> auto& facts, auto&& visit) {
  visit("host", facts.host);
  visit("cpu", facts.cpu);
  visit("gpu_driver", facts.gpu_driver);
  visit("network", facts.network);
  visit("library", facts.library);
  visit("launch", facts.launch);
  visit("measured", facts.measured);
}

}  // namespace libtrain
