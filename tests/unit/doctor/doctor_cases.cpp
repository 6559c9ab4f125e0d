#include "tests/unit/doctor/doctor_cases.hpp"

#include "libtrain/core/text.hpp"

namespace libtrain {

MachineFacts healthy_cpu_machine() {
  MachineFacts m;
  m.host.os = "linux";
  m.host.libc = "glibc 2.36";
  m.host.container = false;
  m.host.wsl = false;
  m.host.virtual_machine = false;
  m.host.memory_bytes = int64_t{256} << 30;
  m.host.shared_memory_bytes = int64_t{128} << 30;
  m.host.shared_memory_free_bytes = int64_t{128} << 30;
  m.host.overcommit_memory = 0;
  m.host.locked_memory_bytes = kUnlimited;
  m.host.open_files = 65536;
  m.host.folder_writable = true;
  m.host.folder_free_bytes = int64_t{500} << 30;
  m.cpu.architecture = "x86_64";
  m.cpu.logical_cpus = 64;
  m.cpu.cores = 32;
  m.cpu.affinity_cpus = 64;
  m.cpu.affinity_cores = 32;
  m.cpu.affinity_nodes = {{"0"}};
  m.cpu.avx2 = true;
  m.cpu.avx512 = true;
  m.cpu.avx512_bf16 = true;
  m.cpu.amx_bf16 = false;
  m.cpu.governor = "performance";
  m.cpu.frequency_driver = "acpi-cpufreq";
  m.library.torch_version = "2.15.0+cu132";
  m.library.cuda_version = "13.2";
  m.library.cudnn_version = "9.26.0";
  m.library.cuda_archs = {{"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"}};
  m.network.interfaces = {{"eth0"}};
  m.network.infiniband.emplace();
  m.network.infiniband_down.emplace();
  m.network.peer_memory = false;
  return m;
}

MachineFacts healthy_gpu_machine() {
  MachineFacts m = healthy_cpu_machine();
  m.gpu_driver.driver_version = "595.45.04";
  m.gpu_driver.driver_cuda_version = "13.2";
  m.gpu_driver.open_kernel_module = true;
  m.gpu_driver.cuda_starts = true;
  for (int i = 0; i < 2; ++i) {
    GpuFacts gpu;
    gpu.nvml_index = i;
    gpu.cuda_index = i;
    gpu.name = "NVIDIA A100-SXM4-80GB";
    gpu.compute_capability = ComputeCapability{8, 0};
    gpu.memory_bytes = int64_t{80} << 30;
    gpu.memory_free_bytes = int64_t{79} << 30;
    gpu.mig_instance = false;
    gpu.numa_node = 0;
    gpu.pcie_width_max = 16;
    gpu.pcie_width = 16;
    gpu.nvlinks = 12;
    gpu.nvlinks_active = 12;
    gpu.peers = {{to_text(1 - i)}};
    gpu.fabric = "completed";
    gpu.compute_mode = "default";
    gpu.persistence = true;
    gpu.power_default_watts = 400;
    gpu.power_limit_watts = 400;
    gpu.clock_reasons = {{"power cap"}};
    gpu.ecc_uncorrected = 0;
    gpu.repair_pending = false;
    gpu.repair_failed = false;
    gpu.temperature_celsius = 60;
    gpu.slowdown_celsius = 90;
    gpu.xids = {{"31"}};
    gpu.pci_bridges = {{"0000:00:01.0", "0000:10:00.0", to_text(i) + "000:20:00.0"}};
    gpu.acs_bridges.emplace();
    m.gpus.push_back(gpu);
  }
  m.network.infiniband = {{"mlx5_0/1"}};
  m.network.infiniband_gbps = {{"200"}};
  m.network.infiniband_nodes = {{"0"}};
  m.library.loaded = {{"/v/nccl/lib/libnccl.so.2", "/v/cudnn/lib/libcudnn.so.9"}};
  m.launch.launcher = "torchrun";
  m.launch.rank = 0;
  m.launch.local_rank = 0;
  m.launch.world_size = 2;
  m.launch.local_world_size = 2;
  m.launch.variables = {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
  return m;
}

namespace {

using M = MachineFacts&;

/// Two more GPUs, hidden; the links of each visible one end at one of them.
void link_to_hidden_gpus(M m) {
  for (size_t i = 0; i < 2; ++i) {
    m.gpus[i].pci_bus_id = fill("00000000:0{}:00.0", i);
    GpuFacts hidden = m.gpus[i];
    hidden.cuda_index.reset();
    hidden.nvml_index = static_cast<int>(i) + 2;
    hidden.pci_bus_id = fill("00000000:8{}:00.0", i);
    hidden.nvlink_peers = {{*m.gpus[i].pci_bus_id + " x12"}};
    m.gpus[i].nvlink_peers = {{*hidden.pci_bus_id + " x12"}};
    m.gpus.push_back(hidden);
  }
}

}  // namespace

std::vector<DoctorCase> doctor_cases() {
  constexpr auto kGpu = healthy_gpu_machine;
  constexpr auto kCpu = healthy_cpu_machine;
  constexpr Verdict kWarn = Verdict::kWarn;
  constexpr Verdict kFail = Verdict::kFail;
  return {
      {"driver.listing", kFail, "NVML error 18", kGpu,
       [](M m) {
         m.gpu_driver.problem = "Driver/library version mismatch (NVML error 18)";
         m.gpus.clear();
       }},
      {"driver.listing", kFail, "lists no GPU", kGpu, [](M m) { m.gpus.clear(); }},
      {"driver.listing", kFail, "lists no GPU", kGpu,
       [](M m) {
         m.gpus.clear();
         m.gpu_driver.module_refusal = "open";
       }},
      {"driver.cuda_build", kFail, "CPU-only build", kGpu,
       [](M m) {
         m.library.torch_version = "2.15.0+cpu";
         m.library.cuda_version.reset();
         m.library.cuda_archs.reset();
       }},
      {"driver.cuda_start", kFail, "unknown error (CUDA error 999)", kGpu,
       [](M m) {
         m.gpu_driver.cuda_starts = false;
         m.gpu_driver.cuda_problem = "unknown error (CUDA error 999)";
       }},
      {"driver.cuda_version", kFail, "serves CUDA 12.4", kGpu,
       [](M m) { m.gpu_driver.driver_cuda_version = "12.4"; }},
      {"driver.targets", kFail, "compute capability 7.0", kGpu,
       [](M m) {
         m.gpus[0].name = "Tesla V100-SXM2-32GB";
         m.gpus[0].compute_capability = ComputeCapability{7, 0};
       }},
      {"driver.targets", kWarn, "PTX of \"compute_75\"", kGpu,
       [](M m) {
         m.library.cuda_archs = {{"sm_75", "compute_75"}};
       }},
      {"driver.fabric", kFail, "in progress", kGpu, [](M m) { m.gpus[1].fabric = "in progress"; }},
      {"driver.cudnn", kWarn, "9.10.2", kGpu,
       [](M m) {
         m.gpus[0].compute_capability = ComputeCapability{9, 0};
         m.library.cudnn_version = "9.10.2";
       }},
      {"driver.loaded", kFail, "libnccl is loaded twice", kGpu,
       [](M m) { m.library.loaded->emplace_back("/usr/lib/libnccl.so.2"); }},
      {"gpu.reachable", kFail, "GPU is lost", kGpu,
       [](M m) {
         m.gpus[1].problem = "nvmlDeviceGetHandleByIndex_v2: GPU is lost (NVML error 15)";
       }},
      {"gpu.visible", kWarn, "hides every GPU", kGpu,
       [](M m) {
         m.gpu_driver.visible_devices = "";
         m.gpus[0].cuda_index.reset();
         m.gpus[1].cuda_index.reset();
       }},
      {"gpu.visible", kWarn, "names 3 devices, CUDA uses 2", kGpu,
       [](M m) { m.gpu_driver.visible_devices = "0,1,8"; }},
      {"gpu.visible", kWarn, "one MIG instance is used", kGpu,
       [](M m) {
         m.gpu_driver.visible_devices = "MIG-a,MIG-b";
         m.gpus.resize(1);
         m.gpus[0].mig_instance = true;
       }},
      {"gpu.alike", kWarn, "NVIDIA T4", kGpu, [](M m) { m.gpus[1].name = "NVIDIA T4"; }},
      {"gpu.order", kWarn, "nvidia-smi's GPU 1", kGpu,
       [](M m) {
         m.gpus[0].nvml_index = 1;
         m.gpus[1].nvml_index = 0;
       }},
      {"gpu.ranks", kFail, "4 processes on this machine, 2 visible GPUs", kGpu,
       [](M m) { m.launch.local_world_size = 4; }},
      {"gpu.mig_ranks", kFail, "MIG instances", kGpu, [](M m) { m.gpus[0].mig_instance = true; }},
      {"gpu.compute_mode", kFail, "prohibited", kGpu,
       [](M m) { m.gpus[0].compute_mode = "prohibited"; }},
      {"gpu.compute_mode", kWarn, "exclusive process", kGpu,
       [](M m) { m.gpus[0].compute_mode = "exclusive process"; }},
      {"gpu.memory_errors", kFail, "2 uncorrected", kGpu,
       [](M m) { m.gpus[1].ecc_uncorrected = 2; }},
      {"gpu.repairs", kWarn, "pending", kGpu, [](M m) { m.gpus[1].repair_pending = true; }},
      {"gpu.repairs", kFail, "no spare", kGpu, [](M m) { m.gpus[1].repair_failed = true; }},
      {"gpu.xid", kFail, "Xid 31, 79", kGpu,
       [](M m) {
         m.gpus[1].xids = {{"31", "79"}};
       }},
      {"gpu.xid", kWarn, "Xid 63", kGpu, [](M m) { m.gpus[1].xids = {{"63"}}; }},
      {"gpu.temperature", kWarn, "91 °C, slowed from 90 °C on", kGpu,
       [](M m) { m.gpus[1].temperature_celsius = 91; }},
      {"gpu.slowdown", kFail, "power brake", kGpu,
       [](M m) {
         m.gpus[0].clock_reasons = {{"hardware slowdown", "power brake"}};
       }},
      {"gpu.slowdown", kWarn, "software thermal", kGpu,
       [](M m) { m.gpus[0].clock_reasons = {{"software thermal"}}; }},
      {"gpu.power_limit", kWarn, "275 W, by default 400 W", kGpu,
       [](M m) { m.gpus[0].power_limit_watts = 275; }},
      {"gpu.persistence", kWarn, "persistence mode off", kGpu,
       [](M m) { m.gpus[0].persistence = false; }},
      {"gpu.memory_free", kWarn, "40.0 GiB of 80.0 GiB", kGpu,
       [](M m) { m.gpus[0].memory_free_bytes = int64_t{40} << 30; }},
      {"gpu.memory_free", kWarn, "10.0 GiB of 256.0 GiB, the host's memory,", kGpu,
       [](M m) {
         m.gpus[0].compute_capability = ComputeCapability{12, 1};
         m.gpus[0].memory_free_bytes.reset();
         m.host.memory_available_bytes = int64_t{10} << 30;
       }},
      {"gpu.license", kWarn, "no licence", kGpu,
       [](M m) { m.gpus[0].virtual_gpu_licensed = false; }},
      {"link.pcie_width", kWarn, "4 of 16", kGpu, [](M m) { m.gpus[1].pcie_width = 4; }},
      {"link.nvlink", kWarn, "0 NVLinks up, expected 12", kGpu,
       [](M m) { m.gpus[1].nvlinks_active = 0; }},
      {"link.nvlink", kWarn, "11 NVLinks up, expected 12", kGpu,
       [](M m) {
         m.gpus[0].nvlinks_active = 11;
         m.gpus[1].nvlinks_active = 11;
       }},
      {"link.nvlink", kWarn, "end at nvidia-smi's GPU 2, which is hidden", kGpu,
       link_to_hidden_gpus},
      {"link.peers", kWarn, "cannot read GPU 0", kGpu,
       [](M m) { m.gpus[1].peers.emplace().clear(); }},
      {"link.iommu", kWarn, "DMA-FQ", kGpu,
       [](M m) {
         m.gpus[0].nvlinks_active = 0;
         m.gpus[0].iommu = "DMA-FQ";
       }},
      {"link.iommu", kWarn, "DMA-FQ", kGpu,
       [](M m) {
         link_to_hidden_gpus(m);
         m.gpus[0].iommu = "DMA-FQ";
       }},
      {"link.acs", kWarn, "0000:20:00.0", kGpu,
       [](M m) {
         m.gpus[0].nvlinks_active = 0;
         m.gpus[0].acs_bridges = {{"0000:20:00.0"}};
       }},
      {"link.acs", kWarn, "0000:20:00.0", kGpu,
       [](M m) {
         link_to_hidden_gpus(m);
         m.gpus[0].acs_bridges = {{"0000:20:00.0"}};
       }},
      {"network.interfaces", kFail, "no interface but lo", kGpu,
       [](M m) {
         m.network.interfaces.emplace().clear();
         m.launch.world_size = 16;
       }},
      {"network.interfaces", kWarn, "no interface but lo", kGpu,
       [](M m) { m.network.interfaces.emplace().clear(); }},
      {"network.interfaces", kFail, "no interface but lo has an address; up without one: eth0",
       kGpu,
       [](M m) {
         m.network.interface_addresses = {{"none"}};
         m.launch.world_size = 16;
       }},
      {"network.socket_names", kFail, "selects none of eth0, lo", kGpu,
       [](M m) { m.launch.variables["NCCL_SOCKET_IFNAME"] = "ib0"; }},
      {"network.socket_names", kFail, "selects none of lo", kGpu,
       [](M m) {
         m.network.interface_addresses = {{"none"}};
         m.launch.variables["GLOO_SOCKET_IFNAME"] = "eth0";
       }},
      {"network.infiniband", kWarn, "mlx5_1/1", kGpu,
       [](M m) { m.network.infiniband_down = {{"mlx5_1/1"}}; }},
      {"network.infiniband_bonds", kWarn, "mlx5_bond_0", kGpu,
       [](M m) {
         m.network.infiniband = {{"mlx5_0/1", "mlx5_bond_0/1"}};
         m.launch.world_size = 16;
       }},
      {"network.infiniband_rate", kWarn, "\"mlx5_1/1\" runs at 100 Gb/s", kGpu,
       [](M m) {
         m.network.infiniband = {{"mlx5_0/1", "mlx5_1/1"}};
         m.network.infiniband_gbps = {{"200", "100"}};
       }},
      {"network.infiniband_node", kWarn, "NUMA node 0, active ports at 1", kGpu,
       [](M m) { m.network.infiniband_nodes = {{"1"}}; }},
      {"network.infiniband_off", kWarn, "NCCL_IB_DISABLE=\"1\"", kGpu,
       [](M m) { m.launch.variables["NCCL_IB_DISABLE"] = "1"; }},
      {"network.peer_memory", kWarn, "nvidia_peermem is not loaded", kGpu,
       [](M m) { m.gpu_driver.open_kernel_module = false; }},
      {"memory.shm", kFail, "64.0 MiB", kGpu,
       [](M m) { m.host.shared_memory_bytes = int64_t{64} << 20; }},
      {"memory.shm", kWarn, "64.0 MiB", kCpu,
       [](M m) { m.host.shared_memory_bytes = int64_t{64} << 20; }},
      {"memory.locked", kFail, "64.0 KiB", kGpu,
       [](M m) { m.host.locked_memory_bytes = int64_t{64} << 10; }},
      {"memory.locked", kWarn, "1.0 GiB", kGpu,
       [](M m) { m.host.locked_memory_bytes = int64_t{1} << 30; }},
      {"memory.open_files", kWarn, "1024", kCpu, [](M m) { m.host.open_files = 1024; }},
      {"memory.overcommit", kWarn, "vm.overcommit_memory=2", kCpu,
       [](M m) { m.host.overcommit_memory = 2; }},
      {"memory.host_for_gpu", kWarn, "16.0 GiB by the cgroup's limit", kGpu,
       [](M m) { m.host.memory_limit_bytes = int64_t{16} << 30; }},
      {"memory.allocator", kWarn, "musl", kCpu, [](M m) { m.host.libc = "musl 1.2"; }},
      {"cpu.one_thread", kWarn, "as torchrun sets it", kGpu,
       [](M m) { m.launch.variables["OMP_NUM_THREADS"] = "1"; }},
      {"cpu.too_many_threads", kWarn, "a cgroup quota of 2.5 CPUs", kCpu,
       [](M m) {
         m.cpu.quota_cpus = 2.5;
         m.launch.variables["OMP_NUM_THREADS"] = "16";
       }},
      {"cpu.affinity", kWarn, "1 of 64", kCpu, [](M m) { m.cpu.affinity_cpus = 1; }},
      {"cpu.numa", kWarn, "0, 1", kCpu,
       [](M m) {
         m.cpu.affinity_nodes = {{"0", "1"}};
       }},
      {"cpu.gpu_node", kWarn, "NUMA node 1", kGpu, [](M m) { m.gpus[0].numa_node = 1; }},
      {"cpu.governor", kWarn, "powersave (acpi-cpufreq)", kCpu,
       [](M m) { m.cpu.governor = "powersave"; }},
      {"cpu.isa", kWarn, "FASTTRAIN_ISA=\"avx2\"", kCpu,
       [](M m) { m.launch.variables["FASTTRAIN_ISA"] = "avx2"; }},
      {"cpu.isa", kWarn, "no AVX2", kCpu,
       [](M m) {
         m.cpu.avx2 = false;
         m.cpu.avx512 = false;
       }},
      {"cpu.precision", kWarn, "fp16", kCpu,
       [](M m) { m.launch.variables["FASTTRAIN_PRECISION"] = "fp16"; }},
      {"environment.names", kWarn, "TORCH_CUDA_ARCHLIST", kGpu,
       [](M m) { m.launch.variables["TORCH_CUDA_ARCHLIST"] = "8.0"; }},
      {"environment.names", kWarn, "NCCL_SOCKET_IFACE", kGpu,
       [](M m) { m.launch.variables["NCCL_SOCKET_IFACE"] = "eth0"; }},
      {"environment.renamed", kWarn, "TORCH_NCCL_BLOCKING_WAIT", kGpu,
       [](M m) { m.launch.variables["NCCL_BLOCKING_WAIT"] = "1"; }},
      {"environment.without_effect", kWarn, "Metal", kGpu,
       [](M m) { m.launch.variables["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"; }},
      {"environment.without_effect", kWarn, "Intel's OpenMP", kCpu,
       [](M m) { m.launch.variables["KMP_BLOCKTIME"] = "1"; }},
      {"environment.debugging", kWarn, "CUDA_LAUNCH_BLOCKING=\"1\"", kGpu,
       [](M m) { m.launch.variables["CUDA_LAUNCH_BLOCKING"] = "1"; }},
      {"environment.debugging", kWarn, "DETAIL", kGpu,
       [](M m) { m.launch.variables["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"; }},
      {"environment.library_path", kFail, "stubs", kGpu,
       [](M m) { m.launch.variables["LD_LIBRARY_PATH"] = "/usr/local/cuda/lib64/stubs"; }},
      {"environment.library_path", kWarn, "compat", kGpu,
       [](M m) { m.launch.variables["LD_LIBRARY_PATH"] = "/lib:/usr/local/cuda/compat"; }},
      {"environment.container", kFail, "lacks compute", kGpu,
       [](M m) {
         m.host.container = true;
         m.launch.variables["NVIDIA_DRIVER_CAPABILITIES"] = "graphics,utility";
       }},
      {"environment.container", kWarn, "void", kCpu,
       [](M m) {
         m.host.container = true;
         m.launch.variables["NVIDIA_VISIBLE_DEVICES"] = "void";
       }},
      {"settings.peers_off", kWarn, "NCCL_P2P_DISABLE=\"1\"", kGpu,
       [](M m) { m.launch.variables["NCCL_P2P_DISABLE"] = "1"; }},
      {"settings.shared_memory_off", kWarn, "NCCL_SHM_DISABLE=\"1\"", kGpu,
       [](M m) { m.launch.variables["NCCL_SHM_DISABLE"] = "1"; }},
      {"settings.nccl_forced", kWarn, "NCCL_ALGO=\"Ring\"", kGpu,
       [](M m) { m.launch.variables["NCCL_ALGO"] = "Ring"; }},
      {"settings.binding", kWarn, "OMP_PROC_BIND=\"close\"", kGpu,
       [](M m) { m.launch.variables["OMP_PROC_BIND"] = "close"; }},
      {"settings.contradictions", kWarn, "MKL_NUM_THREADS=\"4\"", kCpu,
       [](M m) {
         m.launch.variables["MKL_NUM_THREADS"] = "4";
         m.launch.variables["OMP_NUM_THREADS"] = "8";
       }},
      {"settings.contradictions", kWarn, "NVIDIA_TF32_OVERRIDE", kCpu,
       [](M m) {
         m.launch.variables["NVIDIA_TF32_OVERRIDE"] = "0";
         m.launch.variables["FASTTRAIN_FP32_MATMUL"] = "tf32";
       }},
      {"settings.allocator_options", kFail, "no option \"expandable_segment\"", kGpu,
       [](M m) {
         m.launch.variables["PYTORCH_CUDA_ALLOC_CONF"] =
             "roundup_power2_divisions:[256:1,512:2],expandable_segment:True";
       }},
      {"settings.allocator_options", kWarn, "cudaMallocAsync", kGpu,
       [](M m) {
         m.launch.variables["PYTORCH_ALLOC_CONF"] = "backend:cudaMallocAsync,max_split_size_mb:64";
       }},
      {"settings.workspace", kWarn, "4096:8", kGpu,
       [](M m) { m.launch.variables["CUBLAS_WORKSPACE_CONFIG"] = "4096:8"; }},
      {"launch.plan", kFail, "did you mean FASTTRAIN_PRECISION", kCpu,
       [](M m) { m.launch.variables["FASTTRAIN_PRECISON"] = "bf16"; }},
      {"launch.place", kFail, "RANK=5", kGpu,
       [](M m) { m.launch.problem = "RANK=5 with WORLD_SIZE=2, expected a smaller RANK"; }},
      {"launch.master", kWarn, "MASTER_PORT is not set", kGpu,
       [](M m) { m.launch.variables.erase("MASTER_PORT"); }},
      {"launch.master", kFail, "127.0.0.1", kGpu, [](M m) { m.launch.world_size = 16; }},
      {"disk.space", kFail, "1.0 GiB free", kCpu,
       [](M m) { m.host.folder_free_bytes = int64_t{1} << 30; }},
      {"disk.space", kWarn, "8.0 GiB free", kCpu,
       [](M m) { m.host.folder_free_bytes = int64_t{8} << 30; }},
      {"disk.writable", kWarn, "not writable", kCpu, [](M m) { m.host.folder_writable = false; }},
  };
}

}  // namespace libtrain
