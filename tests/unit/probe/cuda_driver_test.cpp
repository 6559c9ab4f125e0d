#include "libtrain/probe/cuda_driver.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_nvidia/fake_nvidia.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

TEST(CudaDriver, TellsItsVersionWithoutBeingInitialised) {
  const FakeNvidia nvidia("cuda 12040\n");
  EXPECT_EQ(cuda_driver_version(*FakeNvidia::cuda()), "12.4");
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0);
  EXPECT_EQ(cuda_driver_version(FakeLibrary{}), std::nullopt);
}

TEST(CudaDriver, ListsItsDevicesWithoutInitialisingThisProcess) {
  const FakeNvidia nvidia(
      "cuda_device\nname NVIDIA GeForce RTX 4090\nbus_id 0000:81:00.0\nuuid_byte 0xAB\nmajor 8\n"
      "minor 9\n"
      "cuda_device\nname other\nbus_id 0000:01:00.0\nuuid_byte 1\n");
  const CudaListing listing = list_cuda_devices_in_child(*FakeNvidia::cuda());
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0);
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
  std::string devices;
  for (int i = 0; i < 600; ++i) {
    devices += "cuda_device\n";
  }
  const FakeNvidia nvidia(devices);
  EXPECT_EQ(list_cuda_devices_in_child(*FakeNvidia::cuda()).devices.size(), 600U);
}

TEST(CudaDriver, TellsWhyItDoesNotStart) {
  const FakeNvidia nvidia("fail cuInit 803\n");
  EXPECT_EQ(list_cuda_devices_in_child(*FakeNvidia::cuda()).problem,
            "system has unsupported display driver / cuda driver combination (CUDA error 803)");
}

TEST(CudaDriver, ALibraryWithoutFunctionsIsAProblemAndNoCrash) {
  EXPECT_EQ(list_cuda_devices_in_child(FakeLibrary{}).problem, "CUDA error 500");
}

TEST(CudaDriver, AHangIsEndedAndReported) {
  const FakeNvidia nvidia("hang cuInit\n");
  const auto start = std::chrono::steady_clock::now();
  const CudaListing listing =
      list_cuda_devices_in_child(*FakeNvidia::cuda(), std::chrono::milliseconds(50));
  EXPECT_EQ(listing.problem, "the process that asked CUDA did not answer within 0.05 s");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(CudaDriver, ACrashIsReportedAndHarmsNobody) {
  const FakeNvidia nvidia("crash cuInit\n");
  EXPECT_EQ(list_cuda_devices_in_child(*FakeNvidia::cuda()).problem,
            "the process that asked CUDA ended early");
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
