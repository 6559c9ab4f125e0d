#include "libtrain/probe/network.hpp"

#include "libtrain/core/text.hpp"

namespace libtrain {
namespace {

constexpr std::string_view kInterfaces = "/sys/class/net";
constexpr std::string_view kInfiniband = "/sys/class/infiniband";

std::string state_of(const Sources& sources, const std::string& file) {
  return std::string(trim(sources.read(file).value_or("")));
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
  out.infiniband.emplace();
  out.infiniband_down.emplace();
  for (const std::string& device : sources.list(std::string(kInfiniband))) {
    const std::string ports = fill("{}/{}/ports", kInfiniband, device);
    for (const std::string& port : sources.list(ports)) {
      // "4: ACTIVE"
      const bool active = state_of(sources, fill("{}/{}/state", ports, port)).starts_with("4:");
      (active ? out.infiniband : out.infiniband_down)->push_back(fill("{}/{}", device, port));
    }
  }
  out.peer_memory = !sources.list("/sys/module/nvidia_peermem").empty() ||
                    !sources.list("/sys/module/nv_peer_mem").empty();
  return out;
}

}  // namespace libtrain
