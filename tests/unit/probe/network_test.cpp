#include "libtrain/probe/network.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

using Names = std::vector<std::string>;

TEST(Network, ListsInterfacesThatAreUp) {
  FakeSources sources;
  sources.files = {{"/sys/class/net/lo/operstate", "unknown\n"},
                   {"/sys/class/net/eth0/operstate", "up\n"},
                   {"/sys/class/net/eth1/operstate", "down\n"},
                   {"/sys/class/net/tun0/operstate", "unknown\n"},
                   {"/sys/class/net/bonding_masters", "bond0\n"}};
  sources.files["/sys/class/net/eth0/speed"] = "25000\n";
  sources.files["/sys/class/net/tun0/speed"] = "-1\n";
  EXPECT_EQ(probe_network(sources).interfaces, (Names{"eth0", "tun0"}));
  EXPECT_EQ(probe_network(sources).interface_mbps, (Names{"25000", "?"}));
  sources.files = {{"/sys/class/net/lo/operstate", "unknown\n"}};
  EXPECT_EQ(probe_network(sources).interfaces, Names{});
  sources.files = {};
  EXPECT_EQ(probe_network(sources), NetworkFacts{}) << "/sys is not there";
}

TEST(Network, TellsActiveInfinibandPortsFromOthers) {
  FakeSources sources;
  sources.files = {{"/sys/class/net/lo/operstate", "unknown\n"},
                   {"/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"},
                   {"/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n"},
                   {"/sys/class/infiniband/mlx5_0/device/numa_node", "1\n"},
                   {"/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n"},
                   {"/sys/class/infiniband/mlx5_2/ports/1/state", "4: ACTIVE\n"},
                   {"/sys/class/infiniband/mlx5_2/ports/1/rate", "fast\n"},
                   {"/sys/class/infiniband/mlx5_2/device/numa_node", "-1\n"},
                   {"/sys/class/infiniband/mlx5_1/ports/2/state", "2: INIT\n"}};
  const NetworkFacts facts = probe_network(sources);
  EXPECT_EQ(facts.infiniband, (Names{"mlx5_0/1", "mlx5_2/1"}));
  EXPECT_EQ(facts.infiniband_gbps, (Names{"400", "?"}));
  EXPECT_EQ(facts.infiniband_nodes, (Names{"1", "?"}));
  EXPECT_EQ(facts.infiniband_down, (Names{"mlx5_1/1", "mlx5_1/2"}));
  EXPECT_EQ(facts.peer_memory, false);
}

TEST(Network, KnowsTheModuleThatLetsCardsReadGpuMemory) {
  FakeSources sources;
  sources.files["/sys/class/net/lo/operstate"] = "unknown\n";
  sources.files["/sys/module/nvidia_peermem/refcnt"] = "0\n";
  EXPECT_EQ(probe_network(sources).peer_memory, true);
  EXPECT_EQ(probe_network(sources).gdrcopy, false);
  sources.files["/sys/module/gdrdrv/refcnt"] = "0\n";
  EXPECT_EQ(probe_network(sources).gdrcopy, true);
}

}  // namespace
}  // namespace libtrain
