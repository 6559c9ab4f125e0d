#include "libtrain/probe/container.hpp"

#include <string_view>

namespace libtrain {

std::optional<std::string> container_runtime(const Sources& sources) {
  const auto environment = sources.environment();
  const std::string groups = sources.read("/proc/1/cgroup").value_or("");
  const auto is_set = [&](const char* name) { return environment.contains(name); };
  const auto has_file = [&](const char* file) { return sources.read(file).has_value(); };
  const auto in_group = [&](std::string_view name) {
    return groups.find(name) != std::string::npos;
  };
  if (is_set("KUBERNETES_SERVICE_HOST") || in_group("/kubepods")) {
    return "kubernetes";  // first: its pods run in the others' containers
  }
  if (is_set("APPTAINER_CONTAINER") || is_set("SINGULARITY_CONTAINER")) {
    return "apptainer";
  }
  if (has_file("/run/.containerenv") || in_group("libpod")) {
    return "podman";
  }
  if (has_file("/.dockerenv") || in_group("/docker")) {
    return "docker";
  }
  if (const auto word = environment.find("container"); word != environment.end()) {
    return word->second;
  }
  return in_group("/lxc")         ? std::optional<std::string>("lxc")
         : in_group("containerd") ? std::optional<std::string>("containerd")
                                  : std::nullopt;
}

}  // namespace libtrain
