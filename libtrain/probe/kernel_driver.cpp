#include "libtrain/probe/kernel_driver.hpp"

#include <algorithm>
#include <cctype>

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kPciDevices = "/sys/bus/pci/devices";

/// "580.105.08".
bool is_version(std::string_view word) {
  return word.size() > 2 && std::isdigit(static_cast<unsigned char>(word.front())) != 0 &&
         word.find('.') != std::string_view::npos &&
         word.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool pci_file_starts_with(const Sources& sources, const std::string& device, const char* name,
                          std::string_view start) {
  return trim(sources.read(fill("{}/{}/{}", kPciDevices, device, name)).value_or(""))
      .starts_with(start);
}

}  // namespace

std::optional<std::string> parse_kernel_driver_version(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("NVRM version:")) {
      continue;
    }
    for (const std::string_view word : split(line, ' ')) {
      if (is_version(word)) {
        return std::string(word);
      }
    }
  }
  return std::nullopt;
}

std::optional<bool> parse_open_kernel_module(std::string_view text) {
  return parse_kernel_driver_version(text)
             ? std::optional(text.find("Open Kernel Module") != std::string_view::npos)
             : std::nullopt;
}

std::optional<std::string> parse_module_refusal(std::string_view log) {
  constexpr std::string_view kNeedsOpen = "requires use of the NVIDIA open kernel modules";
  constexpr std::string_view kNeedsOther = "is not supported by open nvidia.ko";
  const auto open = log.rfind(kNeedsOpen);
  const auto other = log.rfind(kNeedsOther);
  if (open == std::string_view::npos && other == std::string_view::npos) {
    return std::nullopt;
  }
  const bool open_is_last =
      other == std::string_view::npos || (open != std::string_view::npos && open > other);
  return open_is_last ? "open" : "proprietary";
}

std::vector<GpuFacts> kernel_driver_gpus(const Sources& sources) {
  const std::string folder = "/proc/driver/nvidia/gpus";
  std::vector<GpuFacts> gpus;
  for (const std::string& device : sources.list(folder)) {
    GpuFacts gpu;
    gpu.pci_bus_id = device;
    const std::string text = sources.read(fill("{}/{}/information", folder, device)).value_or("");
    for (const std::string_view line : split(text, '\n')) {
      const size_t colon = line.find(':');
      const std::string_view key = line.substr(0, colon);
      const std::string_view value =
          colon == std::string_view::npos ? std::string_view{} : trim(line.substr(colon + 1));
      if (key == "Model" && !value.empty()) {
        gpu.name = value;
      } else if (key == "GPU UUID" && value.find('?') == std::string_view::npos) {
        gpu.uuid = value;  // question marks until the card is first used
      }
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::vector<std::string> nvidia_pci_gpus(const Sources& sources) {
  std::vector<std::string> out;
  for (const std::string& device : sources.list(std::string(kPciDevices))) {
    if (pci_file_starts_with(sources, device, "vendor", "0x10de") &&
        pci_file_starts_with(sources, device, "class", "0x03")) {  // display controllers
      out.push_back(device);
    }
  }
  return out;
}

std::string kernel_bus_id(std::string_view bus_id) {
  std::string out(bus_id);
  const size_t domain = out.find(':');
  if (domain != std::string::npos && domain > 4 && out.find_first_not_of('0') >= domain - 4) {
    out.erase(0, domain - 4);
  }
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<std::string> pci_iommu(const Sources& sources, std::string_view bus_id) {
  const std::string type(
      trim(sources.read(fill("{}/{}/iommu_group/type", kPciDevices, kernel_bus_id(bus_id)))
               .value_or("")));
  return type.empty() ? std::nullopt : std::optional(type);
}

std::optional<int> pci_numa_node(const Sources& sources, std::string_view bus_id) {
  const std::optional<std::string> text =
      sources.read(fill("{}/{}/numa_node", kPciDevices, kernel_bus_id(bus_id)));
  const std::optional<int64_t> node = text ? parse_integer(trim(*text)) : std::nullopt;
  return node && *node >= 0 && *node <= 65535 ? std::optional(static_cast<int>(*node))
                                              : std::nullopt;
}

}  // namespace libtrain
