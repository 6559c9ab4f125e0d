#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libtrain {

/// The processor and how much of it this process may use. Empty fields are unknown.
struct CpuFacts {
  std::optional<std::string> architecture;  ///< "x86_64", "aarch64"
  std::optional<std::string> model;
  std::optional<int> sockets;
  std::optional<int> cores;              ///< physical, whole machine
  std::optional<int> logical_cpus;       ///< whole machine
  std::optional<int> performance_cores;  ///< physical P cores, on hybrid parts only
  std::optional<int> numa_nodes;

  std::optional<int> affinity_cpus;   ///< logical CPUs in this process's affinity mask
  std::optional<int> affinity_cores;  ///< distinct physical cores in that mask
  std::optional<int> cpuset_cpus;     ///< logical CPUs in the effective cgroup cpuset
  std::optional<double> quota_cpus;   ///< smallest cgroup CPU quota of all parents, in CPUs

  std::optional<bool> avx2;    ///< AVX2 and FMA, enabled by the OS
  std::optional<bool> avx512;  ///< F, BW, DQ and VL, enabled by the OS
  std::optional<bool> avx512_bf16;
  std::optional<bool> amx_bf16;  ///< tile registers enabled by the OS
  std::optional<bool> amx_int8;
  std::optional<bool> amx_fp16;
  std::optional<bool> arm_bf16;
  std::optional<bool> arm_sve;
  std::optional<std::vector<std::string>> caches;  ///< of one CPU: "L1 data 48K", "L2 2048K"

  std::optional<std::vector<std::string>> affinity_nodes;  ///< NUMA nodes of the affinity mask
  std::optional<std::vector<std::string>> memory_nodes;    ///< those the cpuset allows memory of
  /// Of each node, in the order of their numbers; "?" where it is unknown.
  std::optional<std::vector<std::string>> node_memory_bytes;
  std::optional<std::string> governor;          ///< cpufreq: "performance", "powersave"
  std::optional<std::string> frequency_driver;  ///< cpufreq: "intel_pstate"

  friend bool operator==(const CpuFacts&, const CpuFacts&) = default;
};

}  // namespace libtrain
