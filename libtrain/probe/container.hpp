#pragma once

#include <optional>
#include <string>

#include "libtrain/core/api.hpp"
#include "libtrain/probe/sources.hpp"

namespace libtrain {

/// What runs the container this process is in, by what it leaves there: "kubernetes", "apptainer",
/// "podman", "docker", "lxc", "containerd", or the word in the variable `container` (systemd,
/// Container Interface). Nothing outside of containers.
LT_API std::optional<std::string> container_runtime(const Sources& sources);

}  // namespace libtrain
