#include "libtrain/probe/cuda_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_nvidia.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

TEST(CudaDriver, TellsItsVersionWithoutBeingInitialised) {
  FakeCuda state{.version = 12040};
  EXPECT_EQ(cuda_driver_version(*fake_cuda_library(state)), "12.4");
  EXPECT_EQ(state.init_calls, 0);
  EXPECT_EQ(cuda_driver_version(FakeLibrary{}), std::nullopt);
}

TEST(CudaDriver, ListsItsDevicesWithoutInitialisingThisProcess) {
  FakeCuda state{.devices = {{.name = "NVIDIA GeForce RTX 4090",
                              .bus_id = "0000:81:00.0",
                              .uuid_byte = 0xAB,
                              .major = 8,
                              .minor = 9},
                             {.name = "other", .bus_id = "0000:01:00.0", .uuid_byte = 1}}};
  const CudaListing listing = list_cuda_devices_in_child(*fake_cuda_library(state));
  EXPECT_EQ(state.init_calls, 0);
  EXPECT_EQ(listing.problem, std::nullopt);
  ASSERT_EQ(listing.devices.size(), 2U);
  EXPECT_EQ(listing.devices[0].name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(listing.devices[0].uuid, "abababab-abab-abab-abab-abababababab");
  EXPECT_EQ(listing.devices[0].pci_bus_id, "0000:81:00.0");
  EXPECT_EQ(listing.devices[0].compute_capability, (ComputeCapability{8, 9}));
  EXPECT_EQ(listing.devices[0].sm_count, 108);
  EXPECT_EQ(listing.devices[0].memory_bytes, int64_t{40} << 30);
  EXPECT_EQ(listing.devices[1].name, "other");
}

TEST(CudaDriver, ListsMoreDevicesThanAPipeHoldsAtOnce) {
  FakeCuda state;
  state.devices.resize(600, {.name = "x", .bus_id = "0000:01:00.0"});
  EXPECT_EQ(list_cuda_devices_in_child(*fake_cuda_library(state)).devices.size(), 600U);
}

TEST(CudaDriver, TellsWhyItDoesNotStart) {
  FakeCuda state{.init_result = 803};
  EXPECT_EQ(list_cuda_devices_in_child(*fake_cuda_library(state)).problem,
            "system has unsupported display driver / cuda driver combination (CUDA error 803)");
}

TEST(CudaDriver, ALibraryWithoutFunctionsIsAProblemAndNoCrash) {
  EXPECT_EQ(list_cuda_devices_in_child(FakeLibrary{}).problem, "CUDA error 500");
}

TEST(CudaDriver, AHangIsEndedAndReported) {
  FakeCuda state{.init_hangs = true};
  const auto start = std::chrono::steady_clock::now();
  const CudaListing listing =
      list_cuda_devices_in_child(*fake_cuda_library(state), std::chrono::milliseconds(50));
  EXPECT_THAT(listing.problem.value_or(""), HasSubstr("ended early or took too long"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

GpuFacts gpu(std::optional<std::string> uuid, std::optional<std::string> bus_id) {
  GpuFacts out;
  out.uuid = std::move(uuid);
  out.pci_bus_id = std::move(bus_id);
  return out;
}

TEST(CudaIndices, AreJoinedByUuidElseByBusId) {
  std::vector<GpuFacts> gpus = {gpu("GPU-01010101-a", "00000000:01:00.0"), gpu({}, "0000:41:00.0"),
                                gpu("GPU-03", "00000000:81:00.0"), gpu({}, {})};
  gpus[3].cuda_index = 7;
  const std::vector<CudaDevice> cuda = {{.uuid = "x", .pci_bus_id = "0000:41:00.0"},
                                        {.uuid = "01010101-a", .pci_bus_id = "0000:99:00.0"}};
  join_cuda_indices(gpus, cuda);
  EXPECT_EQ(gpus[0].cuda_index, 1);
  EXPECT_EQ(gpus[1].cuda_index, 0);
  EXPECT_EQ(gpus[2].cuda_index, std::nullopt) << "CUDA does not list it";
  EXPECT_EQ(gpus[3].cuda_index, std::nullopt) << "an index from before is taken away";
}

}  // namespace
}  // namespace libtrain
