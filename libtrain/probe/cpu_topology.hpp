#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/cpuinfo.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// Which logical CPU belongs to which core; online CPUs only.
struct LT_API CpuTopology {
  struct Place {
    int package = 0;
    int core = 0;  ///< unique in the machine
  };
  std::map<int, Place> places;                    ///< by logical CPU; empty when unknown
  std::optional<int> performance_cores;           ///< on hybrid parts only
  std::map<std::string, std::vector<int>> nodes;  ///< NUMA nodes with CPUs: number → CPUs

  std::optional<int> sockets() const;
  std::optional<int> cores() const;
  std::optional<int> logical_cpus() const;
  /// Distinct cores among `cpus`; nothing when one of them is unknown.
  std::optional<int> cores_of(std::span<const int> cpus) const;
  std::optional<int> numa_nodes() const;
  /// NUMA nodes of `cpus`, ascending; nothing when the nodes are unknown.
  std::optional<std::vector<std::string>> nodes_of(std::span<const int> cpus) const;
};

/// Reads /sys/devices/system; `info` stands in where sysfs is not mounted. `hybrid` is the CPUID
/// bit.
LT_API CpuTopology probe_cpu_topology(const Sources& sources, const CpuInfo& info, bool hybrid);

}  // namespace libtrain
