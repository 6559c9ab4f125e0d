#include "libtrain/probe/nvml_device.hpp"

#include <limits>

#include "libtrain/probe/cpu_list.hpp"

namespace libtrain {
namespace {

/// Four digits: "20b2".
std::string hexadecimal(unsigned value) {
  std::string out(4, '0');
  for (size_t i = out.size(); i > 0; value >>= 4U) {
    out[--i] = "0123456789abcdef"[value & 15U];
  }
  return out;
}

}  // namespace

namespace nvml {

std::optional<std::string> text_of(Buffer& buffer) {
  buffer.back() = '\0';
  const std::string text = buffer.data();
  return text.empty() ? std::nullopt : std::optional(text);
}

bool is_no_answer(int result) {
  return result == kNotSupported || result == kNoPermission || result == kFunctionNotFound ||
         result == kArgumentVersionMismatch || result == kDeprecated;
}

std::optional<int64_t> count_of(unsigned long long value) {
  const auto count = static_cast<int64_t>(value);
  return count >= 0 ? std::optional(count) : std::nullopt;
}

}  // namespace nvml

std::optional<std::string> DeviceReader::text(const char* fact, const char* name) {
  nvml::Buffer buffer{};
  return ask(fact, name, buffer.data(), static_cast<unsigned>(buffer.size()))
             ? nvml::text_of(buffer)
             : std::nullopt;
}

std::optional<int> DeviceReader::number(const char* fact, const char* name) {
  unsigned value = 0;
  if (!ask(fact, name, &value)) {
    return std::nullopt;
  }
  if (value > static_cast<unsigned>(std::numeric_limits<int>::max())) {
    unknown_[fact] = libtrain::fill("{}: not available", name);  // NVML_VALUE_NOT_AVAILABLE is -1
    return std::nullopt;
  }
  return static_cast<int>(value);
}

void DeviceReader::read_pci(GpuFacts& facts) {
  nvml::PciInfo pci;
  if (!ask("pci_bus_id", "nvmlDeviceGetPciInfo_v3", &pci)) {
    return;
  }
  pci.bus_id.back() = '\0';
  facts.pci_bus_id = pci.bus_id.data();
  const unsigned device = pci.pci_device_id >> 16U;  // the vendor is in the other half
  if (device != 0) {
    facts.pci_device_id = hexadecimal(device);
  }
}

std::optional<ComputeCapability> DeviceReader::compute_capability() {
  ComputeCapability value;
  return ask("compute_capability", "nvmlDeviceGetCudaComputeCapability", &value.major, &value.minor)
             ? std::optional(value)
             : std::nullopt;
}

void DeviceReader::read_memory(GpuFacts& facts) {
  nvml::Memory memory;
  facts.memory_bytes.reset();
  facts.memory_free_bytes.reset();
  if (ask("memory_bytes", "nvmlDeviceGetMemoryInfo", &memory)) {
    facts.memory_bytes = nvml::count_of(memory.total);
    facts.memory_free_bytes = nvml::count_of(memory.free);
  }
}

std::optional<std::string> DeviceReader::cpu_affinity() {
  constexpr const char* kName = "nvmlDeviceGetCpuAffinity";
  constexpr size_t kWordBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 8192 / kWordBits> words{};  // NR_CPUS of the largest Linux on x86-64
  if (!ask_aside("cpu_affinity", kName, static_cast<unsigned>(words.size()), words.data())) {
    return std::nullopt;
  }
  std::vector<int> cpus;
  for (size_t cpu = 0; cpu < words.size() * kWordBits; ++cpu) {
    if (((words[cpu / kWordBits] >> (cpu % kWordBits)) & 1U) != 0) {
      cpus.push_back(static_cast<int>(cpu));
    }
  }
  if (cpus.empty()) {  // as where the cpuset holds none of them
    unknown_["cpu_affinity"] = libtrain::fill("{}: names no CPU", kName);
    return std::nullopt;
  }
  return format_cpu_list(cpus);
}

/// "switch", "cpu" or a bus id.
std::optional<std::string> DeviceReader::link_peer(unsigned link) {
  constexpr int kCpu = 1;     // NVML_NVLINK_DEVICE_TYPE_IBMNPU
  constexpr int kSwitch = 2;  // NVML_NVLINK_DEVICE_TYPE_SWITCH
  int type = 0;
  // A driver that does not tell the kind may still tell the bus id.
  nvml_("nvmlDeviceGetNvLinkRemoteDeviceType", device_, link, &type);
  if (type == kCpu || type == kSwitch) {
    return type == kCpu ? "cpu" : "switch";
  }
  constexpr const char* kName = "nvmlDeviceGetNvLinkRemotePciInfo_v2";
  nvml::PciInfo pci;
  if (!ask_aside("nvlink_peers", kName, link, &pci)) {
    return std::nullopt;
  }
  pci.bus_id.back() = '\0';
  std::string bus_id = pci.bus_id.data();
  if (bus_id.empty()) {
    unknown_["nvlink_peers"] = libtrain::fill("{}: names no device", kName);
    return std::nullopt;
  }
  return bus_id;
}

std::optional<std::vector<std::string>> DeviceReader::link_peers(
    const std::vector<unsigned>& links) {
  std::map<std::string, int> counts;
  for (const unsigned link : links) {
    const std::optional<std::string> peer = link_peer(link);
    if (!peer) {
      return std::nullopt;
    }
    ++counts[*peer];
  }
  std::vector<std::string> out;
  out.reserve(counts.size());
  for (const auto& [peer, count] : counts) {
    out.push_back(libtrain::fill("{} x{}", peer, count));
  }
  return out;
}

void DeviceReader::read_links(GpuFacts& facts) {
  constexpr const char* kName = "nvmlDeviceGetNvLinkState";
  constexpr unsigned kMaxLinks = 36;
  constexpr int kInvalidArgument = 2;  // there is no such link
  std::vector<unsigned> active;
  unsigned link = 0;
  for (; link < kMaxLinks; ++link) {
    int up = 0;
    const int result = nvml_(kName, device_, link, &up);
    if (result == kInvalidArgument || (result == nvml::kNotSupported && link > 0)) {
      break;
    }
    if (result != nvml::kSuccess) {
      note("nvlinks", kName, result);
      return;
    }
    if (up == 1) {
      active.push_back(link);
    }
  }
  facts.nvlinks = static_cast<int>(link);
  facts.nvlinks_active = static_cast<int>(active.size());
  facts.nvlink_peers = link_peers(active);
}

void DeviceReader::note(const char* fact, const char* name, int result) {
  if (nvml::is_no_answer(result)) {
    note_unknown(fact, name, result);
  } else if (!problem_) {
    problem_ = libtrain::fill("{}: {}", name, nvml_.describe(result));
  }
}

void DeviceReader::note_unknown(const char* fact, const char* name, int result) {
  unknown_[fact] = result == nvml::kFunctionNotFound
                       ? libtrain::fill("the driver has no {}", name)
                       : libtrain::fill("{}: {}", name, nvml_.describe(result));
}

}  // namespace libtrain
