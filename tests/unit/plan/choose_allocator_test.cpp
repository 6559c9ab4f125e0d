#include "libtrain/plan/choose_allocator.hpp"

#include <gtest/gtest.h>

#include "tests/unit/plan/example_machines.hpp"
#include "tests/unit/plan/throws.hpp"

namespace libtrain {
namespace {

using examples::program_asks;

HostFacts linux_host() { return examples::cpu_machine().host; }

Decision<AllocatorSetting> choose(DeviceType device, const HostFacts& host,
                                  const LaunchFacts& launch = {}, bool allow = true) {
  return choose_allocator({}, device, host, launch, allow);
}

TEST(ChooseAllocator, GlibcThresholdsOnTheCpu) {
  EXPECT_EQ(choose(DeviceType::kCpu, linux_host()),
            (Decision<AllocatorSetting>{AllocatorSetting::kGlibcThresholds, Source::kFacts,
                                        "\"glibc 2.36\" keeps freed tensors mapped"}));
  HostFacts host = linux_host();
  host.libc = "musl 1.2.4";
  EXPECT_EQ(choose(DeviceType::kCpu, host),
            (Decision<AllocatorSetting>{AllocatorSetting::kUnchanged, Source::kFacts,
                                        "the C library is \"musl 1.2.4\", not glibc"}));
  host.libc.reset();
  EXPECT_EQ(choose(DeviceType::kCpu, host).value, AllocatorSetting::kUnchanged);
}

TEST(ChooseAllocator, ExpandableSegmentsOnCudaWhereSafe) {
  EXPECT_EQ(choose(DeviceType::kCuda, linux_host()).value, AllocatorSetting::kExpandableSegments);
  HostFacts host = linux_host();
  host.wsl = true;
  EXPECT_EQ(choose(DeviceType::kCuda, host),
            (Decision<AllocatorSetting>{AllocatorSetting::kUnchanged, Source::kFacts,
                                        "WSL lacks the driver calls for expandable segments"}));
  host = linux_host();
  host.os = "freebsd";
  EXPECT_EQ(choose(DeviceType::kCuda, host).value, AllocatorSetting::kUnchanged);
}

TEST(ChooseAllocator, TheUsersTorchSettingStays) {
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    LaunchFacts launch;
    launch.variables[name] = "max_split_size_mb:64";
    EXPECT_EQ(choose(DeviceType::kCuda, linux_host(), launch),
              (Decision<AllocatorSetting>{AllocatorSetting::kUnchanged, Source::kEnvironment,
                                          std::string(name) + "=\"max_split_size_mb:64\""}));
    EXPECT_EQ(choose(DeviceType::kCpu, linux_host(), launch).value,
              AllocatorSetting::kGlibcThresholds);
    EXPECT_EQ(choose_allocator(program_asks(AllocatorSetting::kExpandableSegments),
                               DeviceType::kCuda, linux_host(), launch, true)
                  .reason,
              std::string("asked by the program: set over ") + name + "=\"max_split_size_mb:64\"");
  }
}

TEST(ChooseAllocator, AHostProcessIsLeftAloneUnlessItAsks) {
  for (const DeviceType device : {DeviceType::kCpu, DeviceType::kCuda}) {
    EXPECT_EQ(choose(device, linux_host(), {}, false).value, AllocatorSetting::kUnchanged);
  }
  EXPECT_EQ(choose_allocator(program_asks(AllocatorSetting::kGlibcThresholds), DeviceType::kCpu,
                             linux_host(), {}, false)
                .value,
            AllocatorSetting::kGlibcThresholds);
}

TEST(ChooseAllocator, RefusesSettingsThatAreNotThere) {
  const auto refusal = [](AllocatorSetting setting, const HostFacts& host) {
    return message_of<Unsupported>(
        [&] { choose_allocator(program_asks(setting), DeviceType::kCpu, host, {}, true); });
  };
  EXPECT_EQ(refusal(AllocatorSetting::kExpandableSegments, linux_host()),
            "[plan.allocator] cannot be done here: allocator=\"expandable_segments\" (asked by the "
            "program), but expandable segments are for CUDA memory; ask for unchanged");
  HostFacts host;
  host.libc = "musl 1.2.4";
  EXPECT_EQ(refusal(AllocatorSetting::kGlibcThresholds, host),
            "[plan.allocator] cannot be done here: allocator=\"glibc_thresholds\" (asked by the "
            "program), but the C library is \"musl 1.2.4\", not glibc; ask for unchanged");
}

}  // namespace
}  // namespace libtrain
