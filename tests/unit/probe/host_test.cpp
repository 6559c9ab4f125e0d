#include "libtrain/probe/host.hpp"

#include <gtest/gtest.h>

#include "libtrain/probe/limits.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

TEST(Host, ReadsSystemAndMemory) {
  FakeSources sources;
  sources.name = {
      .os = "Linux", .kernel = "6.1.0-18-amd64", .machine = "x86_64", .libc = "glibc 2.36"};
  sources.files["/proc/meminfo"] =
      "MemTotal:       32489496 kB\nMemFree:        1118332 kB\nMemAvailable:   28118332 kB\n";
  sources.file_systems["/dev/shm"] = 64 << 20;
  const HostFacts facts =
      probe_host(sources, {.quota_cpus = 1, .memory_bytes = 5, .cpuset_cpus = 1});
  HostFacts expected;
  expected.os = "linux";
  expected.kernel = "6.1.0-18-amd64";
  expected.libc = "glibc 2.36";
  expected.container = false;
  expected.wsl = false;
  expected.memory_bytes = int64_t{32489496} * 1024;
  expected.memory_limit_bytes = 5;
  expected.memory_available_bytes = int64_t{28118332} * 1024;
  expected.shared_memory_bytes = 64 << 20;
  EXPECT_EQ(facts, expected);
}

TEST(Host, NamesItsHypervisor) {
  FakeSources sources;
  sources.cpuid_leaves[{0x40000000, 0}] = {
      .eax = 0, .ebx = 0x4B4D564B, .ecx = 0x564B4D56, .edx = 0x4D};
  sources.cpuid_leaves[{1, 0}].ecx = 0;
  EXPECT_EQ(probe_host(sources, {}).hypervisor, std::nullopt) << "leaf 1 knows of none";
  sources.cpuid_leaves[{1, 0}].ecx = 1U << 31U;
  EXPECT_EQ(probe_host(sources, {}).hypervisor, "KVMKVMKVM");
  sources.cpuid_leaves[{0x40000000, 0}].ebx = 0x01020304;
  EXPECT_EQ(probe_host(sources, {}).hypervisor, std::nullopt);
}

TEST(Host, LeavesUnreadableMemoryUnknown) {
  FakeSources sources;
  for (const char* text : {"", "MemTotal: many kB\n", "MemTotal: 1 MB\n", "MemTotal:"}) {
    sources.files["/proc/meminfo"] = text;
    EXPECT_EQ(probe_host(sources, {}).memory_bytes, std::nullopt) << text;
  }
}

TEST(Host, KnowsContainersByWhatTheyLeave) {
  const auto runtime = [](auto change) {
    FakeSources sources;
    sources.files["/proc/1/cgroup"] = "0::/init.scope\n";
    change(sources);
    const HostFacts facts = probe_host(sources, {});
    EXPECT_EQ(facts.container, facts.container_runtime.has_value());
    return facts.container_runtime;
  };
  const auto grouped = [&](const char* group) {
    return runtime([&](auto& s) { s.files["/proc/1/cgroup"] = group; });
  };
  const auto set = [&](const char* name, const char* value) {
    return runtime([&](auto& s) { s.variables[name] = value; });
  };
  EXPECT_EQ(runtime([](auto&) {}), std::nullopt);
  EXPECT_EQ(runtime([](auto& s) { s.files["/.dockerenv"] = ""; }), "docker");
  EXPECT_EQ(runtime([](auto& s) { s.files["/run/.containerenv"] = ""; }), "podman");
  EXPECT_EQ(set("KUBERNETES_SERVICE_HOST", "10.0.0.1"), "kubernetes");
  EXPECT_EQ(set("APPTAINER_CONTAINER", "/images/torch.sif"), "apptainer");
  EXPECT_EQ(set("SINGULARITY_CONTAINER", "/images/torch.sif"), "apptainer");
  EXPECT_EQ(set("container", "systemd-nspawn"), "systemd-nspawn");
  EXPECT_EQ(grouped("2:cpu:/docker/0123\n"), "docker");
  EXPECT_EQ(grouped("0::/kubepods.slice/pod1/cri-containerd-7.scope\n"), "kubernetes");
  EXPECT_EQ(grouped("0::/machine.slice/libpod-7.scope\n"), "podman");
  EXPECT_EQ(grouped("0::/lxc/one\n"), "lxc");
  EXPECT_EQ(grouped("0::/system.slice/containerd.service\n"), "containerd");
}

TEST(Host, APodsContainerIsKubernetesWhateverMadeIt) {
  FakeSources sources;
  sources.files["/.dockerenv"] = "";
  sources.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_EQ(probe_host(sources, {}).container_runtime, "kubernetes");
}

TEST(Host, ReadsLimitsAndTheWorkingFolder) {
  FakeSources sources;
  sources.files["/proc/self/limits"] =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max open files            1024                 1048576              files     \n"
      "Max locked memory         unlimited            unlimited            bytes     \n";
  sources.files["/proc/sys/vm/overcommit_memory"] = "2\n";
  sources.cpuid_leaves[{1, 0}].ecx = 1U << 31U;
  sources.free_bytes = {{"/dev/shm", 7}, {".", 9}};
  sources.writable_folders = {{".", false}};
  const HostFacts facts = probe_host(sources, {});
  EXPECT_EQ(facts.open_files, 1024);
  EXPECT_EQ(facts.locked_memory_bytes, kUnlimited);
  EXPECT_EQ(facts.overcommit_memory, 2);
  EXPECT_EQ(facts.virtual_machine, true);
  EXPECT_EQ(facts.shared_memory_free_bytes, 7);
  EXPECT_EQ(facts.folder_free_bytes, 9);
  EXPECT_EQ(facts.folder_writable, false);
}

TEST(Host, LeavesUnreadableLimitsUnknown) {
  for (const char* text : {"", "Max open files", "Max open files            many many files",
                           "Max open filesystems      7                    7   files"}) {
    EXPECT_EQ(parse_soft_limit(text, "Max open files"), std::nullopt) << text;
  }
  EXPECT_EQ(parse_soft_limit("Max open files 12 13 files", "Max open files"), 12);
}

TEST(Host, KnowsWslByItsKernel) {
  FakeSources sources;
  sources.name.kernel = "5.15.167.4-microsoft-standard-WSL2";
  EXPECT_EQ(probe_host(sources, {}).wsl, true);
}

}  // namespace
}  // namespace libtrain
