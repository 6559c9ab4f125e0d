#include "libtrain/probe/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_nvidia.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;

FakeNvmlDevice a100(const std::string& uuid, const std::string& bus_id = "00000000:17:00.0") {
  FakeNvmlDevice out;
  out.uuid = uuid;
  out.name = "NVIDIA A100-SXM4-40GB";
  out.bus_id = bus_id;
  return out;
}

FakeNvmlDevice slice(const std::string& uuid, unsigned gpu_instance) {
  FakeNvmlDevice out = a100(uuid);
  out.name = "NVIDIA A100-SXM4-40GB MIG 3g.20gb";
  out.memory = 19968ULL << 20U;
  out.gpu_instance = gpu_instance;
  out.multiprocessors = 42;
  return out;
}

TEST(Nvml, TellsEachGpusFacts) {
  FakeNvml state{.devices = {a100("GPU-1")}};
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
  EXPECT_EQ(listing.driver_version, "580.105.08");
  EXPECT_EQ(listing.driver_cuda_version, "13.0");
  EXPECT_EQ(listing.problem, std::nullopt);
  ASSERT_EQ(listing.devices.size(), 1U);
  GpuFacts expected;
  expected.nvml_index = 0;
  expected.uuid = "GPU-1";
  expected.pci_bus_id = "00000000:17:00.0";
  expected.name = "NVIDIA A100-SXM4-40GB";
  expected.compute_capability = ComputeCapability{8, 0};
  expected.sm_count = 108;
  expected.memory_bytes = int64_t{40} << 30;
  expected.mig_instance = false;
  expected.pcie_generation_max = 4;
  expected.pcie_width_max = 16;
  expected.nvlinks = 12;
  expected.nvlinks_active = 12;
  expected.fabric = "completed";
  expected.compute_mode = "default";
  expected.persistence = true;
  expected.power_default_watts = 400;
  expected.power_limit_watts = 400;
  expected.performance_state = 0;
  expected.pcie_generation = 4;
  expected.pcie_width = 16;
  expected.memory_free_bytes = int64_t{20} << 30;
  expected.clock_reasons = std::vector<std::string>{"idle"};
  expected.ecc_uncorrected = 0;
  expected.repair_pending = false;
  expected.repair_failed = false;
  EXPECT_EQ(listing.devices[0].facts, expected);
  EXPECT_EQ(state.started, 1);
  EXPECT_EQ(state.stopped, 1);
}

TEST(Nvml, CountsMultiprocessorsByCapability) {
  const std::vector<std::tuple<int, int, unsigned, std::optional<int>>> table = {
      {6, 0, 3584, 56},    {7, 0, 5120, 80},   {7, 5, 2560, 40},   {8, 0, 6912, 108},
      {8, 6, 10496, 82},   {8, 9, 16384, 128}, {9, 0, 16896, 132}, {10, 0, 18944, 148},
      {12, 0, 21760, 170}, {13, 0, 10000, {}},
  };
  for (const auto& [major, minor, cores, expected] : table) {
    FakeNvml state{.devices = {a100("GPU-1")}};
    state.devices[0].major = major;
    state.devices[0].minor = minor;
    state.devices[0].cores = cores;
    EXPECT_EQ(list_nvml_devices(*fake_nvml_library(state)).devices[0].facts.sm_count, expected)
        << major << "." << minor;
  }
}

TEST(Nvml, ABrokenDeviceHidesNoOther) {
  FakeNvml state{.devices = {a100("GPU-1"), a100("GPU-2"), a100("GPU-3"), a100("GPU-4")}};
  state.devices[0].failures["nvmlDeviceGetHandleByIndex_v2"] = 15;
  state.devices[2].failures["nvmlDeviceGetMemoryInfo"] = 15;
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
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
    FakeNvml state{.devices = {a100("GPU-1")}};
    state.devices[0].failures["nvmlDeviceGetMemoryInfo"] = no_answer;
    state.devices[0].failures["nvmlDeviceGetMigMode"] = no_answer;
    const GpuFacts facts = list_nvml_devices(*fake_nvml_library(state)).devices[0].facts;
    EXPECT_EQ(facts.memory_bytes, std::nullopt);
    EXPECT_EQ(facts.problem, std::nullopt) << no_answer;
    EXPECT_EQ(facts.name, "NVIDIA A100-SXM4-40GB");
  }
}

TEST(Nvml, SaysWhyAFactIsUnknown) {
  FakeNvml state{.devices = {a100("GPU-1"), a100("GPU-2")}};
  state.devices[0].failures = {{"nvmlDeviceGetCurrPcieLinkGeneration", 4},
                               {"nvmlDeviceGetP2PStatus", 3}};
  const auto library = fake_nvml_library(state);
  library->symbols.erase("nvmlDeviceGetGpuFabricInfo");
  const GpuFacts facts = list_nvml_devices(*library).devices[0].facts;
  EXPECT_EQ(
      facts.unknown,
      (std::map<std::string, std::string>{
          {"pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration: Unknown Error (NVML error 4)"},
          {"peers", "nvmlDeviceGetP2PStatus: Unknown Error (NVML error 3)"},
          {"fabric", "the driver has no nvmlDeviceGetGpuFabricInfo"}}));
  EXPECT_EQ(facts.problem, std::nullopt);
}

TEST(Nvml, ReadsTheStateOfAGpu) {
  FakeNvml state{.devices = {a100("GPU-1"), a100("GPU-2"), a100("GPU-3")}};
  FakeNvmlDevice& gpu = state.devices[0];
  gpu.links_up = 7;
  gpu.performance_state = 32;
  gpu.width = 8;
  gpu.peers = {"GPU-3"};
  gpu.fabric = 2;
  gpu.compute_mode = 3;
  gpu.persistence = 0;
  gpu.power_limit = 275500;
  gpu.clock_reasons = 0xA4;
  gpu.ecc_errors = 3;
  gpu.repair_pending = 1;
  gpu.repair_failed = 1;
  const GpuFacts facts = list_nvml_devices(*fake_nvml_library(state)).devices[0].facts;
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

TEST(Nvml, OlderGpusRetirePagesInsteadOfRemappingRows) {
  FakeNvml state{.devices = {a100("GPU-1")}};
  state.devices[0].repair_pending = 1;
  state.devices[0].failures["nvmlDeviceGetRemappedRows"] = 3;
  const GpuFacts facts = list_nvml_devices(*fake_nvml_library(state)).devices[0].facts;
  EXPECT_EQ(facts.repair_pending, true);
  EXPECT_EQ(facts.repair_failed, std::nullopt);
}

TEST(Nvml, AGpuWithoutNvlinkIsNoProblem) {
  FakeNvml state{.devices = {a100("GPU-1")}};
  state.devices[0].links = 0;
  const GpuFacts facts = list_nvml_devices(*fake_nvml_library(state)).devices[0].facts;
  EXPECT_EQ(facts.nvlinks, std::nullopt);
  EXPECT_TRUE(facts.unknown.contains("nvlinks"));
  EXPECT_EQ(facts.problem, std::nullopt);
}

TEST(Nvml, AnyMissingFunctionLeavesTheRest) {
  FakeNvml state{.devices = {a100("GPU-1")}};
  const auto all = fake_nvml_library(state)->symbols;
  for (const auto& [name, address] : all) {
    const auto library = fake_nvml_library(state);
    library->symbols.erase(name);
    const NvmlListing listing = list_nvml_devices(*library);
    const bool needed = name == "nvmlInit_v2" || name == "nvmlDeviceGetCount_v2";
    EXPECT_EQ(listing.problem.has_value(), needed) << name;
    EXPECT_EQ(listing.devices.size(), needed ? 0U : 1U) << name;
  }
}

TEST(Nvml, AFailedStartIsToldInItsOwnWords) {
  FakeNvml state{.failures = {{"nvmlInit_v2", 18}}, .devices = {a100("GPU-1")}};
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
  EXPECT_EQ(listing.problem, "Driver/library version mismatch (NVML error 18)");
  EXPECT_TRUE(listing.devices.empty());
}

TEST(Nvml, AFailedCountIsAProblemAndStillEndsTheSession) {
  FakeNvml state{.failures = {{"nvmlDeviceGetCount_v2", 999}}};
  EXPECT_EQ(list_nvml_devices(*fake_nvml_library(state)).problem,
            "nvmlDeviceGetCount_v2: Unknown Error (NVML error 999)");
  EXPECT_EQ(state.stopped, 1);
}

TEST(Nvml, ListsMigInstancesInPlaceOfTheirGpu) {
  FakeNvml state{.devices = {a100("GPU-1"), a100("GPU-2")}};
  state.devices[1].mig_mode = true;
  state.devices[1].instances = {slice("MIG-a", 1), slice("MIG-b", 2)};
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
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
  FakeNvml state{.devices = {a100("GPU-1")}};
  state.devices[0].mig_mode = true;
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
  ASSERT_EQ(listing.devices.size(), 1U);
  EXPECT_FALSE(listing.devices[0].reachable);
  EXPECT_THAT(listing.devices[0].facts.problem.value_or(""),
              HasSubstr("MIG is enabled and has no instance"));
}

TEST(Nvml, ABrokenInstanceHidesNoOther) {
  FakeNvml state{.devices = {a100("GPU-1")}};
  state.devices[0].mig_mode = true;
  state.devices[0].instances = {slice("MIG-a", 1), slice("MIG-b", 2)};
  state.devices[0].instances[0].failures["nvmlDeviceGetMigDeviceHandleByIndex"] = 999;
  const NvmlListing listing = list_nvml_devices(*fake_nvml_library(state));
  ASSERT_EQ(listing.devices.size(), 1U);
  EXPECT_EQ(listing.devices[0].facts.uuid, "MIG-b");
}

}  // namespace
}  // namespace libtrain
