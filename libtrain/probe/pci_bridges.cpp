#include "libtrain/probe/pci_bridges.hpp"

#include <cstdint>

#include "libtrain/core/text.hpp"
#include "libtrain/probe/kernel_driver.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kDevices = "/sys/bus/pci/devices";

/// "0000:17:00.0".
bool is_bus_id(std::string_view name) {
  constexpr std::string_view kForm = "hhhh:hh:hh.h";
  constexpr std::string_view kHex = "0123456789abcdef";
  if (name.size() != kForm.size()) {
    return false;
  }
  for (size_t i = 0; i < name.size(); ++i) {
    const bool fits =
        kForm[i] == 'h' ? kHex.find(name[i]) != std::string_view::npos : name[i] == kForm[i];
    if (!fits) {
      return false;
    }
  }
  return true;
}

/// `bytes` bytes, least significant first; 0 past the end.
uint32_t number_at(std::string_view text, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes && at + i < text.size(); ++i) {
    value |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return value;
}

}  // namespace

std::optional<std::vector<std::string>> pci_bridges(const Sources& sources,
                                                    std::string_view bus_id) {
  const std::string device = kernel_bus_id(bus_id);
  // "/sys/devices/pci0000:00/0000:00:01.0/0000:17:00.0"
  const auto folder = sources.resolve(fill("{}/{}", kDevices, device));
  if (!folder) {
    return std::nullopt;
  }
  std::vector<std::string> bridges;
  for (const std::string_view name : split(*folder, '/')) {
    if (is_bus_id(name) && name != device) {
      bridges.emplace_back(name);
    }
  }
  return bridges;
}

std::optional<std::vector<std::string>> acs_bridges(const Sources& sources,
                                                    const std::vector<std::string>& bridges) {
  std::vector<std::string> out;
  for (const std::string& bridge : bridges) {
    const auto configuration = sources.read(libtrain::fill("{}/{}/config", kDevices, bridge));
    const auto redirects =
        configuration ? parse_acs_redirect(*configuration) : std::optional<bool>{};
    if (!redirects) {
      return std::nullopt;
    }
    if (*redirects) {
      out.push_back(bridge);
    }
  }
  return out;
}

std::optional<bool> parse_acs_redirect(std::string_view configuration) {
  constexpr size_t kFirst = 0x100;      // where extended capabilities start
  constexpr uint32_t kAcs = 0x0D;       // their list holds ids ...
  constexpr size_t kControl = 6;        // ... and of ACS, the control register
  constexpr uint32_t kRedirect = 0x2C;  // request redirect, completion redirect, egress control
  constexpr int kMost = (4096 - 256) / 8;
  if (configuration.size() <= kFirst) {
    return std::nullopt;
  }
  size_t at = kFirst;
  for (int i = 0; i < kMost && at >= kFirst && at + kControl + 2 <= configuration.size(); ++i) {
    const uint32_t head = number_at(configuration, at, 4);
    if ((head & 0xFFFFU) == kAcs) {
      return (number_at(configuration, at + kControl, 2) & kRedirect) != 0;
    }
    at = head >> 20U;
  }
  return false;
}

}  // namespace libtrain
