#include "libtrain/probe/network.hpp"

#include <gtest/gtest.h>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/address_class.hpp"
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

TEST(Network, TellsHowFarAddressesReachAndNoAddress) {
  FakeSources sources;
  for (const char* name : {"lo", "eth0", "eth1", "ib0", "wt0"}) {
    sources.files[fill("/sys/class/net/{}/operstate", name)] = "up\n";
  }
  EXPECT_EQ(probe_network(sources).interface_addresses, std::nullopt);
  sources.interface_addresses = {{"lo", {"127.0.0.1"}},
                                 {"eth0", {"fe80::1", "192.168.7.4"}},
                                 {"eth1", {"169.254.3.9"}},
                                 {"wt0", {"fe80::2", "2001:db8::5"}}};
  EXPECT_EQ(probe_network(sources).interfaces, (Names{"eth0", "eth1", "ib0", "wt0"}));
  EXPECT_EQ(probe_network(sources).interface_addresses,
            (Names{"private", "link-local", "none", "ipv6"}));
}

TEST(AddressClass, IsTheWidestOfAll) {
  const auto class_of = [](Names addresses) { return address_class(addresses); };
  for (const char* address : {"10.255.255.255", "172.16.0.1", "172.31.255.1", "192.168.0.1",
                              "100.64.0.1", "100.127.255.1"}) {
    EXPECT_EQ(class_of({address}), "private") << address;
  }
  for (const char* address : {"11.0.0.1", "172.15.0.1", "172.32.0.1", "192.169.0.1", "100.63.0.1",
                              "100.128.0.1", "169.253.0.1", "8.8.8.8"}) {
    EXPECT_EQ(class_of({address}), "public") << address;
  }
  for (const char* address : {"127.0.0.1", "0.0.0.0", "::1", "rubbish", ""}) {
    EXPECT_EQ(class_of({address}), "none") << address;
  }
  EXPECT_EQ(class_of({"fe80::1"}), "link-local");
  EXPECT_EQ(class_of({"febf::1"}), "link-local");
  EXPECT_EQ(class_of({"fec0::1"}), "ipv6");
  EXPECT_EQ(class_of({"2001:db8::1", "10.0.0.1", "fe80::1"}), "private");
  EXPECT_EQ(class_of({"10.0.0.1", "8.8.8.8"}), "public");
  EXPECT_EQ(class_of({"2001:db8::1", "169.254.0.1"}), "ipv6");
  EXPECT_EQ(class_of({}), "none");
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
