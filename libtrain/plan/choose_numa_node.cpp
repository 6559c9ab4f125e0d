#include "libtrain/plan/choose_numa_node.hpp"

#include <algorithm>
#include <vector>

#include "libtrain/plan/option_table.hpp"
#include "libtrain/plan/target.hpp"

namespace libtrain {
namespace {

using Nodes = std::optional<std::vector<std::string>>;

bool leaves_out(const Nodes& nodes, int node) {
  return nodes && std::ranges::find(*nodes, to_text(node)) == nodes->end();
}

/// Why this process may not be bound to the node; empty when it may, or that is unknown.
std::string obstacle(const CpuFacts& cpu, int node) {
  if (leaves_out(cpu.affinity_nodes, node)) {
    return fill("the affinity mask has no CPU of node {}", node);
  }
  return leaves_out(cpu.memory_nodes, node) ? fill("the cpuset allows no memory of node {}", node)
                                            : "";
}

Decision<NumaChoice> unbound(std::string why, Source source = Source::kFacts) {
  return {NumaChoice{}, source, std::move(why)};
}

Decision<NumaChoice> bound(const CpuFacts& cpu, int node, std::string why) {
  const std::string why_not = obstacle(cpu, node);
  return why_not.empty() ? Decision<NumaChoice>{NumaChoice{node}, Source::kFacts, std::move(why)}
                         : unbound(fill("{}, but {}", why, why_not));
}

Decision<NumaChoice> beside_gpu(const DeviceChoice& device, const MachineFacts& machine) {
  const GpuFacts* gpu = find_gpu(machine, device.index);
  if (gpu == nullptr || !gpu->numa_node) {
    return unbound("the NUMA node of the GPU is unknown", Source::kDefault);
  }
  return bound(machine.cpu, *gpu->numa_node, fill("the GPU is at node {}", *gpu->numa_node));
}

Decision<NumaChoice> one_each(const std::vector<std::string>& nodes, const MachineFacts& machine) {
  const int ranks = machine.launch.local_world_size.value_or(1);
  const int rank = machine.launch.local_rank.value_or(-1);
  const auto count = static_cast<int>(nodes.size());
  if (ranks < 2) {
    return unbound("the threads of one process use every node");
  }
  if (ranks % count != 0 || rank < 0 || rank >= ranks) {
    return unbound(
        fill("{} processes on this machine cannot be shared evenly by {} nodes", ranks, count));
  }
  const auto node = parse_integer(nodes[static_cast<size_t>(rank / (ranks / count))]);
  return node && *node >= 0 && *node <= kLastNumaNode
             ? bound(machine.cpu, static_cast<int>(*node),
                     fill("local rank {} of {}, {} nodes", rank, ranks, count))
             : unbound("the nodes' numbers are unknown", Source::kDefault);
}

}  // namespace

Decision<NumaChoice> choose_numa_node(const Request<NumaChoice>& asked, const DeviceChoice& device,
                                      const MachineFacts& machine) {
  const CpuFacts& cpu = machine.cpu;
  if (asked.value) {
    const std::string why_not = asked.value->node ? obstacle(cpu, *asked.value->node) : "";
    if (!why_not.empty()) {
      refuse("numa_node", to_text(*asked.value), asked.origin, why_not,
             "ask for unbound, or widen the mask");
    }
    return grant_later(asked);
  }
  if (cpu.numa_nodes == 1) {
    return unbound("the machine has one memory node");
  }
  if (!cpu.affinity_nodes || cpu.affinity_nodes->empty()) {
    return unbound("the NUMA nodes of the affinity mask are unknown", Source::kDefault);
  }
  if (cpu.affinity_nodes->size() == 1) {
    return unbound(fill("the affinity mask lies in node {}", cpu.affinity_nodes->front()));
  }
  return device.type == DeviceType::kCuda ? beside_gpu(device, machine)
                                          : one_each(*cpu.affinity_nodes, machine);
}

}  // namespace libtrain
