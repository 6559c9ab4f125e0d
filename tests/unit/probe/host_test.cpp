#include "libtrain/probe/host.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

TEST(Host, ReadsSystemAndMemory) {
  FakeSources sources;
  sources.name = {
      .os = "Linux", .kernel = "6.1.0-18-amd64", .machine = "x86_64", .libc = "glibc 2.36"};
  sources.files["/proc/meminfo"] = "MemTotal:       32489496 kB\nMemFree:        28118332 kB\n";
  sources.file_systems["/dev/shm"] = 64 << 20;
  const HostFacts facts =
      probe_host(sources, {.quota_cpus = 1, .memory_bytes = 5, .cpuset_cpus = 1});
  EXPECT_EQ(facts, (HostFacts{.os = "linux",
                              .kernel = "6.1.0-18-amd64",
                              .libc = "glibc 2.36",
                              .container = false,
                              .wsl = false,
                              .memory_bytes = int64_t{32489496} * 1024,
                              .memory_limit_bytes = 5,
                              .shared_memory_bytes = 64 << 20}));
}

TEST(Host, LeavesUnreadableMemoryUnknown) {
  FakeSources sources;
  for (const char* text : {"", "MemTotal: many kB\n", "MemTotal: 1 MB\n", "MemTotal:"}) {
    sources.files["/proc/meminfo"] = text;
    EXPECT_EQ(probe_host(sources, {}).memory_bytes, std::nullopt) << text;
  }
}

TEST(Host, KnowsContainersByWhatTheyLeave) {
  const auto container = [](auto change) {
    FakeSources sources;
    sources.files["/proc/1/cgroup"] = "0::/init.scope\n";
    change(sources);
    return probe_host(sources, {}).container;
  };
  EXPECT_EQ(container([](auto&) {}), false);
  EXPECT_EQ(container([](auto& s) { s.files["/.dockerenv"] = ""; }), true);
  EXPECT_EQ(container([](auto& s) { s.files["/run/.containerenv"] = ""; }), true);
  EXPECT_EQ(container([](auto& s) { s.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"; }), true);
  EXPECT_EQ(container([](auto& s) { s.variables["container"] = "lxc"; }), true);
  EXPECT_EQ(container([](auto& s) { s.files["/proc/1/cgroup"] = "2:cpu:/docker/0123\n"; }), true);
}

TEST(Host, KnowsWslByItsKernel) {
  FakeSources sources;
  sources.name.kernel = "5.15.167.4-microsoft-standard-WSL2";
  EXPECT_EQ(probe_host(sources, {}).wsl, true);
}

}  // namespace
}  // namespace libtrain
