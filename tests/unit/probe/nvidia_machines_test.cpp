// Whole probes of the machines that tests/nvidia/ describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "libtrain/probe/probe.hpp"
#include "tests/support/fake_nvidia/fake_nvidia.hpp"
#include "tests/support/fake_sources.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

MachineFacts probe_described(const std::string& name, std::set<std::string> missing = {}) {
  const FakeNvidia nvidia(nvidia_description(name));
  FakeSources sources;
  sources.libraries = {{"libnvidia-ml.so.1", FakeNvidia::nvml(std::move(missing))},
                       {"libcuda.so.1", FakeNvidia::cuda()}};
  const MachineFacts facts = probe_machine(sources);
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0);
  EXPECT_EQ(nvidia.calls_here("nvmlInit_v2"), 0);
  EXPECT_EQ(parse_machine_facts(format_machine_facts(facts), name), facts);
  return facts;
}

TEST(NvidiaMachines, EightGpusBehindNvswitch) {
  const MachineFacts facts = probe_described("h100-x8-nvswitch");
  EXPECT_EQ(facts.gpu_driver.driver_version, "580.95.05");
  ASSERT_EQ(facts.gpus.size(), 8U);
  for (int i = 0; i < 8; ++i) {
    const GpuFacts& gpu = facts.gpus[static_cast<size_t>(i)];
    EXPECT_EQ(gpu.cuda_index, i);
    EXPECT_EQ(gpu.sm_count, 132);
    EXPECT_EQ(gpu.nvlinks_active, 18);
    EXPECT_EQ(gpu.nvlink_peers, std::vector<std::string>{"switch x18"});
    EXPECT_EQ(gpu.fabric, "completed");
    EXPECT_EQ(gpu.peers.value_or(std::vector<std::string>{}).size(), 7U);
    EXPECT_EQ(gpu.problem, std::nullopt);
  }
}

TEST(NvidiaMachines, AMigParentStandsForItsInstancesAndOneIsVisible) {
  const MachineFacts facts = probe_described("a100-mig-parent");
  ASSERT_EQ(facts.gpus.size(), 2U);
  EXPECT_EQ(facts.gpus[0].mig_profile, "3g.20gb");
  EXPECT_EQ(facts.gpus[0].cuda_index, 0);
  EXPECT_EQ(facts.gpus[1].mig_profile, "1g.5gb");
  EXPECT_EQ(facts.gpus[1].sm_count, 14);
  EXPECT_EQ(facts.gpus[1].cuda_index, std::nullopt);
}

TEST(NvidiaMachines, WhatIsNotAvailableIsUnknownAndNotZero) {
  const GpuFacts gpu = probe_described("not-available").gpus.at(0);
  EXPECT_EQ(gpu.pcie_generation, std::nullopt);
  EXPECT_EQ(gpu.pcie_width_max, std::nullopt);
  EXPECT_EQ(gpu.power_limit_watts, std::nullopt);
  EXPECT_EQ(gpu.ecc_uncorrected, std::nullopt);
  EXPECT_EQ(gpu.virtual_gpu_licensed, false);
  EXPECT_EQ(gpu.nvlinks, std::nullopt);
  EXPECT_EQ(gpu.problem, std::nullopt);
  EXPECT_EQ(gpu.cuda_index, 0);
  EXPECT_EQ(gpu.unknown.at("power_limit_watts"),
            "nvmlDeviceGetEnforcedPowerLimit: Not Supported (NVML error 3)");
}

TEST(NvidiaMachines, WhatMayNotBeAskedSaysSo) {
  const GpuFacts gpu = probe_described("no-permission").gpus.at(0);
  for (const char* fact : {"ecc_uncorrected", "power_limit_watts", "clock_reasons"}) {
    EXPECT_THAT(gpu.unknown.at(fact), HasSubstr("Insufficient Permissions")) << fact;
  }
  EXPECT_EQ(gpu.problem, std::nullopt);
}

TEST(NvidiaMachines, AnOldDriverHasFewerQuestions) {
  const GpuFacts gpu =
      probe_described("h100-x8-nvswitch", {"nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetNumGpuCores",
                                           "nvmlDeviceGetMigMode"})
          .gpus.at(0);
  EXPECT_EQ(gpu.unknown.at("fabric"), "the driver has no nvmlDeviceGetGpuFabricInfo");
  EXPECT_EQ(gpu.unknown.at("sm_count"), "the driver has no nvmlDeviceGetNumGpuCores");
  EXPECT_EQ(gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.cuda_index, 0);
}

TEST(NvidiaMachines, AGpuLostInMidProbeKeepsWhatItSaidAndHidesNoOther) {
  const MachineFacts facts = probe_described("lost-in-mid-probe");
  ASSERT_EQ(facts.gpus.size(), 3U);
  EXPECT_EQ(facts.gpus[0].problem, std::nullopt);
  EXPECT_EQ(facts.gpus[1].uuid, "GPU-d1111111-0000-0000-0000-000000000000");
  EXPECT_THAT(facts.gpus[1].problem.value_or(""), HasSubstr("GPU is lost (NVML error 15)"));
  EXPECT_EQ(facts.gpus[1].power_limit_watts, std::nullopt);
  EXPECT_EQ(facts.gpus[2].problem, std::nullopt);
}

TEST(NvidiaMachines, ADriverWithoutAGpuIsNoProblem) {
  const MachineFacts facts = probe_described("no-gpu");
  EXPECT_TRUE(facts.gpus.empty());
  EXPECT_EQ(facts.gpu_driver.driver_version, "580.95.05");
  EXPECT_EQ(facts.gpu_driver.problem, std::nullopt);
}

TEST(NvidiaMachines, AFailedStartIsToldInTheDriversWords) {
  const MachineFacts facts = probe_described("init-fails");
  EXPECT_TRUE(facts.gpus.empty());
  EXPECT_EQ(facts.gpu_driver.problem,
            "Driver/library version mismatch (NVML error 18); system has unsupported display "
            "driver / cuda driver combination (CUDA error 803)");
}

/// Two cards that NVML finds nothing wrong with; `driver` is what CUDA does.
GpuDriverFacts driver_of(const std::string& driver, bool with_cuda = true) {
  const FakeNvidia nvidia(driver + "gpu\nuuid GPU-1\ngpu\nuuid GPU-2\n");
  FakeSources sources;
  sources.libraries["libnvidia-ml.so.1"] = FakeNvidia::nvml();
  if (with_cuda) {
    sources.libraries["libcuda.so.1"] = FakeNvidia::cuda();
  }
  const GpuDriverFacts facts = probe_machine_and_cuda(sources).gpu_driver;
  EXPECT_EQ(nvidia.calls_here("cuInit"), 0) << "only a child may";
  EXPECT_EQ(facts.problem, std::nullopt);
  return facts;
}

TEST(NvidiaMachines, CudaThatDoesNotStartIsToldThoughNvmlIsWell) {
  const GpuDriverFacts broken = driver_of("fail cuInit 999\n");
  EXPECT_EQ(broken.cuda_starts, false);
  EXPECT_THAT(broken.cuda_problem.value_or(""), HasSubstr("(CUDA error 999)"));
  const GpuDriverFacts well = driver_of("");
  EXPECT_EQ(well.cuda_starts, true);
  EXPECT_EQ(well.cuda_problem, std::nullopt);
  const GpuDriverFacts absent = driver_of("", false);
  EXPECT_EQ(absent.cuda_starts, false);
  EXPECT_EQ(absent.cuda_problem, "libcuda.so.1 cannot be loaded");
}

TEST(NvidiaMachines, CudaThatIsSlowToStartIsNotWaitedFor) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(driver_of("hang cuInit\n").cuda_starts, std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << "0.9 s and load";
}

TEST(NvidiaMachines, CudaIsNotAskedWhereThereIsNoGpu) {
  FakeSources sources;
  EXPECT_EQ(probe_machine_and_cuda(sources).gpu_driver, GpuDriverFacts{});
}

TEST(NvidiaMachines, CudaIsNotAskedWhereNvmlHangs) {
  const auto start = std::chrono::steady_clock::now();
  const MachineFacts facts = probe_described("hangs-at-start");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(9)) << "CUDA's limit";
  EXPECT_THAT(facts.gpu_driver.problem.value_or(""), HasSubstr("did not answer within 0.7 s"));
}

}  // namespace
}  // namespace libtrain
