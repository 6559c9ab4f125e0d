#include <algorithm>
#include <array>

#include "libtrain/core/text.hpp"
#include "libtrain/doctor/check.hpp"
#include "libtrain/plan/choose_nccl_settings.hpp"

namespace libtrain {
namespace {

using Names = std::vector<std::string>;

Outcome check_interfaces(const Examined& seen) {
  const auto usable = usable_interfaces(seen.machine.network);
  if (!usable) {
    return skip("the interfaces are unknown");
  }
  if (!usable->empty()) {
    return pass("up: " + join(*usable, ", "));
  }
  const Names& up = *seen.machine.network.interfaces;
  const std::string found =
      up.empty() ? "no interface but lo is up"
                 : fill("no interface but lo has an address; up without one: {}", join(up, ", "));
  if (spans_machines(seen.machine)) {
    return fail(found, "the other machines of this job cannot be reached",
                up.empty() ? "give the container a network: docker run --network=host"
                           : "give one an address: a static one, or see why DHCP gives none");
  }
  return seen.machine.launch.world_size.value_or(1) < 2
             ? pass(found + "; one process needs none")
             : warn_of(found, "NCCL and Gloo leave lo out unless they are told to take it",
                       "export NCCL_SOCKET_IFNAME=lo GLOO_SOCKET_IFNAME=lo");
}

/// NCCL, Environment Variables, NCCL_SOCKET_IFNAME: a list of prefixes; "=" in front: whole names;
/// "^": all others.
bool selects(std::string_view pattern, const std::string& interface) {
  const bool others = pattern.starts_with('^');
  pattern.remove_prefix(others ? 1 : 0);
  const bool whole = pattern.starts_with('=');
  pattern.remove_prefix(whole ? 1 : 0);
  for (const std::string_view name : split(pattern, ',')) {
    if (whole ? interface == name : interface.starts_with(name)) {
      return !others;
    }
  }
  return others;
}

Outcome check_socket_names(const Examined& seen) {
  const auto usable = usable_interfaces(seen.machine.network);
  bool set = false;
  for (const std::string name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
    const std::string* pattern = variable(seen, name);
    if (pattern == nullptr || !usable) {
      continue;
    }
    set = true;
    Names candidates = *usable;
    candidates.emplace_back("lo");
    const bool whole = name.starts_with("GLOO");  // names, not prefixes
    const bool found = std::ranges::any_of(candidates, [&](const std::string& interface) {
      return selects(whole ? fill("={}", *pattern) : *pattern, interface);
    });
    if (!found) {
      return fail(fill("{} selects none of {}", setting(seen, name), join(candidates, ", ")),
                  "process groups end with \"no socket interface found\"",
                  fill("unset {}, or name an interface that is up and has an address", name));
    }
  }
  return set ? pass("every name is an interface that is up")
             : skip("neither NCCL_SOCKET_IFNAME nor GLOO_SOCKET_IFNAME is set");
}

Outcome check_infiniband(const Examined& seen) {
  const Names active = seen.machine.network.infiniband.value_or(Names{});
  const Names down = seen.machine.network.infiniband_down.value_or(Names{});
  if (active.empty() && down.empty()) {
    return skip("no InfiniBand or RoCE device");
  }
  if (down.empty()) {
    return pass("active: " + join(active, ", "));
  }
  return warn_of(fill("not active: {}; active: {}", join(down, ", "),
                      active.empty() ? "none" : join(active, ", ")),
                 active.empty() ? "machines talk over sockets, many times slower"
                                : "NCCL uses the active ports only",
                 "ibstat; check cable, switch and subnet manager; leave unused ports out by "
                 "NCCL_IB_HCA");
}

/// The setting that `fasttrain env` prints where bonds are among the devices.
Outcome check_infiniband_bonds(const Examined& seen) {
  const auto evidence = nccl_evidence(seen.machine);
  const auto hca = std::ranges::find(evidence, "NCCL_IB_HCA", &ProcessVariable::name);
  if (hca == evidence.end()) {
    return skip("no bond beside other active ports, or a job of one machine");
  }
  if (variable(seen, "NCCL_IB_HCA") != nullptr) {
    return pass(setting(seen, "NCCL_IB_HCA"));
  }
  return warn_of(
      hca->reason,
      "NCCL sends gradients over it too: at its pace, and not all ports reach each other",
      fill("export NCCL_IB_HCA={}", hca->value));
}

/// The rate of the fastest active port; 0 when none is known.
double fastest(const Names& rates) {
  double most = 0;
  for (const std::string& rate : rates) {
    most = std::max(most, parse_number(rate).value_or(0));
  }
  return most;
}

Outcome check_infiniband_rate(const Examined& seen) {
  const Names ports = seen.machine.network.infiniband.value_or(Names{});
  const Names rates = seen.machine.network.infiniband_gbps.value_or(Names{});
  const double most = fastest(rates);
  if (most == 0) {
    return skip("no active port whose rate is known");
  }
  for (size_t i = 0; i < std::min(ports.size(), rates.size()); ++i) {
    if (parse_number(rates[i]).value_or(most) < most) {
      return warn_of(
          fill("{} runs at {} Gb/s, the fastest port at {}", quote(ports[i]), rates[i], most),
          "NCCL stripes traffic over the ports: the slowest one sets the pace",
          fill("ibstat; check its cable and switch port; a port of another kind: export "
               "NCCL_IB_HCA=^={}",
               ports[i].substr(0, ports[i].find('/'))));
    }
  }
  return pass(fill("{} Gb/s on each port that tells it", most));
}

Outcome check_infiniband_node(const Examined& seen) {
  const Names nodes = seen.machine.network.infiniband_nodes.value_or(Names{});
  if (nodes.empty() || std::ranges::find(nodes, "?") != nodes.end()) {
    return skip("no active port, or one whose NUMA node is unknown");
  }
  const auto judge = [&](const GpuFacts& gpu) {
    if (!gpu.numa_node) {
      return unknown();
    }
    return std::ranges::find(nodes, to_text(*gpu.numa_node)) != nodes.end()
               ? fine()
               : warn_of(fill("{} is at NUMA node {}, active ports at {}", name_of(gpu),
                              *gpu.numa_node, join(nodes, ", ")),
                         "what it sends to other machines crosses the link between the sockets",
                         "put a network card into a slot of that socket; or use the GPUs beside "
                         "the ports: nvidia-smi topo -m");
  };
  return judge_each(visible_gpus(seen.machine), judge,
                    "an active port at the NUMA node of each GPU",
                    "the NUMA nodes of the GPUs are unknown");
}

Outcome check_infiniband_off(const Examined& seen) {
  const bool active = !seen.machine.network.infiniband.value_or(Names{}).empty();
  if (!active || variable(seen, "NCCL_IB_DISABLE") == nullptr) {
    return skip(active ? "NCCL_IB_DISABLE is not set" : "no active InfiniBand port");
  }
  return switched_on(seen, "NCCL_IB_DISABLE")
             ? warn_of(setting(seen, "NCCL_IB_DISABLE") + " beside active InfiniBand ports",
                       "machines talk over sockets, many times slower", "unset NCCL_IB_DISABLE")
             : pass(setting(seen, "NCCL_IB_DISABLE"));
}

/// The open kernel modules export GPU memory by DMA-BUF; the others need nvidia_peermem (NCCL,
/// Troubleshooting, "GPU Direct: GPU-to-NIC").
Outcome check_peer_memory(const Examined& seen) {
  const NetworkFacts& network = seen.machine.network;
  const auto& open = seen.machine.gpu_driver.open_kernel_module;
  if (network.infiniband.value_or(Names{}).empty() || visible_gpus(seen.machine).empty()) {
    return skip("no active InfiniBand port beside a visible GPU");
  }
  if (network.peer_memory == true || open == true) {
    return pass(network.peer_memory == true ? "nvidia_peermem is loaded"
                                            : "the open kernel module exports GPU memory");
  }
  if (!network.peer_memory || !open) {
    return skip("the kernel modules are unknown");
  }
  return warn_of("nvidia_peermem is not loaded, and the kernel module is not the open one",
                 "InfiniBand cannot read GPU memory: traffic between machines passes through host "
                 "memory",
                 "sudo modprobe nvidia-peermem");
}

constexpr std::array kChecks{
    Check{"network.interfaces", "is a network interface up", check_interfaces},
    Check{"network.socket_names", "do the chosen interfaces exist", check_socket_names},
    Check{"network.infiniband", "are the InfiniBand ports active", check_infiniband},
    Check{"network.infiniband_bonds", "are bonds left to other traffic", check_infiniband_bonds},
    Check{"network.infiniband_rate", "do all ports run at one rate", check_infiniband_rate},
    Check{"network.infiniband_node", "is a port at each GPU's socket", check_infiniband_node},
    Check{"network.infiniband_off", "is InfiniBand switched off", check_infiniband_off},
    Check{"network.peer_memory", "can InfiniBand read GPU memory", check_peer_memory},
};

}  // namespace

std::span<const Check> network_checks() { return kChecks; }

}  // namespace libtrain
