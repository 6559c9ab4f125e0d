#include "libtrain/doctor/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "libtrain/core/file_system.hpp"
#include "libtrain/core/text.hpp"
#include "tests/unit/doctor/doctor_cases.hpp"

namespace libtrain {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

Finding finding_of(const MachineFacts& machine, std::string_view check) {
  for (const Finding& finding : diagnose(machine)) {
    if (finding.check == check) {
      return finding;
    }
  }
  ADD_FAILURE() << "no check " << check;
  return {};
}

bool is_ill(const Finding& finding) {
  return finding.verdict == Verdict::kWarn || finding.verdict == Verdict::kFail;
}

void expect_complete(const Finding& finding, const std::string& where) {
  EXPECT_FALSE(finding.evidence.empty()) << finding.check << " on " << where;
  EXPECT_EQ(finding.consequence.empty(), !is_ill(finding)) << finding.check << " on " << where;
  EXPECT_EQ(finding.remedy.empty(), !is_ill(finding)) << finding.check << " on " << where;
}

TEST(Diagnose, EachHarmIsFoundAndItsAbsenceIsSilent) {
  for (const DoctorCase& test : doctor_cases()) {
    MachineFacts machine = test.machine();
    EXPECT_FALSE(is_ill(finding_of(machine, test.check))) << test.check;
    test.harm(machine);
    const Finding finding = finding_of(machine, test.check);
    EXPECT_EQ(finding.verdict, test.verdict) << test.check << ": " << finding.evidence;
    EXPECT_THAT(finding.evidence, HasSubstr(std::string(test.words))) << test.check;
    expect_complete(finding, "a harmed machine");
  }
}

TEST(Diagnose, EveryCheckHasACase) {
  std::set<std::string_view> cases;
  for (const DoctorCase& test : doctor_cases()) {
    cases.insert(test.check);
  }
  std::set<std::string_view> checks;
  for (const CheckInfo& check : doctor_checks()) {
    EXPECT_TRUE(checks.insert(check.name).second) << check.name << " stands twice";
    EXPECT_THAT(std::string(check.name), HasSubstr("."));
  }
  EXPECT_EQ(cases, checks);
  EXPECT_GE(checks.size(), 45U);
}

TEST(Diagnose, NothingIsWrongWithAHealthyMachine) {
  for (const MachineFacts& machine : {healthy_gpu_machine(), healthy_cpu_machine()}) {
    for (const Finding& finding : diagnose(machine)) {
      EXPECT_FALSE(is_ill(finding)) << finding.check << ": " << finding.evidence;
      expect_complete(finding, "a healthy machine");
    }
  }
}

/// An H100 machine whose user has set every variable that a check looks at, and set it well.
MachineFacts configured_machine() {
  MachineFacts machine = healthy_gpu_machine();
  machine.host.container = true;
  machine.gpu_driver.visible_devices = "0,1";
  for (GpuFacts& gpu : machine.gpus) {
    gpu.compute_capability = ComputeCapability{9, 0};
    gpu.virtual_gpu_licensed = true;
  }
  machine.network.infiniband = {{"mlx5_0/1", "mlx5_bond_0/1"}};
  machine.network.infiniband_gbps = {{"200", "200"}};
  machine.network.infiniband_nodes = {{"0", "0"}};
  machine.launch.world_size = 4;
  machine.launch.variables["MASTER_ADDR"] = "first";
  machine.launch.variables.insert({{"NCCL_IB_HCA", "mlx5_0"},
                                   {"OMP_NUM_THREADS", "16"},
                                   {"NCCL_SOCKET_IFNAME", "eth0"},
                                   {"NCCL_IB_DISABLE", "0"},
                                   {"LD_LIBRARY_PATH", "/usr/local/cuda/lib64"},
                                   {"NVIDIA_DRIVER_CAPABILITIES", "compute,utility"},
                                   {"PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"},
                                   {"CUBLAS_WORKSPACE_CONFIG", ":4096:8"}});
  return machine;
}

MachineFacts mig_machine() {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus.resize(1);
  machine.gpus[0].mig_instance = true;
  machine.launch.world_size = 1;
  machine.launch.local_world_size = 1;
  return machine;
}

/// Cards that talk over PCIe alone.
MachineFacts card_machine() {
  MachineFacts machine = healthy_gpu_machine();
  for (GpuFacts& gpu : machine.gpus) {
    gpu.name = "NVIDIA A10";
    gpu.nvlinks.reset();
    gpu.nvlinks_active.reset();
  }
  return machine;
}

TEST(Diagnose, EveryCheckPassesSomewhere) {
  std::set<std::string> passed;
  for (const MachineFacts& machine : {healthy_gpu_machine(), healthy_cpu_machine(),
                                      configured_machine(), mig_machine(), card_machine()}) {
    for (const Finding& finding : diagnose(machine)) {
      EXPECT_FALSE(is_ill(finding)) << finding.check << ": " << finding.evidence;
      if (finding.verdict == Verdict::kPass) {
        passed.insert(finding.check);
      }
    }
  }
  for (const CheckInfo& check : doctor_checks()) {
    EXPECT_TRUE(passed.contains(std::string(check.name))) << check.name << " only ever skips";
  }
}

TEST(Diagnose, SkipsWhatIsUnknown) {
  for (const Finding& finding : diagnose(MachineFacts{})) {
    EXPECT_FALSE(is_ill(finding)) << finding.check << ": " << finding.evidence;
    expect_complete(finding, "an unknown machine");
  }
}

/// Evidence that looks like a fault and is none, each seen on a real machine.
TEST(Diagnose, IsNotMisledByIdleOrVirtualMachines) {
  MachineFacts idle = healthy_gpu_machine();
  for (GpuFacts& gpu : idle.gpus) {
    gpu.clock_reasons = {{"idle", "power cap", "hardware slowdown"}};
    gpu.pcie_width = 8;
  }
  EXPECT_FALSE(is_ill(finding_of(idle, "gpu.slowdown")));
  EXPECT_FALSE(is_ill(finding_of(idle, "link.pcie_width")));

  for (GpuFacts& gpu : idle.gpus) {
    gpu.clock_reasons = {{"power cap", "power brake"}};
    gpu.performance_state = 8;
  }
  EXPECT_FALSE(is_ill(finding_of(idle, "gpu.slowdown")));
  EXPECT_FALSE(is_ill(finding_of(idle, "link.pcie_width")));

  MachineFacts guest = healthy_gpu_machine();
  guest.host.virtual_machine = true;
  guest.gpus[0].pcie_width = 8;
  guest.gpus[0].iommu = "DMA";
  guest.gpus[0].nvlinks_active = 0;
  EXPECT_FALSE(is_ill(finding_of(guest, "link.pcie_width")));
  EXPECT_FALSE(is_ill(finding_of(guest, "link.iommu")));
}

TEST(Diagnose, AdvisesTheKernelModuleThatTheCardNeeds) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus.clear();
  machine.gpu_driver.module_refusal = "open";
  EXPECT_THAT(finding_of(machine, "driver.listing").remedy,
              HasSubstr("install the open kernel modules"));
  machine.gpu_driver.problem = "Driver Not Loaded (NVML error 9)";
  machine.gpu_driver.module_refusal = "proprietary";
  EXPECT_THAT(finding_of(machine, "driver.listing").remedy,
              HasSubstr("install the proprietary kernel modules"));
}

TEST(Diagnose, AdvisesNoBindingThatTheCpusetRefuses) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus[0].numa_node = 1;
  EXPECT_EQ(finding_of(machine, "cpu.gpu_node").remedy, "numactl --cpunodebind=1 --membind=1");
  machine.cpu.memory_nodes = {{"0"}};
  EXPECT_THAT(finding_of(machine, "cpu.gpu_node").remedy, HasSubstr("memory of 0 alone"));
}

/// MemAvailable counts, not what is free beside the page cache.
TEST(Diagnose, TheHostsMemoryIsThatOfAGpuWithoutItsOwn) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus.resize(1);
  machine.gpus[0].compute_capability = ComputeCapability{12, 1};
  machine.gpus[0].memory_bytes.reset();
  machine.gpus[0].memory_free_bytes.reset();
  EXPECT_EQ(finding_of(machine, "gpu.memory_free").verdict, Verdict::kSkip);
  machine.host.memory_available_bytes = int64_t{200} << 30;
  EXPECT_EQ(finding_of(machine, "gpu.memory_free").verdict, Verdict::kPass);
  machine.gpus[0].pcie_width = 1;
  EXPECT_EQ(finding_of(machine, "link.pcie_width").verdict, Verdict::kSkip);
}

/// What the doctor advises must not be what it finds fault with.
TEST(Diagnose, ItsOwnAdviceIsNoFinding) {
  MachineFacts machine = healthy_gpu_machine();
  machine.launch.variables["OMP_NUM_THREADS"] = "1";
  machine.launch.variables["FASTTRAIN_THREADS"] = "16";
  for (const Finding& finding : diagnose(machine)) {
    EXPECT_FALSE(is_ill(finding)) << finding.check << ": " << finding.evidence;
  }
}

TEST(Diagnose, GeForceCardsHaveNoPeerAccessByDesign) {
  MachineFacts machine = healthy_gpu_machine();
  for (GpuFacts& gpu : machine.gpus) {
    gpu.name = "NVIDIA GeForce RTX 4090";
    gpu.peers.emplace().clear();
    gpu.nvlinks.reset();
    gpu.nvlinks_active.reset();
  }
  EXPECT_EQ(finding_of(machine, "link.peers").verdict, Verdict::kPass);
  EXPECT_EQ(finding_of(machine, "link.nvlink").verdict, Verdict::kSkip);
}

TEST(Diagnose, CardsWithoutABridgeAreNotCardsWithBrokenLinks) {
  MachineFacts machine = healthy_gpu_machine();
  for (GpuFacts& gpu : machine.gpus) {
    gpu.name = "NVIDIA GeForce RTX 3090";
    gpu.nvlinks = 4;
    gpu.nvlinks_active = 0;
  }
  EXPECT_EQ(finding_of(machine, "link.nvlink").verdict, Verdict::kSkip);
}

/// Four GPUs in two pairs, or with links to all others by a switch.
TEST(Diagnose, TellsHowManyPairsHaveNoLink) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus.insert(machine.gpus.end(), {machine.gpus[0], machine.gpus[1]});
  for (size_t i = 0; i < 4; ++i) {
    machine.gpus[i].cuda_index = static_cast<int>(i);
    machine.gpus[i].pci_bus_id = fill("00000000:0{}:00.0", i);
    machine.gpus[i].nvlink_peers = {{fill("00000000:0{}:00.0 x12", i ^ 1U)}};
  }
  EXPECT_EQ(finding_of(machine, "link.nvlink").verdict, Verdict::kPass);
  EXPECT_EQ(finding_of(machine, "link.nvlink").evidence,
            "12 NVLinks up on each, none between 4 of 6 pairs, such as GPU 0 and GPU 2");
  machine.gpus[0].nvlink_peers = {{"0000000F:01:00.0 x12"}};
  machine.gpus[1].nvlink_peers = {{"0000000F:00:00.0 x12"}};
  EXPECT_EQ(finding_of(machine, "link.nvlink").evidence, "12 NVLinks up on each")
      << "addresses of another machine tell nothing";
  for (GpuFacts& gpu : machine.gpus) {
    gpu.nvlink_peers = {{"switch x12"}};
  }
  EXPECT_EQ(finding_of(machine, "link.nvlink").evidence, "12 NVLinks up on each");
}

TEST(Diagnose, ReadsInterfacePatternsAsNcclDoes) {
  const auto verdict = [](const char* pattern) {
    MachineFacts machine = healthy_gpu_machine();
    machine.network.interfaces = {{"eth0", "docker0"}};
    machine.launch.variables["NCCL_SOCKET_IFNAME"] = pattern;
    return finding_of(machine, "network.socket_names").verdict;
  };
  for (const char* pattern : {"eth", "ib,eth0", "=eth0", "^docker", "^=docker0", "lo"}) {
    EXPECT_EQ(verdict(pattern), Verdict::kPass) << pattern;
  }
  for (const char* pattern : {"=eth", "ib", "^eth,docker,lo"}) {
    EXPECT_EQ(verdict(pattern), Verdict::kFail) << pattern;
  }
}

TEST(Diagnose, KnowsTheMinimumDriverOfEachCuda) {
  for (const auto& [cuda, driver] : std::vector<std::pair<std::string, std::string>>{
           {"11.8", "450.80.02"}, {"12.6", "525.60.13"}, {"13.2", "580.65.06"}}) {
    MachineFacts machine = healthy_gpu_machine();
    machine.library.cuda_version = cuda;
    machine.gpu_driver.driver_cuda_version = "10.2";
    EXPECT_THAT(finding_of(machine, "driver.cuda_version").remedy, HasSubstr(driver));
  }
}

TEST(Diagnose, DecodesTheDriversErrors) {
  for (const auto& [problem, remedy] : std::vector<std::pair<std::string, std::string>>{
           {"system not yet initialized (CUDA error 802)", "nvidia-fabricmanager"},
           {"unsupported combination (CUDA error 803)", "reboot"},
           {"forward compatibility (CUDA error 804)", "cuda-compat"},
           {"Driver Not Loaded (NVML error 9)", "modprobe nvidia"},
           {"GPU access blocked by the operating system (NVML error 17)", "wsl --shutdown"},
           {"something new", "dmesg"}}) {
    MachineFacts machine = healthy_gpu_machine();
    machine.gpu_driver.problem = problem;
    EXPECT_THAT(finding_of(machine, "driver.listing").remedy, HasSubstr(remedy)) << problem;
  }
}

TEST(Diagnose, KnowsAContainerThatLacksLibcudaAlone) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpu_driver.cuda_starts = false;
  machine.gpu_driver.cuda_problem = "libcuda.so.1 cannot be loaded";
  EXPECT_THAT(finding_of(machine, "driver.cuda_start").remedy, HasSubstr("install the NVIDIA"));
  machine.host.container = true;
  EXPECT_THAT(finding_of(machine, "driver.cuda_start").remedy,
              HasSubstr("NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
  machine.gpu_driver.cuda_problem = "unknown error (CUDA error 999)";
  EXPECT_THAT(finding_of(machine, "driver.cuda_start").remedy, HasSubstr("nvidia_uvm"));
}

TEST(Diagnose, AdvisesInTheWordsOfWhatRunsTheContainer) {
  for (const auto& [runtime, remedy] : std::vector<std::pair<std::string, std::string>>{
           {"docker", "docker run --gpus all"},
           {"podman", "podman run --device nvidia.com/gpu=all"},
           {"apptainer", "apptainer exec --nv"},
           {"kubernetes", "a limit of nvidia.com/gpu"}}) {
    MachineFacts machine = healthy_gpu_machine();
    machine.host.container = true;
    machine.host.container_runtime = runtime;
    machine.gpu_driver.problem = "libnvidia-ml.so.1 cannot be loaded";
    machine.host.shared_memory_bytes = int64_t{64} << 20;
    EXPECT_THAT(finding_of(machine, "driver.listing").remedy, HasSubstr(remedy)) << runtime;
    EXPECT_EQ(finding_of(machine, "memory.shm").remedy.starts_with("give the pod"),
              runtime == "kubernetes");
  }
}

TEST(Diagnose, VoltaUnderAWheelWithoutItIsToldWhichWheelHasIt) {
  MachineFacts machine = healthy_gpu_machine();
  machine.gpus[0].compute_capability = ComputeCapability{7, 0};
  const Finding finding = finding_of(machine, "driver.targets");
  EXPECT_THAT(finding.evidence, HasSubstr("no PTX"));
  EXPECT_THAT(finding.remedy, HasSubstr("cu126"));
  EXPECT_THAT(finding.remedy, HasSubstr("R580"));
}

TEST(Diagnose, AGpuThatIsLostIsNotBlamedForWhatItDidNotTell) {
  MachineFacts machine = healthy_gpu_machine();
  GpuFacts lost;
  lost.nvml_index = 1;
  lost.cuda_index = 1;
  lost.name = machine.gpus[1].name;
  lost.problem = "nvmlDeviceGetMemoryInfo: GPU is lost (NVML error 15)";
  machine.gpus[1] = lost;
  EXPECT_EQ(finding_of(machine, "gpu.reachable").verdict, Verdict::kFail);
  for (const char* check : {"gpu.alike", "link.nvlink", "link.peers"}) {
    EXPECT_EQ(finding_of(machine, check).verdict, Verdict::kSkip) << check;
  }
  EXPECT_EQ(finding_of(MachineFacts{}, "gpu.xid").evidence, "no GPU");
}

TEST(Diagnose, NamesThatAreOnlyNewAreNoMistakes) {
  MachineFacts machine = healthy_gpu_machine();
  machine.launch.variables = {{"NCCL_SOMETHING_ENTIRELY_NEW", "1"},
                              {"CUDA_HOME", "/usr"},
                              {"TORCH_LOGS", "+dynamo"},
                              {"OMP_NUM_THREADS", "8"}};
  EXPECT_EQ(finding_of(machine, "environment.names").verdict, Verdict::kPass);
}

TEST(Diagnose, FindsWhatIsWrongWithRecordedMachines) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> table{
      {"a100-driver-too-old", {"FAIL driver.cuda_version"}},
      {"a100-sxm4-80gb-x8", {}},
      {"a6000-x3-one-pair", {"WARN link.nvlink"}},
      {"gh200-480gb", {"FAIL driver.cuda_version"}},
      {"gpu-driver-mismatch", {"FAIL driver.listing"}},
      {"h100-slurm-one-gpu", {"WARN cpu.affinity"}},
      {"h100-sxm-x8", {}},
      {"h100-x8-two-nodes",
       {"WARN network.infiniband_bonds", "WARN network.infiniband_rate", "WARN launch.master"}},
      {"h100-sxm-x8-no-fabric", {"FAIL driver.fabric"}},
      {"h200-x8", {}},
      {"jetson-agx-orin", {"FAIL driver.cuda_version"}},
      {"l40s-x1-vm", {}},
      {"rtx-2080-ti-x2", {}},
      {"rtx-3060-x2-one-lost", {"FAIL gpu.reachable"}},
      {"rtx-3090-x2-nvlink", {"WARN gpu.persistence", "WARN gpu.memory_free"}},
      {"rtx-5090-x1", {}},
      {"v100-power-brake", {"FAIL gpu.slowdown"}},
      {"vgpu-a6000-24q", {"WARN gpu.persistence", "WARN gpu.license"}},
      {"v100-torch-2.15", {"FAIL driver.targets", "WARN gpu.power_limit", "FAIL memory.shm"}},
      {"wsl2-rtx-3070", {"WARN gpu.memory_free"}},
  };
  for (const auto& [name, expected] : table) {
    const std::string file = std::string(LIBTRAIN_TEST_DATA "/machines/") + name + ".facts";
    std::vector<std::string> found;
    for (const Finding& finding : diagnose(parse_machine_facts(read_file(file), file))) {
      if (is_ill(finding)) {
        found.push_back(std::string(to_text(finding.verdict)) + " " + finding.check);
      }
    }
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(Diagnose, EveryRecordedMachineGetsCompleteFindings) {
  for (const auto& entry : std::filesystem::directory_iterator(LIBTRAIN_TEST_DATA "/machines")) {
    const std::string file = entry.path().string();
    for (const Finding& finding : diagnose(parse_machine_facts(read_file(file), file))) {
      expect_complete(finding, file);
    }
  }
}

TEST(Diagnose, AreasKeepTheirOrder) {
  EXPECT_THAT(doctor_areas(),
              testing::ElementsAre("driver", "gpu", "link", "network", "memory", "cpu",
                                   "environment", "settings", "launch", "disk"));
}

}  // namespace
}  // namespace libtrain
