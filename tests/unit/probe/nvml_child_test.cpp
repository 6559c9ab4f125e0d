#include "libtrain/probe/nvml_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "libtrain/core/error.hpp"
#include "tests/support/any_machine.hpp"
#include "tests/support/fake_nvidia/fake_nvidia.hpp"

namespace libtrain {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr NvmlLimits kSoon{.start = 10s, .gpu = 100ms};

TEST(NvmlChild, TellsWhatNvmlTellsHere) {
  const FakeNvidia nvidia(nvidia_description("a100-mig-parent"));
  const NvmlListing here = list_nvml_devices(*FakeNvidia::nvml());
  const NvmlListing there = list_nvml_devices_in_child(*FakeNvidia::nvml());
  EXPECT_EQ(there.driver_version, here.driver_version);
  EXPECT_EQ(there.driver_cuda_version, here.driver_cuda_version);
  ASSERT_EQ(there.devices.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(there.devices[i].facts, here.devices[i].facts);
    EXPECT_EQ(there.devices[i].parent_uuid, here.devices[i].parent_uuid);
    EXPECT_EQ(there.devices[i].gpu_instance, here.devices[i].gpu_instance);
    EXPECT_TRUE(there.devices[i].reachable);
  }
  EXPECT_EQ(nvidia.calls_here("nvmlInit_v2"), 1) << "the one above";
}

TEST(NvmlChild, ADriverThatHangsAtItsStartIsGivenUp) {
  const FakeNvidia nvidia(nvidia_description("hangs-at-start"));
  const NvmlListing listing = list_nvml_devices_in_child(*FakeNvidia::nvml());
  EXPECT_TRUE(listing.hangs);
  EXPECT_THAT(listing.problem.value_or(""), HasSubstr("NVML did not answer within 0.7 s"));
}

TEST(NvmlChild, AGpuTheDriverHangsAtHidesNoneBeforeIt) {
  const FakeNvidia nvidia(nvidia_description("hangs-at-second-gpu"));
  const NvmlListing listing = list_nvml_devices_in_child(*FakeNvidia::nvml(), kSoon);
  EXPECT_EQ(listing.problem, std::nullopt);
  ASSERT_EQ(listing.devices.size(), 3U);
  EXPECT_EQ(listing.devices[0].facts.problem, std::nullopt);
  EXPECT_EQ(listing.devices[0].facts.uuid, "GPU-e0000000-0000-0000-0000-000000000000");
  EXPECT_EQ(listing.devices[1].facts.problem,
            "the driver did not answer within 0.1 s for this GPU");
  EXPECT_EQ(listing.devices[2].facts.problem,
            "not asked: the driver did not answer within 0.1 s for GPU 1");
  EXPECT_EQ(listing.devices[2].facts.nvml_index, 2);
  EXPECT_FALSE(listing.devices[1].reachable);
  EXPECT_FALSE(listing.devices[2].reachable);
}

TEST(NvmlChild, ADriverThatCrashesHarmsNobody) {
  const FakeNvidia nvidia("gpu\ngpu\ncrash nvmlDeviceGetUUID\n");
  const NvmlListing listing = list_nvml_devices_in_child(*FakeNvidia::nvml());
  ASSERT_EQ(listing.devices.size(), 2U);
  EXPECT_EQ(listing.devices[1].facts.problem, "the driver ended early for this GPU");
  nvidia.describe("crash nvmlInit_v2\n");
  const NvmlListing none = list_nvml_devices_in_child(*FakeNvidia::nvml());
  EXPECT_THAT(none.problem.value_or(""), HasSubstr("NVML ended early"));
  EXPECT_FALSE(none.hangs);
}

RC_GTEST_PROP(NvmlListingText, ReadsBackUnchanged, ()) {
  NvmlListing listing;
  fill_field(listing.driver_version);
  fill_field(listing.driver_cuda_version);
  fill_field(listing.problem);
  listing.gpus = *rc::gen::inRange(0, 4096);
  listing.devices.resize(*rc::gen::inRange<size_t>(0, 5));
  for (NvmlDevice& device : listing.devices) {
    fill_facts(device.facts);
    fill_value(device.parent_uuid);
    fill_field(device.gpu_instance);
    device.reachable = *rc::gen::arbitrary<bool>();
  }
  const NvmlListing again = parse_nvml_listing(format_nvml_listing(listing));
  RC_ASSERT(again.driver_version == listing.driver_version);
  RC_ASSERT(again.driver_cuda_version == listing.driver_cuda_version);
  RC_ASSERT(again.problem == listing.problem);
  RC_ASSERT(again.gpus == listing.gpus);
  RC_ASSERT(again.devices.size() == listing.devices.size());
  for (size_t i = 0; i < again.devices.size(); ++i) {
    RC_ASSERT(again.devices[i].facts == listing.devices[i].facts);
    RC_ASSERT(again.devices[i].parent_uuid == listing.devices[i].parent_uuid);
    RC_ASSERT(again.devices[i].gpu_instance == listing.devices[i].gpu_instance);
    RC_ASSERT(again.devices[i].reachable == listing.devices[i].reachable);
  }
}

}  // namespace
}  // namespace libtrain
