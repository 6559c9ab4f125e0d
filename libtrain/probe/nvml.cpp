#include "libtrain/probe/nvml.hpp"

#include <algorithm>
#include <utility>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/nvml_call.hpp"

namespace libtrain {
namespace {

constexpr unsigned kMaxDevices = 1024;  // a listing that claims more is broken
constexpr unsigned kMaxMigInstances = 64;

using Buffer = std::array<char, 128>;

std::optional<std::string> text_of(Buffer& buffer) {
  buffer.back() = '\0';
  const std::string text = buffer.data();
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Nothing is wrong with a device that does not answer a question in one of these ways.
bool is_no_answer(int result) {
  return result == nvml::kNotSupported || result == nvml::kNoPermission ||
         result == nvml::kFunctionNotFound || result == nvml::kArgumentVersionMismatch ||
         result == nvml::kDeprecated;
}

/// FP32 cores of one multiprocessor (CUDA samples, helper_cuda.h: _ConvertSMVer2Cores); NVML tells
/// cores, not multiprocessors. Nothing for what is not known yet.
std::optional<int> cores_per_sm(ComputeCapability capability) {
  const auto [major, minor] = capability;
  if (major == 7 || (minor == 0 && (major == 6 || major == 8))) {
    return 64;
  }
  return major >= 6 && major <= 12 ? std::optional(128) : std::nullopt;
}

/// The questions to one device; the first failure that is more than "no answer" is kept.
class DeviceReader {
 public:
  DeviceReader(const NvmlCalls& nvml, nvml::Device device) : nvml_(nvml), device_(device) {}

  template <class... Args>
  bool ask(const char* name, Args... args) {
    const int result = nvml_(name, device_, args...);
    if (result != nvml::kSuccess && !is_no_answer(result) && !problem_) {
      problem_ = libtrain::fill("{}: {}", name, nvml_.describe(result));  // not std::fill
    }
    return result == nvml::kSuccess;
  }

  std::optional<std::string> text(const char* name) {
    Buffer buffer{};
    return ask(name, buffer.data(), static_cast<unsigned>(buffer.size())) ? text_of(buffer)
                                                                          : std::nullopt;
  }

  std::optional<int> number(const char* name) {
    unsigned value = 0;
    return ask(name, &value) ? std::optional(static_cast<int>(value)) : std::nullopt;
  }

  std::optional<int64_t> memory_bytes() {
    nvml::Memory memory;
    return ask("nvmlDeviceGetMemoryInfo", &memory)
               ? std::optional(static_cast<int64_t>(memory.total))
               : std::nullopt;
  }

  std::optional<std::string> pci_bus_id() {
    nvml::PciInfo pci;
    if (!ask("nvmlDeviceGetPciInfo_v3", &pci)) {
      return std::nullopt;
    }
    pci.bus_id.back() = '\0';
    return std::string(pci.bus_id.data());
  }

  std::optional<ComputeCapability> compute_capability() {
    ComputeCapability value;
    return ask("nvmlDeviceGetCudaComputeCapability", &value.major, &value.minor)
               ? std::optional(value)
               : std::nullopt;
  }

  const std::optional<std::string>& problem() const { return problem_; }

 private:
  const NvmlCalls& nvml_;
  nvml::Device device_;
  std::optional<std::string> problem_;
};

GpuFacts read_gpu(const NvmlCalls& nvml, nvml::Device device, unsigned index) {
  DeviceReader reader(nvml, device);
  GpuFacts out;
  out.nvml_index = static_cast<int>(index);
  out.uuid = reader.text("nvmlDeviceGetUUID");
  out.pci_bus_id = reader.pci_bus_id();
  out.name = reader.text("nvmlDeviceGetName");
  out.compute_capability = reader.compute_capability();
  const std::optional<int> cores = reader.number("nvmlDeviceGetNumGpuCores");
  const auto per_sm = out.compute_capability ? cores_per_sm(*out.compute_capability) : std::nullopt;
  if (cores && per_sm) {
    out.sm_count = *cores / *per_sm;
  }
  out.memory_bytes = reader.memory_bytes();
  out.mig_instance = false;
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
  out.facts.uuid = reader.text("nvmlDeviceGetUUID");
  out.facts.mig_profile = profile_in_name(reader.text("nvmlDeviceGetName").value_or(""));
  out.facts.memory_bytes = reader.memory_bytes();
  out.facts.sm_count = std::nullopt;
  nvml::Attributes attributes;
  if (reader.ask("nvmlDeviceGetAttributes_v2", &attributes)) {
    out.facts.sm_count = static_cast<int>(attributes.multiprocessors);
  }
  out.facts.problem = parent.problem ? parent.problem : reader.problem();
  out.parent_uuid = parent.uuid.value_or("");
  out.gpu_instance = reader.number("nvmlDeviceGetGpuInstanceId");
  out.compute_instance = reader.number("nvmlDeviceGetComputeInstanceId");
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
    } else if (result != nvml::kNotFound && !is_no_answer(result) && !parent.problem) {
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

void add_device(const NvmlCalls& nvml, unsigned index, std::vector<NvmlDevice>& devices) {
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
    devices.push_back({.facts = std::move(facts)});
  }
}

void read_versions(const NvmlCalls& nvml, NvmlListing& out) {
  Buffer buffer{};
  if (nvml("nvmlSystemGetDriverVersion", buffer.data(), static_cast<unsigned>(buffer.size())) ==
      nvml::kSuccess) {
    out.driver_version = text_of(buffer);
  }
  int cuda = 0;
  if (nvml("nvmlSystemGetCudaDriverVersion_v2", &cuda) == nvml::kSuccess) {
    out.driver_cuda_version = fill("{}.{}", cuda / 1000, cuda % 1000 / 10);
  }
}

}  // namespace

NvmlListing list_nvml_devices(const DynamicLibrary& library) {
  const NvmlCalls nvml(library);
  NvmlListing out;
  const int started = nvml("nvmlInit_v2");
  if (started != nvml::kSuccess) {
    out.problem = nvml.describe(started);
    return out;
  }
  read_versions(nvml, out);
  unsigned count = 0;
  const int counted = nvml("nvmlDeviceGetCount_v2", &count);
  if (counted != nvml::kSuccess) {
    out.problem = fill("nvmlDeviceGetCount_v2: {}", nvml.describe(counted));
  }
  for (unsigned index = 0; index < std::min(count, kMaxDevices); ++index) {
    add_device(nvml, index, out.devices);
  }
  nvml("nvmlShutdown");
  return out;
}

}  // namespace libtrain
