#include "libtrain/plan/choose_threads.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "libtrain/plan/option_table.hpp"
#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::program_asks;

CpuFacts sixteen_cores() {
  CpuFacts cpu;
  cpu.cores = 64;
  cpu.logical_cpus = 128;
  cpu.affinity_cpus = 32;
  cpu.affinity_cores = 16;
  return cpu;
}

void expect_threads(const CpuFacts& cpu, const LaunchFacts& launch, int threads, Source source,
                    const std::string& reason) {
  EXPECT_EQ(choose_threads({}, cpu, launch), (Decision<int>{threads, source, reason}));
}

TEST(ChooseThreads, TheSmallestBoundDecides) {
  CpuFacts cpu = sixteen_cores();
  expect_threads(cpu, {}, 16, Source::kFacts, "16 physical cores in the affinity mask");
  cpu.cpuset_cpus = 8;
  expect_threads(cpu, {}, 8, Source::kFacts, "cpuset of 8 CPUs");
  cpu.quota_cpus = 2.5;
  expect_threads(cpu, {}, 3, Source::kFacts, "cgroup quota of 2.5 CPUs, rounded up");
  cpu.quota_cpus = 4.0;
  expect_threads(cpu, {}, 4, Source::kFacts, "cgroup quota of 4 CPUs");
  cpu.quota_cpus = 0.25;
  expect_threads(cpu, {}, 1, Source::kFacts, "cgroup quota of 0.25 CPUs, rounded up");
  cpu.quota_cpus = 64.0;
  expect_threads(cpu, {}, 8, Source::kFacts, "cpuset of 8 CPUs");
}

TEST(ChooseThreads, HybridCpusCountPerformanceCores) {
  CpuFacts cpu = sixteen_cores();
  cpu.performance_cores = 6;
  expect_threads(cpu, {}, 6, Source::kFacts, "6 performance cores of a hybrid CPU");
}

TEST(ChooseThreads, ProcessesOfOneMachineShareTheCores) {
  LaunchFacts launch;
  launch.local_world_size = 3;
  expect_threads(sixteen_cores(), launch, 5, Source::kFacts,
                 "16 physical cores in the affinity mask, divided by 3 processes on this machine");
  launch.local_world_size = 40;
  EXPECT_EQ(choose_threads({}, sixteen_cores(), launch).value, 1);
}

TEST(ChooseThreads, FallsBackToWhatIsKnown) {
  CpuFacts cpu;
  expect_threads(cpu, {}, 1, Source::kDefault, "the number of cores is unknown");
  cpu.logical_cpus = 8;
  expect_threads(cpu, {}, 8, Source::kFacts, "8 CPUs");
  cpu.cores = 4;
  expect_threads(cpu, {}, 4, Source::kFacts, "4 physical cores");
  cpu.affinity_cpus = 1;
  expect_threads(cpu, {}, 1, Source::kFacts, "1 CPU in the affinity mask");
}

TEST(ChooseThreads, NonsenseInFactsStaysInBounds) {
  CpuFacts cpu;
  cpu.affinity_cores = -3;
  EXPECT_EQ(choose_threads({}, cpu, {}).value, 1);
  cpu.affinity_cores = std::numeric_limits<int>::max();
  EXPECT_EQ(choose_threads({}, cpu, {}).value, kMaxThreads);
  cpu.quota_cpus = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(choose_threads({}, cpu, {}).value, kMaxThreads);
  cpu.quota_cpus = -1e300;
  EXPECT_EQ(choose_threads({}, cpu, {}).value, 1);
}

TEST(ChooseThreads, RespectsOmpNumThreads) {
  LaunchFacts launch;
  launch.variables["OMP_NUM_THREADS"] = "4";
  expect_threads(sixteen_cores(), launch, 4, Source::kEnvironment, "OMP_NUM_THREADS=\"4\"");
  launch.variables["OMP_NUM_THREADS"] = "6,2";
  EXPECT_EQ(choose_threads({}, sixteen_cores(), launch).value, 6);
}

TEST(ChooseThreads, OneThreadSetByALauncherIsPointedOut) {
  LaunchFacts launch;
  launch.launcher = "torchrun";
  launch.local_world_size = 2;
  launch.variables["OMP_NUM_THREADS"] = "1";
  expect_threads(
      sixteen_cores(), launch, 1, Source::kEnvironment,
      "OMP_NUM_THREADS=\"1\", which \"torchrun\" may have set; FASTTRAIN_THREADS=8 would "
      "use 16 physical cores in the affinity mask, divided by 2 processes on this "
      "machine");
}

TEST(ChooseThreads, UnreadableOmpNumThreadsIsIgnoredAndNamed) {
  LaunchFacts launch;
  for (const char* text : {"", "0", "many", "-2", "99999999999", "4,x", "4,"}) {
    launch.variables["OMP_NUM_THREADS"] = text;
    expect_threads(sixteen_cores(), launch, 16, Source::kFacts,
                   fill("16 physical cores in the affinity mask; OMP_NUM_THREADS=\"{}\" is no "
                        "count and was ignored",
                        text));
  }
}

TEST(ChooseThreads, AskedValuesAreChecked) {
  LaunchFacts launch;
  launch.variables["OMP_NUM_THREADS"] = "4";
  EXPECT_EQ(choose_threads(program_asks(7), sixteen_cores(), launch),
            (Decision<int>{7, Source::kAsked, "asked by the program"}));
  EXPECT_EQ(message_of<InvalidOption>([] { choose_threads(program_asks(0), {}, {}); }),
            "[plan.threads] out of range: threads=0, expected 1 to 8192");
  EXPECT_THROW(choose_threads(program_asks(8193), {}, {}), InvalidOption);
}

}  // namespace
}  // namespace libtrain
