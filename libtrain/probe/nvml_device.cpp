#include "libtrain/probe/nvml_device.hpp"

#include <limits>

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

void DeviceReader::read_links(GpuFacts& facts) {
  constexpr const char* kName = "nvmlDeviceGetNvLinkState";
  constexpr unsigned kMaxLinks = 36;
  constexpr int kInvalidArgument = 2;  // there is no such link
  int active = 0;
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
    active += up == 1 ? 1 : 0;
  }
  facts.nvlinks = static_cast<int>(link);
  facts.nvlinks_active = active;
}

void DeviceReader::note(const char* fact, const char* name, int result) {
  if (result == nvml::kFunctionNotFound) {
    unknown_[fact] = fill("the driver has no {}", name);
  } else if (nvml::is_no_answer(result)) {
    unknown_[fact] = libtrain::fill("{}: {}", name, nvml_.describe(result));
  } else if (!problem_) {
    problem_ = libtrain::fill("{}: {}", name, nvml_.describe(result));
  }
}

}  // namespace libtrain
