#include "libtrain/probe/cpu_topology.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/cpu_list.hpp"

namespace libtrain {
namespace {

std::optional<int> positive(size_t count) {
  return count > 0 ? std::optional(static_cast<int>(count)) : std::nullopt;
}

std::optional<int64_t> read_integer(const Sources& sources, const std::string& path) {
  const std::optional<std::string> text = sources.read(path);
  return text ? parse_integer(trim(*text)) : std::nullopt;
}

std::optional<std::vector<int>> read_list(const Sources& sources, const std::string& path) {
  const std::optional<std::string> text = sources.read(path);
  return text ? parse_cpu_list(*text) : std::nullopt;
}

std::string cpu_file(int cpu, std::string_view name) {
  return fill("/sys/devices/system/cpu/cpu{}/{}", cpu, name);
}

/// core_id repeats between packages and even between clusters: the first sibling names a core.
std::map<int, CpuTopology::Place> places_from_sysfs(const Sources& sources) {
  std::map<int, CpuTopology::Place> places;
  const auto online = read_list(sources, "/sys/devices/system/cpu/online");
  for (const int cpu : online.value_or(std::vector<int>{})) {
    const auto siblings = read_list(sources, cpu_file(cpu, "topology/thread_siblings_list"));
    if (!siblings || siblings->empty()) {
      return {};
    }
    const auto package = read_integer(sources, cpu_file(cpu, "topology/physical_package_id"));
    places[cpu] = {.package = static_cast<int>(package.value_or(0)), .core = siblings->front()};
  }
  return places;
}

std::map<int, CpuTopology::Place> places_from_cpuinfo(const CpuInfo& info) {
  std::map<int, CpuTopology::Place> places;
  std::map<std::pair<int, int>, int> first_cpu;
  for (const auto& [cpu, package_and_core] : info.cores) {
    const int core = first_cpu.emplace(package_and_core, cpu).first->second;
    places[cpu] = {.package = package_and_core.first, .core = core};
  }
  return places;
}

/// CPUs whose value in `name` is at least `share` of the largest; empty unless all give one and
/// they differ by more than that.
std::vector<int> fastest_cpus(const Sources& sources, const CpuTopology& topology,
                              std::string_view name, double share) {
  std::map<int, double> values;
  double largest = 0;
  for (const auto& [cpu, place] : topology.places) {
    const std::optional<int64_t> value = read_integer(sources, cpu_file(cpu, name));
    if (!value) {
      return {};
    }
    values[cpu] = static_cast<double>(*value);
    largest = std::max(largest, values[cpu]);
  }
  std::vector<int> fast;
  for (const auto& [cpu, value] : values) {
    if (value >= share * largest) {
      fast.push_back(cpu);
    }
  }
  return fast.size() == values.size() ? std::vector<int>{} : fast;
}

/// Three places say it: perf's list of performance cores (Intel), the nominal frequency where CPUID
/// says hybrid (older kernels; the maximum differs between cores of one kind), and the scheduler's
/// capacity (Arm), where cores of one kind lie within a few percent of each other.
std::optional<int> performance_cores(const Sources& sources, const CpuTopology& topology,
                                     bool hybrid) {
  if (sources.read("/sys/devices/cpu_atom/cpus")) {
    const auto cpus = read_list(sources, "/sys/devices/cpu_core/cpus");
    return cpus ? topology.cores_of(*cpus) : std::nullopt;
  }
  std::vector<int> cpus;
  if (hybrid) {
    cpus = fastest_cpus(sources, topology, "cpufreq/base_frequency", 1.0);
  }
  if (cpus.empty()) {
    cpus = fastest_cpus(sources, topology, "cpu_capacity", 0.9);
  }
  return cpus.empty() ? std::nullopt : topology.cores_of(cpus);
}

/// Nodes of memory alone (a GPU's, or empty ones) hold no CPU and do not count.
std::map<std::string, std::vector<int>> numa_nodes(const Sources& sources) {
  const std::string folder = "/sys/devices/system/node";
  std::map<std::string, std::vector<int>> nodes;
  for (const std::string& name : sources.list(folder)) {
    if (name.starts_with("node") && parse_integer(std::string_view(name).substr(4))) {
      const auto cpus = read_list(sources, fill("{}/{}/cpulist", folder, name));
      if (cpus && !cpus->empty()) {
        nodes.emplace(name.substr(4), *cpus);
      }
    }
  }
  return nodes;
}

}  // namespace

std::optional<int> CpuTopology::sockets() const {
  std::set<int> packages;
  for (const auto& [cpu, place] : places) {
    packages.insert(place.package);
  }
  return positive(packages.size());
}

std::optional<int> CpuTopology::cores() const {
  std::set<int> cores;
  for (const auto& [cpu, place] : places) {
    cores.insert(place.core);
  }
  return positive(cores.size());
}

std::optional<int> CpuTopology::logical_cpus() const { return positive(places.size()); }

std::optional<int> CpuTopology::cores_of(std::span<const int> cpus) const {
  std::set<int> cores;
  for (const int cpu : cpus) {
    const auto at = places.find(cpu);
    if (at == places.end()) {
      return std::nullopt;
    }
    cores.insert(at->second.core);
  }
  return positive(cores.size());
}

std::optional<int> CpuTopology::numa_nodes() const { return positive(nodes.size()); }

std::optional<std::vector<std::string>> CpuTopology::nodes_of(std::span<const int> cpus) const {
  std::map<int64_t, std::string> found;  // by number: "10" comes after "9"
  for (const auto& [node, members] : nodes) {
    const bool shared = std::any_of(cpus.begin(), cpus.end(), [&members = members](int cpu) {
      return std::binary_search(members.begin(), members.end(), cpu);
    });
    if (shared) {
      found.emplace(parse_integer(node).value_or(0), node);
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> out;
  out.reserve(found.size());
  for (const auto& [number, node] : found) {
    out.push_back(node);
  }
  return out;
}

CpuTopology probe_cpu_topology(const Sources& sources, const CpuInfo& info, bool hybrid) {
  CpuTopology out;
  out.places = places_from_sysfs(sources);
  if (out.places.empty()) {
    out.places = places_from_cpuinfo(info);
  }
  out.performance_cores = performance_cores(sources, out, hybrid);
  out.nodes = numa_nodes(sources);
  return out;
}

}  // namespace libtrain
