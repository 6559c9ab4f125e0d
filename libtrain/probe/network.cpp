#include "libtrain/probe/network.hpp"

#include "libtrain/core/text.hpp"
#include "libtrain/probe/address_class.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kInterfaces = "/sys/class/net";
constexpr std::string_view kInfiniband = "/sys/class/infiniband";

std::string state_of(const Sources& sources, const std::string& file) {
  return std::string(trim(sources.read(file).value_or("")));
}

/// "?" for what is no number of at least 0.
std::string if_number(std::string_view text) {
  return parse_number(text).value_or(-1) >= 0 ? std::string(text) : "?";
}

/// "400 Gb/sec (4X NDR)" → "400".
std::string rate_of(const Sources& sources, const std::string& file) {
  const std::string text = state_of(sources, file);
  const size_t unit = text.find(" Gb/sec");
  return if_number(std::string_view(text).substr(0, unit == std::string::npos ? 0 : unit));
}

std::optional<std::vector<std::string>> interfaces(const Sources& sources) {
  const std::vector<std::string> names = sources.list(std::string(kInterfaces));
  if (names.empty()) {
    return std::nullopt;  // even an isolated machine has "lo"
  }
  std::vector<std::string> up;
  for (const std::string& name : names) {
    const std::string state = state_of(sources, fill("{}/{}/operstate", kInterfaces, name));
    if (name != "lo" && (state == "up" || state == "unknown")) {
      up.push_back(name);
    }
  }
  return up;
}

}  // namespace

NetworkFacts probe_network(const Sources& sources) {
  NetworkFacts out;
  out.interfaces = interfaces(sources);
  if (!out.interfaces) {
    return out;  // /sys is not there: nothing else can be told either
  }
  out.interface_mbps.emplace();
  for (const std::string& name : *out.interfaces) {
    out.interface_mbps->push_back(
        if_number(state_of(sources, fill("{}/{}/speed", kInterfaces, name))));
  }
  if (const auto addresses = sources.addresses()) {
    out.interface_addresses.emplace();
    for (const std::string& name : *out.interfaces) {
      const auto found = addresses->find(name);
      out.interface_addresses->push_back(found == addresses->end() ? "none"
                                                                   : address_class(found->second));
    }
  }
  out.infiniband.emplace();
  out.infiniband_gbps.emplace();
  out.infiniband_nodes.emplace();
  out.infiniband_down.emplace();
  for (const std::string& device : sources.list(std::string(kInfiniband))) {
    const std::string node =
        if_number(state_of(sources, fill("{}/{}/device/numa_node", kInfiniband, device)));
    const std::string ports = fill("{}/{}/ports", kInfiniband, device);
    for (const std::string& port : sources.list(ports)) {
      // "4: ACTIVE"
      const bool active = state_of(sources, fill("{}/{}/state", ports, port)).starts_with("4:");
      (active ? out.infiniband : out.infiniband_down)->push_back(fill("{}/{}", device, port));
      if (active) {
        out.infiniband_gbps->push_back(rate_of(sources, fill("{}/{}/rate", ports, port)));
        out.infiniband_nodes->push_back(node);
      }
    }
  }
  out.peer_memory = !sources.list("/sys/module/nvidia_peermem").empty() ||
                    !sources.list("/sys/module/nv_peer_mem").empty();
  out.gdrcopy = !sources.list("/sys/module/gdrdrv").empty();
  return out;
}

}  // namespace libtrain
