#pragma once

#include <optional>
#include <string>
#include <vector>

namespace libtrain {

/// What other machines can be reached through. Empty fields are unknown.
struct NetworkFacts {
  std::optional<std::vector<std::string>> interfaces;      ///< those that are up, without "lo"
  std::optional<std::vector<std::string>> interface_mbps;  ///< in their order; "?": not told
  /// How far their addresses reach, in their order: "public", "private" (IPv4), "ipv6" (it alone),
  /// "link-local" or "none".
  std::optional<std::vector<std::string>> interface_addresses;
  std::optional<std::vector<std::string>> infiniband;  ///< active ports: "mlx5_0/1"
  /// Gb/s and NUMA node of each active port, in their order; "?" where it is unknown.
  std::optional<std::vector<std::string>> infiniband_gbps;
  std::optional<std::vector<std::string>> infiniband_nodes;
  std::optional<std::vector<std::string>> infiniband_down;  ///< all other ports
  std::optional<bool> gdrcopy;                              ///< gdrdrv is loaded
  std::optional<bool> peer_memory;  ///< nvidia_peermem is loaded: InfiniBand reads GPU memory

  friend bool operator==(const NetworkFacts&, const NetworkFacts&) = default;
};

}  // namespace libtrain
