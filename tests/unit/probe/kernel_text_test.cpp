// What the kernel tells of GPUs and libraries beside the driver.
#include <gtest/gtest.h>

#include "libtrain/probe/loaded_libraries.hpp"
#include "libtrain/probe/pci_bridges.hpp"
#include "libtrain/probe/xid.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

using Names = std::vector<std::string>;
using Xids = std::map<std::string, Names>;

TEST(Xids, AreReadByBusIdOnceEach) {
  EXPECT_EQ(parse_xids(
                "[67.5] NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has "
                "fallen off the bus.\n"
                "[67.6] NVRM: Xid (PCI:0000:9B:00): 119, pid=7358, name=proc, Timeout after 6s\n"
                "[67.7] NVRM: Xid (PCI:0000:9b:00): 119, pid=7358, name=proc, Timeout after 6s\n"
                "kern  :warn  : 2025-01-21T04:41:44,28+00:00 NVRM: Xid (0000:38:00): 13, Graphics\n"
                "NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None)"),
            (Xids{{"0000:91:00", {"79"}}, {"0000:9b:00", {"119", "154"}}, {"0000:38:00", {"13"}}}));
}

TEST(Xids, OtherAndBrokenLinesAreNone) {
  EXPECT_EQ(parse_xids("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal\n"
                       "NVRM: GPU at PCI:0000:91:00: GPU-3\n"
                       "NVRM: Xid (PCI:0000:91:00\n"
                       "NVRM: Xid (PCI:0000:91:00): , x\n"
                       "NVRM: Xid (PCI:0000:91:00): -1, x\n"
                       "NVRM: Xid ("),
            Xids{});
}

TEST(LoadedLibraries, AreNcclAndCudnnOnceEach) {
  EXPECT_EQ(parse_loaded_libraries(
                "7f00-7f01 r-xp 00000000 08:01 11 /v/nvidia/nccl/lib/libnccl.so.2\n"
                "7f01-7f02 rw-p 00001000 08:01 11 /v/nvidia/nccl/lib/libnccl.so.2\n"
                "7f03-7f04 r-xp 00000000 08:01 12 /usr/lib/my folder/libnccl.so.2.19.3 (deleted)\n"
                "7f05-7f06 r-xp 00000000 08:01 13 /v/cudnn/lib/libcudnn.so.9\n"
                "7f05-7f06 r-xp 00000000 08:01 13 /v/cudnn/lib/libcudnn_ops.so.9\n"
                "7f07-7f08 rw-p 00000000 00:00 0 [heap]\n"
                "broken"),
            (Names{"/v/nvidia/nccl/lib/libnccl.so.2", "/usr/lib/my folder/libnccl.so.2.19.3",
                   "/v/cudnn/lib/libcudnn.so.9"}));
}

TEST(PciBridges, AreTheFoldersAboveTheDevice) {
  FakeSources sources;
  EXPECT_EQ(pci_bridges(sources, "00000000:17:00.0"), std::nullopt);
  sources.links["/sys/bus/pci/devices/0000:17:00.0"] =
      "/sys/devices/pci0000:00/0000:00:01.0/0000:15:00.0/0000:16:04.0/0000:17:00.0";
  EXPECT_EQ(pci_bridges(sources, "00000000:17:00.0"),
            (Names{"0000:00:01.0", "0000:15:00.0", "0000:16:04.0"}));
}

/// A configuration space with a capability of `id` at 0x100 and ACS, with `control`, at 0x148.
std::string configuration(unsigned char control) {
  std::string text(4096, '\0');
  text[0x100] = 0x01;
  text[0x102] = static_cast<char>(0x81);  // the next one is at 0x148
  text[0x103] = 0x14;
  text[0x148] = 0x0D;
  text[0x14E] = static_cast<char>(control);
  return text;
}

TEST(PciBridges, RedirectByTheirAccessControl) {
  EXPECT_EQ(parse_acs_redirect(configuration(0x1D)), true);   // SrcValid+ ReqRedir+ CmpltRedir+ Up+
  EXPECT_EQ(parse_acs_redirect(configuration(0x11)), false);  // SrcValid+ UpstreamFwd+
  EXPECT_EQ(parse_acs_redirect(std::string(4096, '\0')), false);
  EXPECT_EQ(parse_acs_redirect(std::string(64, '\0')), std::nullopt) << "what a user may read";
  std::string endless = configuration(0x1D);
  endless[0x148] = 0x02;
  endless[0x14A] = static_cast<char>(0x01);
  endless[0x14B] = 0x10;  // back to 0x100
  EXPECT_EQ(parse_acs_redirect(endless), false);
}

TEST(PciBridges, AreUnknownWhenOneCannotBeRead) {
  FakeSources sources;
  sources.files = {{"/sys/bus/pci/devices/0000:00:01.0/config", configuration(0x1D)},
                   {"/sys/bus/pci/devices/0000:15:00.0/config", configuration(0x00)}};
  EXPECT_EQ(acs_bridges(sources, {"0000:00:01.0", "0000:15:00.0"}), Names{"0000:00:01.0"});
  EXPECT_EQ(acs_bridges(sources, {"0000:00:01.0", "0000:16:00.0"}), std::nullopt);
  EXPECT_EQ(acs_bridges(sources, {}), Names{});
}

}  // namespace
}  // namespace libtrain
