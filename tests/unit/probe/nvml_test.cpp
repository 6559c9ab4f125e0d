#include "libtrain/probe/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libtrain/core/text.hpp"
#include "tests/support/fake_nvidia/fake_nvidia.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

NvmlListing listing_of(const std::string& description, std::set<std::string> missing = {}) {
  const FakeNvidia nvidia(description);
  return list_nvml_devices(*FakeNvidia::nvml(std::move(missing)));
}

/// The facts of the first device.
GpuFacts facts_of(const std::string& description) {
  return listing_of(description).devices.at(0).facts;
}

constexpr const char* kSlices =
    "gpu\nuuid GPU-1\n"
    "gpu\nuuid GPU-2\nmig_mode 1\n"
    "mig\nuuid MIG-a\nname NVIDIA A100-SXM4-40GB MIG 3g.20gb\ngpu_instance 1\n"
    "mig\nuuid MIG-b\nname NVIDIA A100-SXM4-40GB MIG 3g.20gb\ngpu_instance 2\n"
    "multiprocessors 42\nmemory 20937965568\n";

TEST(Nvml, TellsEachGpusFacts) {
  const FakeNvidia nvidia("gpu\nuuid GPU-1\nfabric 3\n");
  const NvmlListing listing = list_nvml_devices(*FakeNvidia::nvml());
  EXPECT_EQ(listing.driver_version, "580.105.08");
  EXPECT_EQ(listing.driver_cuda_version, "13.0");
  EXPECT_EQ(listing.problem, std::nullopt);
  ASSERT_EQ(listing.devices.size(), 1U);
  GpuFacts expected;
  expected.nvml_index = 0;
  expected.uuid = "GPU-1";
  expected.pci_bus_id = "00000000:17:00.0";
  expected.pci_device_id = "20b0";
  expected.name = "NVIDIA A100-SXM4-40GB";
  expected.compute_capability = ComputeCapability{8, 0};
  expected.sm_count = 108;
  expected.memory_bytes = int64_t{40} << 30;
  expected.bar1_bytes = int64_t{64} << 30;
  expected.mig_instance = false;
  expected.pcie_generation_max = 4;
  expected.pcie_width_max = 16;
  expected.nvlinks = 12;
  expected.nvlink_version = 3;
  expected.nvlinks_active = 12;
  expected.nvlink_peers = std::vector<std::string>{"switch x12"};
  expected.cpu_affinity = "0-7";
  expected.fabric = "completed";
  expected.compute_mode = "default";
  expected.persistence = true;
  expected.power_default_watts = 400;
  expected.power_limit_watts = 400;
  expected.clock_max_mhz = 1410;
  expected.clock_mhz = 210;
  expected.power_watts = 51.5;
  expected.processes_bytes = 0;
  expected.performance_state = 0;
  expected.pcie_generation = 4;
  expected.pcie_width = 16;
  expected.memory_free_bytes = int64_t{20} << 30;
  expected.clock_reasons = std::vector<std::string>{"idle"};
  expected.ecc_uncorrected = 0;
  expected.repair_pending = false;
  expected.repair_failed = false;
  expected.temperature_celsius = 40;
  expected.slowdown_celsius = 90;
  EXPECT_EQ(listing.devices[0].facts, expected);
  EXPECT_EQ(nvidia.calls_here("nvmlInit_v2"), 1);
  EXPECT_EQ(nvidia.calls_here("nvmlShutdown"), 1);
}

TEST(Nvml, CountsMultiprocessorsByCapability) {
  const std::vector<std::tuple<int, int, unsigned, std::optional<int>>> table = {
      {6, 0, 3584, 56},    {7, 0, 5120, 80},   {7, 5, 2560, 40},   {8, 0, 6912, 108},
      {8, 6, 10496, 82},   {8, 9, 16384, 128}, {9, 0, 16896, 132}, {10, 0, 18944, 148},
      {12, 0, 21760, 170}, {13, 0, 10000, {}},
  };
  for (const auto& [major, minor, cores, expected] : table) {
    const std::string gpu = fill("gpu\nmajor {}\nminor {}\ncores {}\n", major, minor, cores);
    EXPECT_EQ(facts_of(gpu).sm_count, expected) << major << "." << minor;
  }
}

TEST(Nvml, ABrokenDeviceHidesNoOther) {
  const NvmlListing listing = listing_of(
      "gpu\nfail nvmlDeviceGetHandleByIndex_v2 15\n"
      "gpu\nuuid GPU-2\n"
      "gpu\nuuid GPU-3\nfail nvmlDeviceGetMemoryInfo 15\n"
      "gpu\nuuid GPU-4\n");
  EXPECT_EQ(listing.problem, std::nullopt);
  ASSERT_EQ(listing.devices.size(), 4U);
  EXPECT_FALSE(listing.devices[0].reachable);
  EXPECT_EQ(listing.devices[0].facts.nvml_index, 0);
  EXPECT_EQ(listing.devices[0].facts.problem,
            "nvmlDeviceGetHandleByIndex_v2: GPU is lost (NVML error 15)");
  EXPECT_EQ(listing.devices[1].facts.uuid, "GPU-2");
  EXPECT_EQ(listing.devices[1].facts.problem, std::nullopt);
  EXPECT_TRUE(listing.devices[2].reachable);
  EXPECT_EQ(listing.devices[2].facts.problem,
            "nvmlDeviceGetMemoryInfo: GPU is lost (NVML error 15)");
  EXPECT_EQ(listing.devices[3].facts.uuid, "GPU-4");
}

TEST(Nvml, WhatADeviceDoesNotAnswerIsUnknownAndNoProblem) {
  for (const int no_answer : {3, 4, 13, 25, 26}) {
    const GpuFacts facts =
        facts_of(fill("gpu\nfail nvmlDeviceGetMemoryInfo {}\nfail nvmlDeviceGetMigMode {}\n",
                      no_answer, no_answer));
    EXPECT_EQ(facts.memory_bytes, std::nullopt);
    EXPECT_EQ(facts.problem, std::nullopt) << no_answer;
    EXPECT_EQ(facts.name, "NVIDIA A100-SXM4-40GB");
  }
}

TEST(Nvml, ACountThatIsNotAvailableIsUnknownAndNotANumber) {
  const GpuFacts facts = facts_of("gpu\ngeneration -1\necc_errors -1\nfree -1\n");
  EXPECT_EQ(facts.pcie_generation, std::nullopt);
  EXPECT_EQ(facts.unknown.at("pcie_generation"),
            "nvmlDeviceGetCurrPcieLinkGeneration: not available");
  EXPECT_EQ(facts.ecc_uncorrected, std::nullopt);
  EXPECT_EQ(facts.memory_free_bytes, std::nullopt);
  EXPECT_EQ(facts.memory_bytes, int64_t{40} << 30);
}

TEST(Nvml, SaysWhyAFactIsUnknown) {
  const NvmlListing listing = listing_of(
      "gpu\nfail nvmlDeviceGetCurrPcieLinkGeneration 4\nfail nvmlDeviceGetP2PStatus 3\ngpu\n",
      {"nvmlDeviceGetGpuFabricInfo"});
  const GpuFacts& facts = listing.devices.at(0).facts;
  EXPECT_EQ(facts.unknown,
            (std::map<std::string, std::string>{
                {"pcie_generation",
                 "nvmlDeviceGetCurrPcieLinkGeneration: Insufficient Permissions (NVML error 4)"},
                {"peers", "nvmlDeviceGetP2PStatus: Not Supported (NVML error 3)"},
                {"fabric", "the driver has no nvmlDeviceGetGpuFabricInfo"}}));
  EXPECT_EQ(facts.problem, std::nullopt);
}

TEST(Nvml, ReadsTheStateOfAGpu) {
  const GpuFacts facts = facts_of(
      "gpu\nlinks_up 7\nperformance_state 32\nwidth 8\npeers GPU-3\nfabric 2\ncompute_mode 3\n"
      "persistence 0\npower_limit 275500\nclock_reasons 0xA4\necc_errors 3\nother_errors 777\n"
      "repair_pending 1\nrepair_failed 1\n"
      "gpu\nuuid GPU-2\ngpu\nuuid GPU-3\n");
  EXPECT_EQ(facts.nvlinks, 12);
  EXPECT_EQ(facts.nvlinks_active, 7);
  EXPECT_EQ(facts.performance_state, std::nullopt);
  EXPECT_EQ(facts.pcie_width, 8);
  EXPECT_EQ(facts.peers, std::vector<std::string>{"2"});
  EXPECT_EQ(facts.fabric, "in progress");
  EXPECT_EQ(facts.compute_mode, "exclusive process");
  EXPECT_EQ(facts.persistence, false);
  EXPECT_EQ(facts.power_limit_watts, 275.5);
  EXPECT_EQ(facts.clock_reasons,
            (std::vector<std::string>{"power cap", "software thermal", "power brake"}));
  EXPECT_EQ(facts.ecc_uncorrected, 3);
  EXPECT_EQ(facts.repair_pending, true);
  EXPECT_EQ(facts.repair_failed, true);
}

TEST(Nvml, CountsTheLinksToEachPeer) {
  const GpuFacts facts = facts_of(
      "gpu\nlinks 8\nlinks_up 7\nends 00000000:65:00.0 00000000:1B:00.0 00000000:65:00.0 cpu\n");
  EXPECT_EQ(facts.nvlink_peers,
            (std::vector<std::string>{"00000000:1B:00.0 x1", "00000000:65:00.0 x2", "cpu x4"}));
  EXPECT_EQ(facts_of("gpu\nlinks_up 0\n").nvlink_peers, std::vector<std::string>{});
}

TEST(Nvml, AnOlderDriverTellsASwitchByItsBusId) {
  const auto peers = [](const std::string& description) {
    return listing_of(description, {"nvmlDeviceGetNvLinkRemoteDeviceType"}).devices.at(0).facts;
  };
  EXPECT_EQ(peers("gpu\nswitch_bus_id 00000000:C4:00.0\n").nvlink_peers,
            std::vector<std::string>{"00000000:C4:00.0 x12"});
  EXPECT_EQ(peers("gpu\n").nvlink_peers, std::nullopt);
  EXPECT_EQ(peers("gpu\n").unknown.at("nvlink_peers"),
            "nvmlDeviceGetNvLinkRemotePciInfo_v2: names no device");
}

TEST(Nvml, LinksWhosePeersAreNotToldAreCounted) {
  const GpuFacts facts =
      facts_of("gpu\nends 00000000:65:00.0\nfail nvmlDeviceGetNvLinkRemotePciInfo_v2 999\n");
  EXPECT_EQ(facts.nvlinks_active, 12);
  EXPECT_EQ(facts.nvlink_peers, std::nullopt);
  EXPECT_EQ(facts.unknown.at("nvlink_peers"),
            "nvmlDeviceGetNvLinkRemotePciInfo_v2: Unknown Error (NVML error 999)");
  EXPECT_EQ(facts.problem, std::nullopt) << "the GPU itself is sound";
}

TEST(Nvml, ListsTheCpusBesideAGpu) {
  EXPECT_EQ(facts_of("gpu\ncpus 0xFFFFFFFF\ncpus_from_64 0x80000001\n").cpu_affinity, "0-31,64,95");
  const GpuFacts none = facts_of("gpu\ncpus 0\n");
  EXPECT_EQ(none.cpu_affinity, std::nullopt);
  EXPECT_EQ(none.unknown.at("cpu_affinity"), "nvmlDeviceGetCpuAffinity: names no CPU");
  const GpuFacts refused = facts_of("gpu\nfail nvmlDeviceGetCpuAffinity 999\n");
  EXPECT_EQ(refused.unknown.at("cpu_affinity"),
            "nvmlDeviceGetCpuAffinity: Unknown Error (NVML error 999)");
  EXPECT_EQ(refused.problem, std::nullopt);
}

TEST(Nvml, OnlyAVirtualGpuHasALicence) {
  EXPECT_EQ(facts_of("gpu\n").virtual_gpu_licensed, std::nullopt);
  EXPECT_EQ(facts_of("gpu\nlicensable 1\n").virtual_gpu_licensed, std::nullopt);
  EXPECT_EQ(facts_of("gpu\nvgpu 1\nlicensed 1\n").virtual_gpu_licensed, true);
  EXPECT_EQ(facts_of("gpu\nvgpu 1\n").virtual_gpu_licensed, false);
}

TEST(Nvml, AddsUpWhatProcessesUse) {
  EXPECT_EQ(facts_of("gpu\nprocesses 1\nprocess_memory 4096\n").processes_bytes, 4096);
  EXPECT_EQ(facts_of("gpu\nprocesses 1\nprocess_memory -1\n").processes_bytes, std::nullopt);
}

TEST(Nvml, WritesTheDeviceIdAsPciIdsDoes) {
  EXPECT_EQ(facts_of("gpu\npci_device_id 562172126\n").pci_device_id, "2182");  // 0x218210DE
  EXPECT_EQ(facts_of("gpu\npci_device_id 4318\n").pci_device_id, std::nullopt);
}

TEST(Nvml, OlderGpusRetirePagesInsteadOfRemappingRows) {
  const GpuFacts facts = facts_of("gpu\nrepair_pending 1\nfail nvmlDeviceGetRemappedRows 3\n");
  EXPECT_EQ(facts.repair_pending, true);
  EXPECT_EQ(facts.repair_failed, std::nullopt);
}

TEST(Nvml, AGpuWithoutNvlinkIsNoProblem) {
  const GpuFacts facts = facts_of("gpu\nlinks 0\n");
  EXPECT_EQ(facts.nvlinks, std::nullopt);
  EXPECT_TRUE(facts.unknown.contains("nvlinks"));
  EXPECT_EQ(facts.nvlink_peers, std::nullopt);
  EXPECT_EQ(facts.problem, std::nullopt);
}

TEST(Nvml, AnyMissingFunctionLeavesTheRest) {
  for (const std::string name : {"nvmlInit_v2",
                                 "nvmlShutdown",
                                 "nvmlErrorString",
                                 "nvmlSystemGetDriverVersion",
                                 "nvmlSystemGetCudaDriverVersion_v2",
                                 "nvmlDeviceGetCount_v2",
                                 "nvmlDeviceGetHandleByIndex_v2",
                                 "nvmlDeviceGetUUID",
                                 "nvmlDeviceGetName",
                                 "nvmlDeviceGetPciInfo_v3",
                                 "nvmlDeviceGetCudaComputeCapability",
                                 "nvmlDeviceGetNumGpuCores",
                                 "nvmlDeviceGetMemoryInfo",
                                 "nvmlDeviceGetMigMode",
                                 "nvmlDeviceGetNvLinkState",
                                 "nvmlDeviceGetNvLinkRemoteDeviceType",
                                 "nvmlDeviceGetNvLinkRemotePciInfo_v2",
                                 "nvmlDeviceGetCpuAffinity",
                                 "nvmlDeviceGetGpuFabricInfo",
                                 "nvmlDeviceGetCurrentClocksThrottleReasons",
                                 "nvmlDeviceGetTotalEccErrors",
                                 "nvmlDeviceGetTemperature",
                                 "nvmlDeviceGetTemperatureThreshold",
                                 "nvmlDeviceGetRemappedRows",
                                 "nvmlDeviceGetRetiredPagesPendingStatus"}) {
    const NvmlListing listing = listing_of("gpu\n", {name});
    const bool needed = name == "nvmlInit_v2" || name == "nvmlDeviceGetCount_v2";
    EXPECT_EQ(listing.problem.has_value(), needed) << name;
    EXPECT_EQ(listing.devices.size(), needed ? 0U : 1U) << name;
  }
}

TEST(Nvml, AFailedStartIsToldInItsOwnWords) {
  const NvmlListing listing = listing_of("fail nvmlInit_v2 18\ngpu\n");
  EXPECT_EQ(listing.problem, "Driver/library version mismatch (NVML error 18)");
  EXPECT_TRUE(listing.devices.empty());
}

TEST(Nvml, AFailedCountIsAProblemAndStillEndsTheSession) {
  const FakeNvidia nvidia("fail nvmlDeviceGetCount_v2 999\n");
  EXPECT_EQ(list_nvml_devices(*FakeNvidia::nvml()).problem,
            "nvmlDeviceGetCount_v2: Unknown Error (NVML error 999)");
  EXPECT_EQ(nvidia.calls_here("nvmlShutdown"), 1);
}

TEST(Nvml, ListsMigInstancesInPlaceOfTheirGpu) {
  const NvmlListing listing = listing_of(kSlices);
  ASSERT_EQ(listing.devices.size(), 3U);
  EXPECT_EQ(listing.devices[0].facts.mig_instance, false);
  const NvmlDevice& second = listing.devices[2];
  EXPECT_EQ(second.facts.nvml_index, 1);
  EXPECT_EQ(second.facts.uuid, "MIG-b");
  EXPECT_EQ(second.facts.name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(second.facts.mig_instance, true);
  EXPECT_EQ(second.facts.mig_profile, "3g.20gb");
  EXPECT_EQ(second.facts.sm_count, 42);
  EXPECT_EQ(second.facts.memory_bytes, int64_t{19968} << 20);
  EXPECT_EQ(second.facts.compute_capability, (ComputeCapability{8, 0}));
  EXPECT_EQ(second.parent_uuid, "GPU-2");
  EXPECT_EQ(second.gpu_instance, 2);
}

TEST(Nvml, MigWithoutAnInstanceIsAGpuThatCannotBeUsed) {
  const NvmlListing listing = listing_of("gpu\nmig_mode 1\n");
  ASSERT_EQ(listing.devices.size(), 1U);
  EXPECT_FALSE(listing.devices[0].reachable);
  EXPECT_THAT(listing.devices[0].facts.problem.value_or(""),
              HasSubstr("MIG is enabled and has no instance"));
}

TEST(Nvml, ABrokenInstanceHidesNoOther) {
  const NvmlListing listing = listing_of(
      "gpu\nmig_mode 1\n"
      "mig\nuuid MIG-a\nfail nvmlDeviceGetMigDeviceHandleByIndex 999\nmig\nuuid MIG-b\n");
  ASSERT_EQ(listing.devices.size(), 1U);
  EXPECT_EQ(listing.devices[0].facts.uuid, "MIG-b");
}

}  // namespace
}  // namespace libtrain
