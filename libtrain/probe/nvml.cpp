#include "libtrain/probe/nvml.hpp"

#include <algorithm>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/nvml_call.hpp"
#include "libtrain/probe/nvml_device.hpp"
#include "libtrain/probe/nvml_health.hpp"

namespace libtrain {
namespace {

constexpr unsigned kMaxDevices = 1024;  // a listing that claims more is broken
constexpr unsigned kMaxMigInstances = 64;

/// FP32 cores of one multiprocessor (CUDA samples, helper_cuda.h: _ConvertSMVer2Cores); NVML tells
/// cores, not multiprocessors. Nothing for what is not known yet.
std::optional<int> cores_per_sm(ComputeCapability capability) {
  const auto [major, minor] = capability;
  if (major == 7 || (minor == 0 && (major == 6 || major == 8))) {
    return 64;
  }
  return major >= 6 && major <= 12 ? std::optional(128) : std::nullopt;
}

GpuFacts read_gpu(const NvmlCalls& nvml, nvml::Device device, unsigned index) {
  DeviceReader reader(nvml, device);
  GpuFacts out;
  out.nvml_index = static_cast<int>(index);
  out.uuid = reader.text("uuid", "nvmlDeviceGetUUID");
  reader.read_pci(out);
  out.name = reader.text("name", "nvmlDeviceGetName");
  out.compute_capability = reader.compute_capability();
  const std::optional<int> cores = reader.number("sm_count", "nvmlDeviceGetNumGpuCores");
  const auto per_sm = out.compute_capability ? cores_per_sm(*out.compute_capability) : std::nullopt;
  if (cores && per_sm) {
    out.sm_count = *cores / *per_sm;
  }
  reader.read_memory(out);
  out.mig_instance = false;
  read_health(reader, out);
  out.unknown = reader.unknown();
  out.problem = reader.problem();
  return out;
}

/// "NVIDIA A100-SXM4-40GB MIG 3g.20gb" → "3g.20gb".
std::optional<std::string> profile_in_name(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const size_t at = name.rfind(kMark);
  return at == std::string::npos ? std::nullopt : std::optional(name.substr(at + kMark.size()));
}

NvmlDevice read_instance(const NvmlCalls& nvml, nvml::Device device, const GpuFacts& parent) {
  DeviceReader reader(nvml, device);
  NvmlDevice out;
  out.facts = parent;
  out.facts.mig_instance = true;
  out.facts.uuid = reader.text("uuid", "nvmlDeviceGetUUID");
  out.facts.mig_profile =
      profile_in_name(reader.text("mig_profile", "nvmlDeviceGetName").value_or(""));
  reader.read_memory(out.facts);
  out.facts.sm_count = std::nullopt;
  nvml::Attributes attributes;
  if (reader.ask("sm_count", "nvmlDeviceGetAttributes_v2", &attributes)) {
    out.facts.sm_count = static_cast<int>(attributes.multiprocessors);
  }
  out.facts.problem = parent.problem ? parent.problem : reader.problem();
  for (const auto& [fact, why] : reader.unknown()) {
    out.facts.unknown.insert_or_assign(fact, why);
  }
  out.parent_uuid = parent.uuid.value_or("");
  out.gpu_instance = reader.number("gpu_instance", "nvmlDeviceGetGpuInstanceId");
  out.compute_instance = reader.number("compute_instance", "nvmlDeviceGetComputeInstanceId");
  return out;
}

void add_instances(const NvmlCalls& nvml, nvml::Device device, GpuFacts parent,
                   std::vector<NvmlDevice>& devices) {
  unsigned count = 0;
  nvml("nvmlDeviceGetMaxMigDeviceCount", device, &count);
  const size_t before = devices.size();
  for (unsigned i = 0; i < std::min(count, kMaxMigInstances); ++i) {
    nvml::Device instance = nullptr;
    const int result = nvml("nvmlDeviceGetMigDeviceHandleByIndex", device, i, &instance);
    if (result == nvml::kSuccess) {
      devices.push_back(read_instance(nvml, instance, parent));
    } else if (result != nvml::kNotFound && !nvml::is_no_answer(result) && !parent.problem) {
      parent.problem = fill("nvmlDeviceGetMigDeviceHandleByIndex: {}", nvml.describe(result));
    }
  }
  if (devices.size() == before) {
    if (!parent.problem) {
      parent.problem =
          "MIG is enabled and has no instance: make one with nvidia-smi mig -cgi, or "
          "disable MIG with nvidia-smi -mig 0";
    }
    devices.push_back({.facts = std::move(parent), .reachable = false});
  }
}

/// Which of the other GPUs this one may read. A GPU that cannot say leaves the list unknown.
void read_peers(const NvmlCalls& nvml, unsigned index, unsigned count, nvml::Device device,
                GpuFacts& facts) {
  constexpr int kRead = 0;
  std::vector<std::string> peers;
  for (unsigned other = 0; other < count; ++other) {
    nvml::Device handle = nullptr;
    if (other == index || nvml("nvmlDeviceGetHandleByIndex_v2", other, &handle) != nvml::kSuccess) {
      continue;
    }
    int status = 0;
    const int result = nvml("nvmlDeviceGetP2PStatus", device, handle, kRead, &status);
    if (result != nvml::kSuccess) {
      facts.unknown["peers"] = fill("nvmlDeviceGetP2PStatus: {}", nvml.describe(result));
      return;
    }
    if (status == 0) {
      peers.push_back(to_text(other));
    }
  }
  facts.peers = std::move(peers);
}

void add_device(const NvmlCalls& nvml, unsigned index, unsigned count,
                std::vector<NvmlDevice>& devices) {
  nvml::Device device = nullptr;
  const int result = nvml("nvmlDeviceGetHandleByIndex_v2", index, &device);
  if (result != nvml::kSuccess) {
    GpuFacts broken;
    broken.nvml_index = static_cast<int>(index);
    broken.problem = fill("nvmlDeviceGetHandleByIndex_v2: {}", nvml.describe(result));
    devices.push_back({.facts = std::move(broken), .reachable = false});
    return;
  }
  GpuFacts facts = read_gpu(nvml, device, index);
  unsigned current_mode = 0;
  unsigned pending_mode = 0;
  const int mig = nvml("nvmlDeviceGetMigMode", device, &current_mode, &pending_mode);
  if (mig == nvml::kSuccess && current_mode == 1) {
    add_instances(nvml, device, std::move(facts), devices);
  } else {
    if (count > 1) {
      read_peers(nvml, index, count, device, facts);
    }
    devices.push_back({.facts = std::move(facts)});
  }
}

void read_versions(const NvmlCalls& nvml, NvmlListing& out) {
  nvml::Buffer buffer{};
  if (nvml("nvmlSystemGetDriverVersion", buffer.data(), static_cast<unsigned>(buffer.size())) ==
      nvml::kSuccess) {
    out.driver_version = nvml::text_of(buffer);
  }
  int cuda = 0;
  if (nvml("nvmlSystemGetCudaDriverVersion_v2", &cuda) == nvml::kSuccess) {
    out.driver_cuda_version = fill("{}.{}", cuda / 1000, cuda % 1000 / 10);
  }
}

}  // namespace

void ask_nvml(const DynamicLibrary& library,
              const std::function<void(const NvmlListing& piece)>& tell) {
  const NvmlCalls nvml(library);
  NvmlListing start;
  const int started = nvml("nvmlInit_v2");
  if (started != nvml::kSuccess) {
    start.problem = nvml.describe(started);
    tell(start);
    return;
  }
  read_versions(nvml, start);
  unsigned count = 0;
  const int counted = nvml("nvmlDeviceGetCount_v2", &count);
  if (counted != nvml::kSuccess) {
    start.problem = fill("nvmlDeviceGetCount_v2: {}", nvml.describe(counted));
  }
  count = std::min(count, kMaxDevices);
  start.gpus = static_cast<int>(count);
  tell(start);
  for (unsigned index = 0; index < count; ++index) {
    NvmlListing piece;
    add_device(nvml, index, count, piece.devices);
    tell(piece);
  }
  nvml("nvmlShutdown");
}

NvmlListing list_nvml_devices(const DynamicLibrary& library) {
  std::optional<NvmlListing> out;
  ask_nvml(library, [&](const NvmlListing& piece) {
    if (out) {
      out->devices.insert(out->devices.end(), piece.devices.begin(), piece.devices.end());
    } else {
      out = piece;
    }
  });
  return *out;
}

}  // namespace libtrain
