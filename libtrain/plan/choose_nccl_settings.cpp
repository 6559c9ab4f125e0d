#include "libtrain/plan/choose_nccl_settings.hpp"

#include <set>

namespace libtrain {
namespace {

bool has_only_loopback(const MachineFacts& machine) {
  const LaunchFacts& launch = machine.launch;
  const auto usable = usable_interfaces(machine.network);
  return usable && usable->empty() && launch.world_size.value_or(1) > 1 &&
         launch.world_size == launch.local_world_size;
}

bool spans_machines(const LaunchFacts& launch) {
  return launch.world_size && launch.local_world_size &&
         *launch.world_size > *launch.local_world_size;
}

/// "mlx5_bond_0" of "mlx5_bond_0/1", where another device is active too.
std::vector<std::string> bonds_beside_others(const NetworkFacts& network) {
  std::set<std::string> bonds;
  bool others = false;
  for (const std::string& port : network.infiniband.value_or(std::vector<std::string>{})) {
    const std::string device = port.substr(0, port.find('/'));
    const bool bond = device.find("bond") != std::string::npos;
    others = others || !bond;
    if (bond) {
      bonds.insert(device);
    }
  }
  return others ? std::vector<std::string>(bonds.begin(), bonds.end()) : std::vector<std::string>{};
}

}  // namespace

std::optional<std::vector<std::string>> usable_interfaces(const NetworkFacts& network) {
  if (!network.interfaces || !network.interface_addresses ||
      network.interface_addresses->size() != network.interfaces->size()) {
    return network.interfaces;
  }
  std::vector<std::string> out;
  for (size_t i = 0; i < network.interfaces->size(); ++i) {
    if ((*network.interface_addresses)[i] != "none") {
      out.push_back((*network.interfaces)[i]);
    }
  }
  return out;
}

std::vector<ProcessVariable> nccl_evidence(const MachineFacts& machine) {
  if (has_only_loopback(machine)) {
    const std::string reason =
        fill("no interface but lo {}, and every process is on this machine",
             machine.network.interfaces->empty() ? "is up" : "has an address");
    return {{"NCCL_SOCKET_IFNAME", "lo", reason}, {"GLOO_SOCKET_IFNAME", "lo", reason}};
  }
  const std::vector<std::string> bonds = bonds_beside_others(machine.network);
  if (spans_machines(machine.launch) && !bonds.empty()) {
    return {{"NCCL_IB_HCA", "^=" + join(bonds, ","),
             fill("{} carries the machine's other traffic, beside InfiniBand ports that do not",
                  quote(join(bonds, ", ")))}};
  }
  return {};
}

Decision<NcclSettings> choose_nccl_settings(const Request<NcclSettings>& asked,
                                            const MachineFacts& machine) {
  if (asked.value) {
    return grant(asked);
  }
  const std::vector<ProcessVariable> evidence = nccl_evidence(machine);
  if (evidence.empty()) {
    return {NcclSettings::kUnchanged, Source::kDefault, "no fact speaks for a setting of NCCL"};
  }
  std::vector<std::string> settings;
  settings.reserve(evidence.size());
  for (const ProcessVariable& variable : evidence) {
    settings.push_back(fill("{}={}", variable.name, variable.value));
  }
  return {NcclSettings::kByEvidence, Source::kFacts,
          fill("{}: {}", join(settings, ", "), evidence.front().reason)};
}

}  // namespace libtrain
