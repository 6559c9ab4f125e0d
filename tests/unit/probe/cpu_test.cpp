#include "libtrain/probe/cpu.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/cpu_list.hpp"
#include "libtrain/probe/cpu_topology.hpp"
#include "libtrain/probe/cpuid.hpp"
#include "libtrain/probe/cpuinfo.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

constexpr uint64_t kSavesAvx = 0x7;
constexpr uint64_t kSavesAvx512 = kSavesAvx | 0xE0;
constexpr uint64_t kSavesTiles = kSavesAvx512 | 0x60000;

/// A Sapphire Rapids: all that is asked for.
FakeSources sapphire_rapids(uint64_t saved_registers) {
  FakeSources sources;
  sources.cpuid_leaves[{1, 0}].ecx = 1U << 12U;
  sources.cpuid_leaves[{7, 0}] = {.eax = 2,
                                  .ebx = 1U << 5U | 1U << 16U | 1U << 17U | 1U << 30U | 1U << 31U,
                                  .ecx = 0,
                                  .edx = 1U << 22U | 1U << 24U};
  sources.cpuid_leaves[{7, 1}].eax = 1U << 5U;
  sources.saved_registers = saved_registers;
  return sources;
}

TEST(X86Features, NeedTheRegistersThatTheSystemSaves) {
  EXPECT_EQ(x86_features(sapphire_rapids(0)), X86Features{});
  EXPECT_EQ(x86_features(sapphire_rapids(kSavesAvx)), X86Features{.avx2 = true});
  EXPECT_EQ(x86_features(sapphire_rapids(kSavesAvx512)),
            (X86Features{.avx2 = true, .avx512 = true, .avx512_bf16 = true}));
  EXPECT_EQ(x86_features(sapphire_rapids(kSavesTiles)),
            (X86Features{.avx2 = true, .avx512 = true, .avx512_bf16 = true, .amx_bf16 = true}));
}

TEST(X86Features, NeedEveryPartOfWhatTheyName) {
  const auto without = [](auto remove) {
    FakeSources sources = sapphire_rapids(kSavesTiles);
    remove(sources);
    return x86_features(sources);
  };
  EXPECT_FALSE(without([](auto& s) { s.cpuid_leaves[{1, 0}].ecx = 0; }).avx2) << "FMA";
  for (const unsigned bit : {16U, 17U, 30U, 31U}) {
    const X86Features out = without([&](auto& s) { s.cpuid_leaves[{7, 0}].ebx &= ~(1U << bit); });
    EXPECT_FALSE(out.avx512 || out.avx512_bf16) << bit;
    EXPECT_TRUE(out.avx2);
  }
  EXPECT_FALSE(without([](auto& s) { s.cpuid_leaves[{7, 0}].edx = 1U << 22U; }).amx_bf16);
  EXPECT_FALSE(without([](auto& s) { s.saved_registers = kSavesAvx512 | 1U << 17U; }).amx_bf16);
  EXPECT_FALSE(without([](auto& s) {
                 s.cpuid_leaves[{7, 0}].eax = 0;
               }).avx512_bf16)
      << "a subleaf beyond the highest answers with anything";
}

TEST(X86Features, AreAbsentOnOtherProcessors) {
  EXPECT_EQ(x86_features(FakeSources{}), X86Features{});
}

TEST(CpuList, ReadsTheKernelsForms) {
  EXPECT_EQ(parse_cpu_list("0-3,8,10-11\n"), (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_cpu_list("5,1,1-2"), (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(parse_cpu_list("\n"), std::vector<int>{});
  EXPECT_EQ(format_cpu_list(*parse_cpu_list("5,1,1-2,10-11")), "1-2,5,10-11");
  EXPECT_EQ(format_cpu_list({}), "");
  for (const char* text : {"a", "1-", "-1", "3-1", "1,,2", "1-2-3", "0-4000000000", "1 2"}) {
    EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
  }
}

TEST(CpuInfo, TakesTheModelAndTheCoresOfEachProcessor) {
  const CpuInfo info = parse_cpuinfo(
      "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Platinum 8480+\nphysical id\t: 0\ncore "
      "id\t\t: 4\n\n"
      "processor       : 1\nmodel name      : other\nphysical id     : 1\ncore id         : 4\n\n");
  EXPECT_EQ(info.model, "Intel(R) Xeon(R) Platinum 8480+");
  EXPECT_EQ(info.cores, (std::map<int, std::pair<int, int>>{{0, {0, 4}}, {1, {1, 4}}}));
  EXPECT_EQ(info.arm_bf16, std::nullopt);
}

TEST(CpuInfo, ReadsBf16OnArmAsAWordOfItsOwn) {
  const std::string graviton3 =
      "processor\t: 0\nFeatures\t: fp asimd sve svebf16 i8mm bf16 dgh rng\nCPU implementer\t: "
      "0x41\n"
      "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\n";
  EXPECT_EQ(parse_cpuinfo(graviton3).arm_bf16, true);
  EXPECT_EQ(parse_cpuinfo(graviton3).model, "ARM implementer 0x41 part 0xd40");
  EXPECT_EQ(parse_cpuinfo("Features : fp asimd svebf16\n").arm_bf16, false);
}

/// `threads` logical CPUs a core, numbered as Linux does: all first threads, then all second ones.
void add_cores(FakeSources& sources, int packages, int cores, int threads) {
  const int first_threads = packages * cores;
  for (int cpu = 0; cpu < first_threads * threads; ++cpu) {
    const int core = cpu % first_threads;
    const std::string folder = fill("/sys/devices/system/cpu/cpu{}/topology/", cpu);
    sources.files[folder + "physical_package_id"] = fill("{}\n", core / cores);
    sources.files[folder + "thread_siblings_list"] =
        threads == 1 ? fill("{}\n", core) : fill("{},{}\n", core, core + first_threads);
  }
  sources.files["/sys/devices/system/cpu/online"] = fill("0-{}\n", first_threads * threads - 1);
}

TEST(CpuTopology, CountsSocketsCoresAndThreads) {
  FakeSources sources;
  add_cores(sources, 2, 20, 2);
  sources.files["/sys/devices/system/node/node0/cpulist"] = "0-19,40-59\n";
  sources.files["/sys/devices/system/node/node1/cpulist"] = "20-39,60-79\n";
  sources.files["/sys/devices/system/node/node2/cpulist"] = "\n";  // a GPU's memory
  sources.files["/sys/devices/system/node/possible"] = "0-2\n";
  const CpuTopology topology = probe_cpu_topology(sources, {}, false);
  EXPECT_EQ(topology.sockets(), 2);
  EXPECT_EQ(topology.cores(), 40);
  EXPECT_EQ(topology.logical_cpus(), 80);
  EXPECT_EQ(topology.numa_nodes(), 2);
  EXPECT_EQ(topology.performance_cores, std::nullopt);
  EXPECT_EQ(topology.cores_of(std::vector<int>{0, 40, 1}), 2) << "0 and 40 are one core";
  EXPECT_EQ(topology.cores_of(std::vector<int>{0, 80}), std::nullopt);
}

TEST(CpuTopology, NamesTheNodesOfTheMask) {
  FakeSources sources;
  for (int node = 0; node <= 10; ++node) {
    sources.files[fill("/sys/devices/system/node/node{}/cpulist", node)] = fill("{}\n", node);
  }
  const CpuTopology topology = probe_cpu_topology(sources, {}, false);
  EXPECT_EQ(topology.nodes_of(std::vector<int>{2, 10}), (std::vector<std::string>{"2", "10"}));
  EXPECT_EQ(topology.nodes_of(std::vector<int>{99}), std::nullopt);
}

TEST(Cpu, ReadsCachesAndTheMemoryOfNodes) {
  using Texts = std::vector<std::string>;
  FakeSources sources;
  sources.affinity_mask = {2};
  const std::string cache = "/sys/devices/system/cpu/cpu2/cache/index";
  const std::string node = "/sys/devices/system/node/node";
  sources.files = {{cache + "0/level", "1\n"},
                   {cache + "0/type", "Data\n"},
                   {cache + "0/size", "48K\n"},
                   {cache + "1/level", "1\n"},
                   {cache + "1/type", "Instruction\n"},
                   {cache + "1/size", "32K\n"},
                   {cache + "2/level", "2\n"},
                   {cache + "2/type", "Unified\n"},
                   {cache + "2/size", "2048K\n"},
                   {node + "10/meminfo", "Node 10 MemTotal:       many kB\n"},
                   {node + "9/meminfo", "Node 9 MemTotal:       4 kB\nNode 9 MemFree: 1 kB\n"}};
  EXPECT_EQ(probe_cpu(sources, {}).caches, (Texts{"L1 data 48K", "L2 2048K"}));
  EXPECT_EQ(probe_cpu(sources, {}).node_memory_bytes, (Texts{"4096", "?"}));
  EXPECT_EQ(probe_cpu(FakeSources{}, {}).caches, std::nullopt);
  EXPECT_EQ(probe_cpu(FakeSources{}, {}).node_memory_bytes, std::nullopt);
}

TEST(Cpu, ReadsWhoseMemoryTheCpusetAllows) {
  using Nodes = std::vector<std::string>;
  FakeSources sources;
  const auto nodes = [&](const std::string& status) {
    sources.files["/proc/self/status"] = status;
    return probe_cpu(sources, {}).memory_nodes;
  };
  EXPECT_EQ(nodes("Name:\tx\nMems_allowed:\tb\nMems_allowed_list:\t0-1,3\n"),
            (Nodes{"0", "1", "3"}));
  EXPECT_EQ(nodes("Mems_allowed_list:\t\n"), std::nullopt);
  EXPECT_EQ(nodes("Mems_allowed_list:\tall\n"), std::nullopt);
  EXPECT_EQ(nodes("Name:\tx\n"), std::nullopt);
}

TEST(Cpu, ReadsHowItsFrequencyIsGoverned) {
  FakeSources sources;
  sources.affinity_mask = {3, 4};
  sources.files["/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"] = "powersave\n";
  sources.files["/sys/devices/system/cpu/cpu3/cpufreq/scaling_driver"] = "acpi-cpufreq\n";
  const CpuFacts facts = probe_cpu(sources, {});
  EXPECT_EQ(facts.governor, "powersave");
  EXPECT_EQ(facts.frequency_driver, "acpi-cpufreq");
  EXPECT_EQ(probe_cpu(FakeSources{}, {}).governor, std::nullopt);
}

TEST(CpuTopology, FallsBackToCpuinfoWithoutSysfs) {
  const CpuInfo info = parse_cpuinfo(
      "processor: 0\nphysical id: 0\ncore id: 0\nprocessor: 1\nphysical id: 0\ncore id: 0\n"
      "processor: 2\nphysical id: 1\ncore id: 0\n");
  const CpuTopology topology = probe_cpu_topology(FakeSources{}, info, false);
  EXPECT_EQ(topology.sockets(), 2);
  EXPECT_EQ(topology.cores(), 2);
  EXPECT_EQ(topology.logical_cpus(), 3);
}

TEST(CpuTopology, IsUnknownWhenNothingSaysIt) {
  const CpuTopology topology = probe_cpu_topology(FakeSources{}, {}, true);
  EXPECT_EQ(topology.sockets(), std::nullopt);
  EXPECT_EQ(topology.cores(), std::nullopt);
  EXPECT_EQ(topology.logical_cpus(), std::nullopt);
  EXPECT_EQ(topology.numa_nodes(), std::nullopt);
}

/// Core i7-1370P: six cores with two threads (cpu0-11), eight with one (cpu12-19).
FakeSources hybrid_laptop() {
  FakeSources sources;
  sources.files["/sys/devices/system/cpu/online"] = "0-19\n";
  for (int cpu = 0; cpu < 20; ++cpu) {
    const std::string folder = fill("/sys/devices/system/cpu/cpu{}/", cpu);
    const int first = cpu < 12 ? cpu / 2 * 2 : cpu;
    sources.files[folder + "topology/physical_package_id"] = "0\n";
    sources.files[folder + "topology/thread_siblings_list"] =
        cpu < 12 ? fill("{}-{}\n", first, first + 1) : fill("{}\n", cpu);
    sources.files[folder + "cpufreq/base_frequency"] = cpu < 12 ? "1900000\n" : "1400000\n";
  }
  return sources;
}

TEST(CpuTopology, CountsPerformanceCoresByTheKernelsList) {
  FakeSources sources = hybrid_laptop();
  sources.files["/sys/devices/cpu_core/cpus"] = "0-11\n";
  sources.files["/sys/devices/cpu_atom/cpus"] = "12-19\n";
  EXPECT_EQ(probe_cpu_topology(sources, {}, true).performance_cores, 6);
}

TEST(CpuTopology, CountsPerformanceCoresByNominalFrequencyOnHybridsAlone) {
  const FakeSources sources = hybrid_laptop();
  EXPECT_EQ(probe_cpu_topology(sources, {}, true).cores(), 14);
  EXPECT_EQ(probe_cpu_topology(sources, {}, true).performance_cores, 6);
  EXPECT_EQ(probe_cpu_topology(sources, {}, false).performance_cores, std::nullopt);
}

TEST(CpuTopology, CountsBigCoresOfAnArmProcessorByCapacity) {
  FakeSources sources;  // DGX Spark: cpu5-9 and cpu15-19 are the big ones
  add_cores(sources, 1, 20, 1);
  for (int cpu = 0; cpu < 20; ++cpu) {
    const bool big = cpu % 10 >= 5;
    const int capacity = cpu < 10 ? (big ? 997 : 718) : (big ? 1017 + cpu % 2 * 7 : 731);
    sources.files[fill("/sys/devices/system/cpu/cpu{}/cpu_capacity", cpu)] = fill("{}\n", capacity);
  }
  EXPECT_EQ(probe_cpu_topology(sources, {}, false).performance_cores, 10);
}

TEST(CpuTopology, CoresOfOneKindAreNotCalledHybrid) {
  FakeSources sources;
  add_cores(sources, 1, 4, 1);
  for (int cpu = 0; cpu < 4; ++cpu) {
    sources.files[fill("/sys/devices/system/cpu/cpu{}/cpu_capacity", cpu)] = "1024\n";
  }
  EXPECT_EQ(probe_cpu_topology(sources, {}, false).performance_cores, std::nullopt);
}

TEST(Cpu, JoinsWhatTheMachineHasAndWhatTheProcessMayUse) {
  FakeSources sources = sapphire_rapids(kSavesTiles);
  add_cores(sources, 1, 8, 2);
  sources.name.machine = "x86_64";
  sources.affinity_mask = {0, 8, 1};
  const CpuFacts facts =
      probe_cpu(sources, {.quota_cpus = 2.5, .memory_bytes = 1, .cpuset_cpus = 6});
  EXPECT_EQ(facts.architecture, "x86_64");
  EXPECT_EQ(facts.cores, 8);
  EXPECT_EQ(facts.affinity_cpus, 3);
  EXPECT_EQ(facts.affinity_cores, 2);
  EXPECT_EQ(facts.quota_cpus, 2.5);
  EXPECT_EQ(facts.cpuset_cpus, 6);
  EXPECT_EQ(facts.amx_bf16, true);
  EXPECT_EQ(facts.arm_bf16, false);
}

TEST(Cpu, AMachineThatSaysNothingHasUnknownFacts) {
  const CpuFacts facts = probe_cpu(FakeSources{}, {});
  EXPECT_EQ(facts.architecture, std::nullopt);
  EXPECT_EQ(facts.model, std::nullopt);
  EXPECT_EQ(facts.affinity_cpus, std::nullopt);
  EXPECT_EQ(facts.affinity_cores, std::nullopt);
}

}  // namespace
}  // namespace libtrain
