#include "libtrain/probe/cgroup.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

constexpr const char* kMountinfoV2 =
    "34 33 0:29 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup "
    "rw,nsdelegate\n"
    "34 33 0:29 / /sys/fs/foo rw,nosuid,nodev,noexec,relatime shared:10 - foo cgroup "
    "rw,nsdelegate\n";

constexpr const char* kMountinfoV1 =
    "4 1 0:3 / /sys rw,nosuid,nodev,noexec,relatime shared:4 - sysfs sysfs rw\n"
    "5 4 0:4 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:5 - tmpfs tmpfs ro,mode=755\n"
    "6 5 0:5 / /sys/fs/cgroup/cpuset rw,relatime shared:6 - cgroup cgroup rw,cpuset\n"
    "7 5 0:6 /docker /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:7 - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "8 5 0:7 /docker /sys/fs/cgroup/memory rw,relatime shared:8 - cgroup cgroup rw,memory\n";

FakeSources version2(const std::string& group) {
  FakeSources sources;
  sources.files["/proc/self/mountinfo"] = kMountinfoV2;
  sources.files["/proc/self/cgroup"] = "0::" + group + "\n";
  return sources;
}

FakeSources version1() {
  FakeSources sources;
  sources.files["/proc/self/mountinfo"] = kMountinfoV1;
  sources.files["/proc/self/cgroup"] =
      "3:memory:/docker/large\n2:cpu,cpuacct:/docker\n1:cpuset:/\ninvalid-line:\n";
  return sources;
}

TEST(CpuMax, ReadsQuotaAndPeriod) {
  EXPECT_EQ(parse_cpu_max("250000 100000\n"), 2.5);
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(parse_cpu_max("883300 100000"), 8.833);
  EXPECT_EQ(parse_cpu_max("500000\n"), 5.0) << "the kernel's period is 100 ms";
}

TEST(CpuMax, IsNoLimitWhenItSaysSoOrMakesNoSense) {
  for (const char* text :
       {"max 100000\n", "max", "", "250000 0", "asdf 100000", "250000 -1", "0 100000", "-1 100000",
        "250000 100000 100", "250000  100000", "9e9 1"}) {
    EXPECT_EQ(parse_cpu_max(text), std::nullopt) << text;
  }
}

TEST(CfsQuota, ReadsQuotaAndPeriod) {
  EXPECT_EQ(parse_cfs_quota("600000\n", "100000\n"), 6.0);
  EXPECT_EQ(parse_cfs_quota("600000\n", std::nullopt), 6.0);
  EXPECT_EQ(parse_cfs_quota("-1\n", "100000\n"), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("600000\n", "0\n"), std::nullopt);
  EXPECT_EQ(parse_cfs_quota("non-an-integer", "100000"), std::nullopt);
}

TEST(CgroupMounts, KeepsBothVersionsAndUnescapesPaths) {
  const auto mounts = parse_cgroup_mounts(
      "1 0 0:1 / /sys/fs/cgroup/unified rw shared:1 - cgroup2 cgroup2 rw\n"
      "2 0 0:2 /a\\040b /mnt/c\\134d rw - cgroup cgroup rw,cpu\n"
      "3 0 0:3 / /other rw - ext4 /dev/sda1 rw\n"
      "broken\n4 0 - cgroup\n");
  ASSERT_EQ(mounts.size(), 2U);
  EXPECT_EQ(mounts[0], (CgroupMount{.version2 = true,
                                    .root = "/",
                                    .mount_point = "/sys/fs/cgroup/unified",
                                    .controllers = {}}));
  EXPECT_EQ(mounts[1], (CgroupMount{.version2 = false,
                                    .root = "/a b",
                                    .mount_point = "/mnt/c\\d",
                                    .controllers = {"rw", "cpu"}}));
}

TEST(CgroupFolders, GoFromTheGroupToTheMountPoint) {
  const CgroupMount mount = {.version2 = true, .root = "/", .mount_point = "/c", .controllers = {}};
  EXPECT_EQ(cgroup_folders(mount, "/a/b"), (std::vector<std::string>{"/c/a/b", "/c/a", "/c"}));
  EXPECT_EQ(cgroup_folders(mount, "/"), std::vector<std::string>{"/c"});
  EXPECT_EQ(cgroup_folders(mount, "/../a"), std::vector<std::string>{"/c"});
}

TEST(CgroupFolders, APathOfAnotherNamespaceLeavesTheMountPoint) {
  const CgroupMount mount = {
      .version2 = false, .root = "/docker/0123", .mount_point = "/c", .controllers = {}};
  EXPECT_EQ(cgroup_folders(mount, "/docker/0123/x"), (std::vector<std::string>{"/c/x", "/c"}));
  for (const char* path : {"/docker/0123", "/docker", "/docker/01234", "/elsewhere", "/../x", ""}) {
    EXPECT_EQ(cgroup_folders(mount, path), std::vector<std::string>{"/c"}) << path;
  }
}

TEST(Cgroup, TakesTheSmallestLimitOfAllParents) {
  FakeSources sources = version2("/a/b");
  sources.files["/sys/fs/cgroup/a/b/cpu.max"] = "300000 100000\n";
  sources.files["/sys/fs/cgroup/a/cpu.max"] = "150000 100000\n";
  sources.files["/sys/fs/cgroup/cpu.max"] = "400000 100000\n";
  sources.files["/sys/fs/cgroup/a/b/memory.max"] = "8589934592\n";
  sources.files["/sys/fs/cgroup/a/memory.max"] = "4294967296\n";
  sources.files["/sys/fs/cgroup/memory.max"] = "max\n";
  sources.files["/sys/fs/cgroup/a/b/cpuset.cpus.effective"] = "0-5\n";
  sources.files["/sys/fs/cgroup/cpuset.cpus.effective"] = "0-31\n";
  EXPECT_EQ(probe_cgroup(sources), (CgroupLimits{1.5, 4294967296, 6}));
}

TEST(Cgroup, ReadsTheNodesOwnLimitInsideAContainer) {
  FakeSources sources = version2("/");
  sources.files["/sys/fs/cgroup/cpu.max"] = "883300 100000\n";
  sources.files["/sys/fs/cgroup/memory.max"] = "19327352832\n";
  EXPECT_EQ(probe_cgroup(sources), (CgroupLimits{8.833, 19327352832, std::nullopt}));
}

TEST(Cgroup, ReadsVersion1BelowARootThatTheContainerSees) {
  FakeSources sources = version1();
  sources.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "600000\n";
  sources.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000\n";
  sources.files["/sys/fs/cgroup/memory/large/memory.limit_in_bytes"] = "9223372036854771712\n";
  sources.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "2147483648\n";
  sources.files["/sys/fs/cgroup/cpuset/cpuset.effective_cpus"] = "0,2,4-5\n";
  EXPECT_EQ(probe_cgroup(sources), (CgroupLimits{6.0, 2147483648, 4}));
}

TEST(Cgroup, Version1WithoutALimitIsUnlimited) {
  FakeSources sources = version1();
  sources.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "-1\n";
  sources.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000\n";
  sources.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712\n";
  EXPECT_EQ(probe_cgroup(sources), CgroupLimits{});
}

TEST(Cgroup, WithBothVersionsMountedTheControllersOwnOneCounts) {
  FakeSources sources;
  sources.files["/proc/self/mountinfo"] =
      "34 33 0:29 / /sys/fs/cgroup/unified rw shared:10 - cgroup2 cgroup2 rw,nsdelegate\n"
      "35 33 0:30 / /sys/fs/cgroup/systemd rw shared:11 - cgroup cgroup rw,xattr,name=systemd\n"
      "44 33 0:39 / /sys/fs/cgroup/cpu,cpuacct rw shared:21 - cgroup cgroup rw,cpu,cpuacct\n";
  sources.files["/proc/self/cgroup"] = "5:cpu,cpuacct:/job\n1:name=systemd:/unit\n0::/unit\n";
  sources.files["/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us"] = "300000\n";
  sources.files["/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us"] = "100000\n";
  EXPECT_EQ(probe_cgroup(sources).quota_cpus, 3.0);
}

TEST(Cgroup, NothingMountedIsNoLimit) {
  EXPECT_EQ(probe_cgroup(FakeSources{}), CgroupLimits{});
  FakeSources sources;
  sources.files["/proc/self/mountinfo"] = "garbage - \n - cgroup2";
  sources.files["/proc/self/cgroup"] = ":::\n::\n:";
  EXPECT_EQ(probe_cgroup(sources), CgroupLimits{});
}

}  // namespace
}  // namespace libtrain
