#include "libtrain/probe/gpus.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/probe/kernel_driver.hpp"
#include "tests/support/fake_nvidia/fake_nvidia.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kUuid2 = "GPU-02020202-0202-0202-0202-020202020202";

constexpr const char* kT4 =
    "gpu\nuuid GPU-01010101-0101-0101-0101-010101010101\nname NVIDIA T4\n"
    "bus_id 00000000:01:00.0\n";
constexpr const char* kA100 =
    "gpu\nuuid GPU-02020202-0202-0202-0202-020202020202\nname NVIDIA A100\n"
    "bus_id 00000000:81:00.0\n";
constexpr const char* kCudaOrder =
    "cuda_device\nname NVIDIA A100\nbus_id 0000:81:00.0\nuuid_byte 2\n"
    "cuda_device\nname NVIDIA T4\nbus_id 0000:01:00.0\nuuid_byte 1\n";

/// Two unlike GPUs: CUDA lists the second one first.
class TwoGpus : public testing::Test {
 protected:
  TwoGpus() : nvidia(std::string(kT4) + kA100 + kCudaOrder) {
    sources.libraries = {{"libnvidia-ml.so.1", FakeNvidia::nvml()},
                         {"libcuda.so.1", FakeNvidia::cuda()}};
  }

  FakeNvidia nvidia;
  FakeSources sources;
};

TEST_F(TwoGpus, AlikeKeepTheBusOrder) {
  nvidia.describe(std::string(kT4) + "name NVIDIA A100\n" + kA100 + kCudaOrder);
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus[0].cuda_index, 0);
  EXPECT_EQ(out.gpus[1].cuda_index, 1);
}

TEST_F(TwoGpus, UnlikeAreNumberedAsCudaListsThem) {
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus[0].nvml_index, 0);
  EXPECT_EQ(out.gpus[0].cuda_index, 1);
  EXPECT_EQ(out.gpus[1].cuda_index, 0);
  EXPECT_EQ(out.driver.problem, std::nullopt);
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0) << "the probe must not initialise CUDA here";
  EXPECT_EQ(nvidia.calls_here("nvmlInit_v2"), 0);
}

TEST_F(TwoGpus, UnlikeKeepTheBusOrderWhenCudaIsToldTo) {
  sources.variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  EXPECT_EQ(probe_gpus(sources).gpus[0].cuda_index, 0);
}

TEST_F(TwoGpus, IdsNeedNoOrder) {
  sources.variables["CUDA_VISIBLE_DEVICES"] = "GPU-02";
  nvidia.describe(std::string(kT4) + kA100);
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.driver.visible_devices, "GPU-02");
  EXPECT_EQ(out.gpus[0].cuda_index, std::nullopt);
  EXPECT_EQ(out.gpus[1].cuda_index, 0);
}

TEST_F(TwoGpus, AHiddenGpuIsListedWithoutAnIndex) {
  sources.variables = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", "1"}};
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus[0].cuda_index, std::nullopt);
  EXPECT_EQ(out.gpus[1].cuda_index, 0);
  EXPECT_EQ(out.driver.problem, std::nullopt);
}

TEST_F(TwoGpus, AListThatHidesAllIsTheProblem) {
  sources.variables = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", "-1"}};
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus.size(), 2U);
  EXPECT_EQ(out.driver.problem,
            "CUDA_VISIBLE_DEVICES=\"-1\" hides every GPU: \"-1\" names no device of 2");
}

TEST_F(TwoGpus, ABrokenOneDoesNotHideTheOther) {
  nvidia.describe(std::string(kT4) + "fail nvmlDeviceGetHandleByIndex_v2 15\n" + kA100);
  const GpuProbe out = probe_gpus(sources);
  ASSERT_EQ(out.gpus.size(), 2U);
  EXPECT_THAT(out.gpus[0].problem.value_or(""), HasSubstr("GPU is lost"));
  EXPECT_EQ(out.gpus[1].cuda_index, 0);
  EXPECT_EQ(out.driver.problem, std::nullopt);
}

TEST_F(TwoGpus, ReadTheirNumaNodeFromThePciBus) {
  sources.files["/sys/bus/pci/devices/0000:01:00.0/numa_node"] = "1\n";
  sources.files["/sys/bus/pci/devices/0000:81:00.0/numa_node"] = "-1\n";
  sources.files["/sys/bus/pci/devices/0000:81:00.0/iommu_group/type"] = "DMA-FQ\n";
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus[0].numa_node, 1);
  EXPECT_EQ(out.gpus[1].numa_node, std::nullopt);
  EXPECT_EQ(out.gpus[0].iommu, std::nullopt);
  EXPECT_EQ(out.gpus[1].iommu, "DMA-FQ");
}

TEST_F(TwoGpus, HaveTheirErrorsFromTheKernelsLog) {
  sources.log =
      "<4>[1.0] NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', GPU has fallen off the bus.\n";
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus[0].xids, std::vector<std::string>{"79"});
  EXPECT_EQ(out.gpus[1].xids, std::vector<std::string>{});
  sources.log.reset();
  const GpuFacts unread = probe_gpus(sources).gpus[0];
  EXPECT_EQ(unread.xids, std::nullopt);
  EXPECT_EQ(unread.unknown.at("xids"), "this process may not read the kernel's log");
}

TEST_F(TwoGpus, HaveTheBridgesAboveThem) {
  sources.links["/sys/bus/pci/devices/0000:01:00.0"] =
      "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
  const GpuFacts gpu = probe_gpus(sources).gpus[0];
  EXPECT_EQ(gpu.pci_bridges, std::vector<std::string>{"0000:00:01.0"});
  EXPECT_EQ(gpu.acs_bridges, std::nullopt);
  EXPECT_THAT(gpu.unknown.at("acs_bridges"), HasSubstr("root alone"));
}

TEST_F(TwoGpus, AreFoundThroughCudaWhenNvmlFails) {
  nvidia.describe(std::string("fail nvmlInit_v2 999\n") + kT4 + kA100 + kCudaOrder);
  const GpuProbe out = probe_gpus(sources);
  ASSERT_EQ(out.gpus.size(), 2U);
  EXPECT_EQ(out.gpus[0].name, "NVIDIA A100");
  EXPECT_EQ(out.gpus[0].cuda_index, 0);
  EXPECT_EQ(out.gpus[0].uuid, kUuid2);
  EXPECT_EQ(out.gpus[0].compute_capability, (ComputeCapability{8, 0}));
  EXPECT_EQ(out.driver.driver_cuda_version, "13.0");
  EXPECT_EQ(out.driver.problem, std::nullopt);
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0);
}

TEST_F(TwoGpus, AreFoundThroughCudaWhenThereIsNoNvml) {
  sources.libraries.erase("libnvidia-ml.so.1");
  const GpuProbe out = probe_gpus(sources);
  EXPECT_EQ(out.gpus.size(), 2U);
  EXPECT_EQ(out.driver.problem, std::nullopt);
}

TEST_F(TwoGpus, AreNamedFromTheKernelWhenNvmlAndCudaFail) {
  nvidia.describe("fail nvmlInit_v2 18\nfail cuInit 803\n");
  sources.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.105.08  Sun May 12 12:00:00 UTC 2025\n"
      "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";
  sources.files["/proc/driver/nvidia/gpus/0000:01:00.0/information"] =
      "Model: \t\t NVIDIA L40S\nIRQ:   \t\t 16\nGPU UUID: \t GPU-7\nBus Location: \t "
      "0000:01:00.0\n";
  const GpuProbe out = probe_gpus(sources);
  ASSERT_EQ(out.gpus.size(), 1U);
  EXPECT_EQ(out.gpus[0].name, "NVIDIA L40S");
  EXPECT_EQ(out.gpus[0].uuid, "GPU-7");
  EXPECT_EQ(out.gpus[0].cuda_index, std::nullopt);
  EXPECT_EQ(out.driver.driver_version, "580.105.08");
  EXPECT_THAT(out.driver.problem.value_or(""),
              AllOf(HasSubstr("Driver/library version mismatch (NVML error 18)"),
                    HasSubstr("(CUDA error 803)")));
  EXPECT_EQ(out.gpus[0].problem, out.driver.problem);
}

TEST(Gpus, AMachineWithoutNvidiaHasNoneAndNoProblem) {
  const GpuProbe out = probe_gpus(FakeSources{});
  EXPECT_TRUE(out.gpus.empty());
  EXPECT_EQ(out.driver, GpuDriverFacts{});
}

TEST(Gpus, ACardWithoutADriverIsTheProblem) {
  FakeSources sources;
  sources.files["/sys/bus/pci/devices/0000:03:00.0/vendor"] = "0x10de\n";
  sources.files["/sys/bus/pci/devices/0000:03:00.0/class"] = "0x030200\n";
  sources.files["/sys/bus/pci/devices/0000:04:00.0/vendor"] = "0x10de\n";
  sources.files["/sys/bus/pci/devices/0000:04:00.0/class"] = "0x068000\n";  // a switch
  EXPECT_THAT(probe_gpus(sources).driver.problem.value_or(""),
              HasSubstr("an NVIDIA GPU is on the PCI bus at 0000:03:00.0, but"));
  sources.files.erase("/sys/bus/pci/devices/0000:03:00.0/vendor");
  EXPECT_EQ(probe_gpus(sources).driver.problem, std::nullopt);
}

TEST(KernelDriver, ReadsBothModulesVersionLines) {
  EXPECT_EQ(parse_kernel_driver_version(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 2024\n"),
            "535.183.01");
  EXPECT_EQ(parse_kernel_driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                        "580.105.08  Release Build  (root@x)\n"),
            "580.105.08");
  EXPECT_EQ(parse_kernel_driver_version("GCC version:  gcc version 12.2.0\n"), std::nullopt);
}

TEST(KernelDriver, TellsTheOpenModuleFromTheOther) {
  EXPECT_EQ(parse_open_kernel_module("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                                     "580.105.08  Release Build  (root@x)\n"),
            true);
  EXPECT_EQ(parse_open_kernel_module(
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 2024\n"),
            false);
  EXPECT_EQ(parse_open_kernel_module(""), std::nullopt);
}

TEST(KernelDriver, TellsWhichModuleAGpuNeeds) {
  const std::string open =
      "NVRM: The NVIDIA GPU 0000:03:00.0 (PCI ID: 10de:2bb1)\n"
      "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n";
  const std::string other =
      "NVRM: The NVIDIA GPU 0000:03:00.0 (PCI ID: 10de:1db5)\n"
      "NVRM: installed in this system is not supported by open nvidia.ko because it does not\n";
  EXPECT_EQ(parse_module_refusal(open), "open");
  EXPECT_EQ(parse_module_refusal(other), "proprietary");
  EXPECT_EQ(parse_module_refusal(open + other), "proprietary") << "the last start counts";
  EXPECT_EQ(parse_module_refusal(other + open), "open");
  EXPECT_EQ(parse_module_refusal("NVRM: loading NVIDIA UNIX x86_64 Kernel Module\n"), std::nullopt);
}

TEST(Gpus, ADriverThatRefusesEveryGpuSaysWhichModuleTheyNeed) {
  FakeSources sources;
  sources.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.105.08  Wed Oct 29\n";
  sources.log = "NVRM: installed in this system requires use of the NVIDIA open kernel modules.\n";
  EXPECT_EQ(probe_gpus(sources).driver.module_refusal, "open");
  sources.log.reset();
  EXPECT_EQ(probe_gpus(sources).driver.module_refusal, std::nullopt);
}

TEST(KernelDriver, LeavesAnUnknownUuidOut) {
  FakeSources sources;
  sources.files["/proc/driver/nvidia/gpus/0000:01:00.0/information"] =
      "Model: \t\t Unknown\nGPU UUID: \t GPU-\?\?\?-\?\?\?\nbroken";
  EXPECT_EQ(kernel_driver_gpus(sources).at(0).uuid, std::nullopt);
}

TEST(KernelDriver, WritesBusIdsAsTheKernelDoes) {
  EXPECT_EQ(kernel_bus_id("00000000:17:00.0"), "0000:17:00.0");
  EXPECT_EQ(kernel_bus_id("0000000F:01:00.0"), "000f:01:00.0");
  EXPECT_EQ(kernel_bus_id("0000:AB:00.0"), "0000:ab:00.0");
  EXPECT_EQ(kernel_bus_id("00010000:01:00.0"), "00010000:01:00.0") << "five digits are needed";
  EXPECT_EQ(kernel_bus_id(""), "");
}

}  // namespace
}  // namespace libtrain
