#include "libtrain/probe/cpu.hpp"

#include <map>
#include <vector>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/cpu_list.hpp"
#include "libtrain/probe/cpu_topology.hpp"
#include "libtrain/probe/cpuid.hpp"
#include "libtrain/probe/cpuinfo.hpp"

namespace libtrain {
namespace {

/// All CPUs have the same in practice; one that this process runs on stands for them.
std::optional<std::string> frequency_word(const Sources& sources, int cpu, std::string_view file) {
  const std::string text(
      trim(sources.read(fill("/sys/devices/system/cpu/cpu{}/cpufreq/{}", cpu, file)).value_or("")));
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Instruction caches left out.
std::optional<std::vector<std::string>> caches_of(const Sources& sources, int cpu) {
  const std::string folder = fill("/sys/devices/system/cpu/cpu{}/cache", cpu);
  std::vector<std::string> out;
  for (const std::string& index : sources.list(folder)) {
    const auto word = [&](const char* file) {
      return std::string(trim(sources.read(fill("{}/{}/{}", folder, index, file)).value_or("")));
    };
    const std::string type = word("type");
    if (!word("size").empty() && type != "Instruction") {
      out.push_back(fill("L{}{} {}", word("level"), type == "Data" ? " data" : "", word("size")));
    }
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

/// "Node 0 MemTotal:       32489496 kB", of nodes without CPUs (a GPU's) too.
std::optional<std::vector<std::string>> node_memory(const Sources& sources) {
  constexpr std::string_view kTotal = "MemTotal:";
  const std::string folder = "/sys/devices/system/node";
  std::map<int64_t, std::string> nodes;  // by number: "10" comes after "9"
  for (const std::string& name : sources.list(folder)) {
    const auto number =
        name.starts_with("node") ? parse_integer(std::string_view(name).substr(4)) : std::nullopt;
    if (!number) {
      continue;
    }
    const std::string text = sources.read(fill("{}/{}/meminfo", folder, name)).value_or("");
    const size_t at = text.find(kTotal);
    const size_t end = at == std::string::npos ? at : text.find(" kB", at);
    const auto kibibytes = end == std::string::npos
                               ? std::nullopt
                               : parse_integer(trim(std::string_view(text).substr(
                                     at + kTotal.size(), end - at - kTotal.size())));
    nodes[*number] = kibibytes && *kibibytes >= 0 && *kibibytes < (int64_t{1} << 50)
                         ? to_text(*kibibytes * 1024)
                         : "?";
  }
  std::vector<std::string> out;
  out.reserve(nodes.size());
  for (const auto& [number, bytes] : nodes) {
    out.push_back(bytes);
  }
  return out.empty() ? std::nullopt : std::optional(out);
}

/// The nodes whose memory the cpuset allows, from /proc/self/status.
std::optional<std::vector<std::string>> allowed_memory_nodes(std::string_view status) {
  constexpr std::string_view kKey = "Mems_allowed_list:";
  for (const std::string_view line : split(status, '\n')) {
    if (!line.starts_with(kKey)) {
      continue;
    }
    std::vector<std::string> nodes;
    const auto list = parse_cpu_list(trim(line.substr(kKey.size())));
    for (const int node : list.value_or(std::vector<int>{})) {
      nodes.push_back(to_text(node));
    }
    return nodes.empty() ? std::nullopt : std::optional(nodes);
  }
  return std::nullopt;
}

}  // namespace

CpuFacts probe_cpu(const Sources& sources, const CgroupLimits& limits) {
  const CpuInfo info = parse_cpuinfo(sources.read("/proc/cpuinfo").value_or(""));
  const X86Features x86 = x86_features(sources);
  const CpuTopology topology = probe_cpu_topology(sources, info, x86.hybrid);
  const std::vector<int> affinity = sources.affinity();
  const std::string machine = sources.system_name().machine;

  CpuFacts out;
  out.architecture = machine.empty() ? std::nullopt : std::optional(machine);
  out.model = info.model;
  out.sockets = topology.sockets();
  out.cores = topology.cores();
  out.logical_cpus = topology.logical_cpus();
  out.performance_cores = topology.performance_cores;
  out.numa_nodes = topology.numa_nodes();
  if (!affinity.empty()) {
    out.affinity_cpus = static_cast<int>(affinity.size());
    out.affinity_cores = topology.cores_of(affinity);
    out.affinity_nodes = topology.nodes_of(affinity);
    out.caches = caches_of(sources, affinity.front());
    out.governor = frequency_word(sources, affinity.front(), "scaling_governor");
    out.frequency_driver = frequency_word(sources, affinity.front(), "scaling_driver");
  }
  out.memory_nodes = allowed_memory_nodes(sources.read("/proc/self/status").value_or(""));
  out.node_memory_bytes = node_memory(sources);
  out.cpuset_cpus = limits.cpuset_cpus;
  out.quota_cpus = limits.quota_cpus;
  out.avx2 = x86.avx2;
  out.avx512 = x86.avx512;
  out.avx512_bf16 = x86.avx512_bf16;
  out.amx_bf16 = x86.amx_bf16;
  out.amx_int8 = x86.amx_int8;
  out.amx_fp16 = x86.amx_fp16;
  out.arm_bf16 = info.arm_bf16.value_or(false);
  out.arm_sve = info.arm_sve.value_or(false);
  return out;
}

}  // namespace libtrain
